//go:build !slow

package main

// serverKills is the number of servers that TestAKilledServerLosesNoFeedback kills.
// `make test-all` kills more.
const serverKills = 5
