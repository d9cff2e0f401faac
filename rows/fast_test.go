//go:build !slow

package rows_test

// memoryRows is how many rows TestMemoryIsFlat scores; `make test-all` takes
// more.
const memoryRows = 50_000
