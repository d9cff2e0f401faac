package server

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/rs/cors"
)

// anyOrigin allows the pages of every site, in [Config.Origins].
const anyOrigin = "*"

// preflightAge is how long a browser may remember that an origin is allowed.
const preflightAge = 10 * time.Minute

// trustedOrigins returns the check that refuses requests of other sites' pages: all
// but those of the server itself and of the configured origins.
func trustedOrigins(c Config) (*http.CrossOriginProtection, error) {
	check := http.NewCrossOriginProtection()
	if e := c.External; e != nil {
		// A proxy may forward requests under another host than browsers know.
		if err := check.AddTrustedOrigin(e.Scheme + "://" + e.Host); err != nil {
			return nil, fmt.Errorf("failed to create a server: the external URL %s: %w", e, err)
		}
	}
	for _, origin := range c.Origins {
		if origin == anyOrigin {
			check.AddInsecureBypassPattern("/") //nolint:gosec // that is what every origin means; keys are needed then
			continue
		}
		if err := check.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("failed to create a server: %w", err)
		}
	}
	return check, nil
}

// withCORS returns a handler that tells browsers which pages may send requests and
// read the answers. There are no cookies, so pages may send any header.
func (s *Server) withCORS(h http.Handler) http.Handler {
	if len(s.config.Origins) == 0 {
		return h
	}
	exposed := []string{"Retry-After", requestIDHeader, notMeasuredHeader, unsupportedLanguageHeader}
	for _, f := range s.config.Formats {
		exposed = append(exposed, f.Headers...)
	}
	return cors.New(cors.Options{
		AllowedOrigins: slices.Clone(s.config.Origins),
		AllowedMethods: []string{http.MethodGet, http.MethodPost},
		AllowedHeaders: []string{"*"},
		ExposedHeaders: exposed,
		MaxAge:         int(preflightAge.Seconds()),
	}).Handler(h)
}
