//go:build !slow

package rows_test

// memoryRows is the number of rows that TestMemoryIsFlat scores. `make test-all`
// uses more.
const memoryRows = 50_000
