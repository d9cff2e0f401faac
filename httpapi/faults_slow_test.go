//go:build slow

package httpapi_test

const (
	fuzzedRequests = 10_000
	slowClients    = 1000
)
