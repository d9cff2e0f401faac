// Package authority makes a private certificate authority. With it, a server can take the
// place of hosts whose names are in the code of programs:
//
//	hosts, err := authority.ParseHosts("commentanalyzer.googleapis.com")
//	if err != nil {
//		log.Fatal(err)
//	}
//	ca, err := authority.Open("authority", hosts)
//	if err != nil {
//		log.Fatal(err)
//	}
//	config, err := ca.TLSConfig()
//	if err != nil {
//		log.Fatal(err)
//	}
//	fmt.Print(ca.Instructions(listener.Addr().String()))
//	err = server.Serve(ctx, tls.NewListener(listener, config), 30*time.Second)
//
// Name constraints, which clients check, restrict the authority to its hosts: a client that
// trusts it trusts it for these names only.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toxscreen/toxscreen/internal/files"
)

// The lifetimes of certificates. Clients reject the certificate of a host that is valid for
// more than 825 days.
const (
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 365 * 24 * time.Hour
	renewBefore   = 30 * 24 * time.Hour
)

// ParseHosts reads host names with commas between them and returns them in lower case,
// sorted and each once; none for an empty text. A name must have a dot. Addresses, ports
// and wildcards are errors.
func ParseHosts(text string) ([]string, error) {
	var hosts []string
	if text == "" {
		return nil, nil
	}
	for host := range strings.SplitSeq(text, ",") {
		host = strings.ToLower(strings.TrimSpace(host))
		if !strings.Contains(host, ".") || strings.ContainsAny(host, "/:*\\ ") || net.ParseIP(host) != nil || strings.HasPrefix(host, ".") {
			return nil, fmt.Errorf("%q is not a host name: it must be like commentanalyzer.googleapis.com", host)
		}
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nil
}

// Authority signs certificates for its hosts. It is safe for concurrent use.
type Authority struct {
	file  string // of the certificate
	hosts []string
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
}

// Open opens the authority for hosts, as [ParseHosts] returns them, in a folder, and
// creates both if they do not exist. The files are named after the hosts: HOST.pem is the
// certificate, which clients need, and HOST.key its private key, with mode 0600. The error
// names the files and says what to do about them.
func Open(folder string, hosts []string) (*Authority, error) {
	name := strings.Join(hosts, "+")
	switch {
	case len(hosts) == 0:
		return nil, errors.New("failed to open an authority: it needs at least one host")
	case len(name) > 200:
		return nil, fmt.Errorf("failed to open an authority: the names of %d hosts are too long for a file name: use fewer", len(hosts))
	}
	certFile, keyFile := filepath.Join(folder, name+".pem"), filepath.Join(folder, name+".key")
	failed := func(err error) (*Authority, error) {
		return nil, fmt.Errorf("failed to open the authority %s: %w; remove it and its key %s to create a new one, which clients must then trust instead", certFile, files.Cause(err), keyFile)
	}
	_, err := os.Stat(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		if err = create(folder, certFile, keyFile, hosts); err != nil {
			return nil, fmt.Errorf("failed to create the authority %s: %w", certFile, files.Cause(err))
		}
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return failed(err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	switch {
	case !ok:
		return failed(errors.New("its key is not an ECDSA key"))
	case time.Now().After(pair.Leaf.NotAfter.Add(-leafLife)):
		return failed(fmt.Errorf("it expires on %s", pair.Leaf.NotAfter.Format(time.DateOnly)))
	}
	return &Authority{certFile, hosts, pair.Leaf, key}, nil
}

// create writes a new authority.
func create(folder, certFile, keyFile string, hosts []string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "toxscreen for " + hosts[0]},
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		// For nothing but the hosts, so that a stolen key is worth little: no other
		// name, no IP address, no mail address.
		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         hosts,
		ExcludedIPRanges:            []*net.IPNet{{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}, {IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}},
	}
	der, err := certify(template, template, key, key, authorityLife)
	if err != nil {
		return err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	// The key is written last: where it exists, so does the certificate.
	if err := files.WriteBytes(certFile, 0o644, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})); err != nil {
		return err
	}
	return files.WriteBytes(keyFile, 0o600, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

// certify signs a certificate that is valid for a lifetime from now. It is also valid for
// the last hour, for clients whose clocks are slow.
func certify(template, parent *x509.Certificate, key, by *ecdsa.PrivateKey, life time.Duration) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(life)
	return x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
}

// TLSConfig returns the configuration of a server that takes the place of the hosts. It
// offers HTTP/2. The certificate is signed now, and again before it expires; its private
// key stays in memory.
func (a *Authority) TLSConfig() (*tls.Config, error) {
	leaf, err := a.sign(a.hosts)
	if err != nil {
		return nil, err
	}
	var lock sync.Mutex
	current := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		lock.Lock()
		defer lock.Unlock()
		if time.Until(leaf.Leaf.NotAfter) < renewBefore {
			renewed, err := a.sign(a.hosts)
			if err != nil {
				return nil, err
			}
			leaf = renewed
		}
		return leaf, nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}, GetCertificate: current}, nil
}

// sign returns a certificate for hosts, with a new private key.
func (a *Authority) sign(hosts []string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("failed to generate a key: %w", err)
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: hosts[0]},
		DNSNames:    hosts,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := certify(template, a.cert, key, a.key, leafLife)
	if err != nil {
		return nil, fmt.Errorf("failed to sign a certificate for %s: %w", strings.Join(hosts, ", "), err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("failed to read the certificate for %s: %w", strings.Join(hosts, ", "), err)
	}
	return &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: key, Leaf: leaf}, nil
}

// Instructions returns what to change on a client's machine so that its programs trust the
// server at an address, like 127.0.0.1:443, and reach it under the names of the hosts:
// lines of text, each with a line break.
func (a *Authority) Instructions(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "ADDRESS-OF-THIS-MACHINE"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `For programs that have the host's name in their code, on the machine where they run:
  1. Add to /etc/hosts:
       %s %s
  2. Copy %s to that machine. It is trusted for these hosts and for nothing else. Set in the program's environment:
       Node      NODE_EXTRA_CA_CERTS=%[3]s
       Python    REQUESTS_CA_BUNDLE=%[3]s
                 HTTPLIB2_CA_CERTS=%[3]s
                 the latter for Google's client and programs that use it, such as HELM
       Go, curl  SSL_CERT_FILE=%[3]s
     All but Node's replace the certificates that are trusted otherwise: for a program that connects to other
     hosts too, append the file to a copy of those. For all programs but Node's and Python's, copy it to
     /usr/local/share/ca-certificates/toxscreen.crt and run update-ca-certificates.
`, host, strings.Join(a.hosts, " "), a.file)
	if port != "443" {
		fmt.Fprintf(&b, "  3. These programs connect to port 443: listen on it, or redirect it to port %s.\n", port)
	}
	return b.String()
}
