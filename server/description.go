package server

import (
	_ "embed"
	"net/http"
)

// description is the OpenAPI document of the native interface.
//
//go:embed openapi.json
var description []byte

// describe answers with the description.
func describe(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(description) // a client that has disconnected needs no error
}
