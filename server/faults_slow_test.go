//go:build slow

package server_test

const (
	fuzzedRequests = 10_000
	slowClients    = 1000
)
