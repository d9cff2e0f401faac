//go:build !slow

package main

// memoryRows is how many rows TestBatchMemoryIsFlat scores, serverKills how
// often TestKillsLoseNoFeedback kills a server; `make test-all` takes more.
const (
	memoryRows  = 50_000
	serverKills = 5
)
