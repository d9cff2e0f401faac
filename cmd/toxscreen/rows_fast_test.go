//go:build !slow

package main

// memoryRows is how many rows TestBatchMemoryIsFlat scores; `make test-all`
// takes more.
const memoryRows = 50_000

// serverKills is how many servers TestAKilledServerLosesNoFeedback kills.
const serverKills = 5
