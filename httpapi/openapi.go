package httpapi

import (
	_ "embed"
	"net/http"
)

//go:embed openapi.json
var openAPI []byte

// openAPIRoutes adds the route of the document that describes the native
// interface.
func (s *Server) openAPIRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /v1/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(openAPI) // whoever is gone misses nothing
	})
}
