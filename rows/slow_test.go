//go:build slow

package rows_test

const memoryRows = 200_000
