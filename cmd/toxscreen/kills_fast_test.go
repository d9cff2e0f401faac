//go:build !slow

package main

// serverKills is how many servers TestAKilledServerLosesNoFeedback kills;
// `make test-all` kills more.
const serverKills = 5
