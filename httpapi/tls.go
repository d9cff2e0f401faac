package httpapi

import (
	"crypto/tls"
	"fmt"
)

// LoadTLS returns the configuration of TLS with the certificate in a file, behind
// it those above it, and its private key in another. It offers HTTP/2.
func LoadTLS(cert, key string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("failed to read the certificate %s with the key %s: %w", cert, key, err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, Certificates: []tls.Certificate{pair}}, nil
}
