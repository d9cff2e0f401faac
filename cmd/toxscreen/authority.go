package main

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toxscreen/toxscreen/httpapi/authority"
)

// secureAs returns the TLS configuration of a server that takes the place of some
// hosts, and the authority that clients have to trust for that, which is in the
// user's configuration folder.
func secureAs(hosts []string) (*tls.Config, *authority.Authority, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return nil, nil, fmt.Errorf("failed to find the user's configuration folder: %w", err)
	}
	ca, err := authority.Open(filepath.Join(folder, "toxscreen", "authority"), hosts)
	if err != nil {
		return nil, nil, err
	}
	config, err := ca.TLSConfig()
	return config, ca, err
}
