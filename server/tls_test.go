package server_test

import (
	"crypto/tls"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/authority"
)

// A certificate is renewed without a restart: new connections get the new one, and
// those that exist go on. Files that do not fit together change nothing.
func TestACertificateIsReloaded(t *testing.T) {
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "own.pem"), filepath.Join(folder, "own.key")
	const host = "tox.example.org"
	renew := func() *big.Int {
		t.Helper()
		made := t.TempDir()
		if _, err := authority.Open(made, []string{host}); err != nil {
			t.Fatal(err)
		}
		for from, to := range map[string]string{host + ".pem": cert, host + ".key": key} {
			if err := os.WriteFile(to, contentOf(t, filepath.Join(made, from)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf.SerialNumber
	}
	first := renew()
	certificate, err := server.OpenCertificate(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	at := served(t, server.Config{}, tls.NewListener(listening(t, "tcp4", "127.0.0.1:0"), certificate.TLSConfig()))
	presented := func() *big.Int {
		t.Helper()
		c, err := tls.Dial("tcp", at.String(), &tls.Config{InsecureSkipVerify: true}) // only its number matters
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0].SerialNumber
	}
	if got := presented(); got.Cmp(first) != 0 {
		t.Errorf("the certificate is %v, want %v", got, first)
	}
	old := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer old.CloseIdleConnections()
	ask := func() *big.Int {
		t.Helper()
		response, err := (&http.Client{Transport: old}).Post("https://"+at.String()+"/v1/score", "application/json", strings.NewReader(`{"text": "hello"}`))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("status %d, %v", response.StatusCode, err)
		}
		return response.TLS.PeerCertificates[0].SerialNumber
	}
	ask()

	if err := os.WriteFile(cert, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := certificate.Reload(); err == nil || !strings.Contains(err.Error(), cert) || !strings.Contains(err.Error(), key) {
		t.Errorf("a torn file: %v", err)
	}
	if got := presented(); got.Cmp(first) != 0 {
		t.Errorf("after an error the certificate is %v, want %v", got, first)
	}
	second := renew()
	if err := certificate.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := presented(); got.Cmp(second) != 0 {
		t.Errorf("the certificate is %v, want %v", got, second)
	}
	if got := ask(); got.Cmp(first) != 0 {
		t.Errorf("the connection that existed has the certificate %v, want %v", got, first)
	}
}
