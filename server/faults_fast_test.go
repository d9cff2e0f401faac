//go:build !slow

package server_test

// How much of each fault there is; `make test-all` takes more.
const (
	fuzzedRequests = 500 // of each route
	slowClients    = 90
)
