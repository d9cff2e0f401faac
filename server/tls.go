package server

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
)

// Certificate is a certificate for TLS whose files can be read again while it is in
// use. It is safe for concurrent use.
type Certificate struct {
	cert, key string // files
	current   atomic.Pointer[tls.Certificate]
}

// OpenCertificate reads the certificate in a file, behind it those above it, and its
// private key in another. The error names both files.
func OpenCertificate(cert, key string) (*Certificate, error) {
	c := &Certificate{cert: cert, key: key}
	return c, c.Reload()
}

// Reload reads both files again. New connections get the new certificate. After an
// error they get the earlier one.
func (c *Certificate) Reload() error {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return fmt.Errorf("failed to read the certificate %s with the key %s: %w", c.cert, c.key, err)
	}
	c.current.Store(&pair)
	return nil
}

// TLSConfig returns the configuration of a server with the certificate. It offers
// HTTP/2.
func (c *Certificate) TLSConfig() *tls.Config {
	current := func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil }
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: current}
}
