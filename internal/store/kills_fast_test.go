//go:build unix && !slow

package store_test

// kills is how many processes TestKillsLoseNothing kills; `make test-all` kills
// more.
const kills = 6
