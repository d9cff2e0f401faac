package server

import (
	"fmt"
	"net/http"
	"slices"
)

// Format is a wire format: the routes, the requests and the answers of one system's
// clients. A package of its own has everything about it and hands it over in
// [Config.Formats]; this package knows none by name.
type Format struct {
	// Name is its name in settings, logs and metrics.
	Name string
	// Routes are its routes.
	Routes []Route
	// Paths are paths that only this format has, with all paths below them: a request
	// there that no route takes fails in its form. "/" stands for all paths that no
	// format has.
	Paths []string
	// Fail answers with a failure in its form; nil for [ErrorBody].
	// Retry-After is set already.
	Fail func(c *Call, f *Failure)
	// Documents describe it, by their patterns of [http.ServeMux]. Requests for them need
	// no key, and are neither logged nor counted.
	Documents map[string]http.Handler
	// Headers are the headers of its answers that pages of other sites may read, beside
	// those that all formats have.
	Headers []string
}

// Route is a route of a [Format].
type Route struct {
	Pattern string // of [http.ServeMux]
	// Handle answers, or returns an error, which [Format.Fail] sends.
	Handle func(c *Call) error
	// Open is true where no key is needed.
	Open bool
}

// formatNames returns the names of formats, in their order. Formats whose settings, logs
// and metrics could not be told apart are an error.
func formatNames(formats []Format) ([]string, error) {
	var names []string
	for _, f := range formats {
		if f.Name == "" || slices.Contains(names, f.Name) {
			return nil, fmt.Errorf("failed to create a server: the name %q of a format is empty or another's, too", f.Name)
		}
		names = append(names, f.Name)
	}
	return names, nil
}
