package main

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
)

// parseHosts reads names of hosts, divided by commas.
func parseHosts(text string) ([]string, error) {
	var hosts []string
	if text == "" {
		return nil, nil
	}
	for host := range strings.SplitSeq(text, ",") {
		host = strings.ToLower(strings.TrimSpace(host))
		if !strings.Contains(host, ".") || strings.ContainsAny(host, "/:*\\ ") || net.ParseIP(host) != nil || strings.HasPrefix(host, ".") {
			return nil, fmt.Errorf("%q is no name of a host: it must be like commentanalyzer.googleapis.com", host)
		}
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts), nil
}

// The lives of certificates. Clients refuse leaves of more than 825 days.
const (
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 365 * 24 * time.Hour
	renewBefore   = 30 * 24 * time.Hour
)

// authority is a certificate that signs, with its key.
type authority struct {
	file string // of the certificate
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// secureAs returns the configuration of TLS for a server that is to be taken
// for some hosts, and the authority that clients have to trust for that.
func secureAs(hosts []string) (*tls.Config, *authority, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return nil, nil, fmt.Errorf("failed to find the user's configuration folder: %w", err)
	}
	ca, err := openAuthority(filepath.Join(folder, "toxscreen", "authority"), hosts)
	if err != nil {
		return nil, nil, err
	}
	leaf, err := ca.sign(hosts)
	if err != nil {
		return nil, nil, err
	}
	var lock sync.Mutex
	config := tlsConfig()
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		lock.Lock()
		defer lock.Unlock()
		if time.Until(leaf.Leaf.NotAfter) < renewBefore {
			renewed, err := ca.sign(hosts)
			if err != nil {
				return nil, err
			}
			leaf = renewed
		}
		current := leaf
		return &current, nil
	}
	return config, ca, nil
}

// printAs prints what a client's machine needs to take the server at an address
// for some hosts.
func (a *app) printAs(ca *authority, hosts []string, address string) {
	host, port, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "ADDRESS-OF-THIS-MACHINE"
	}
	fmt.Fprintf(a.err, `For programs that have the address in their code, on the machine that they run on:
  1. in /etc/hosts:
       %s %s
  2. %s, copied there, which vouches for these hosts and nothing else, in the environment:
       Node      NODE_EXTRA_CA_CERTS=%[3]s
       Python    REQUESTS_CA_BUNDLE=%[3]s
                 HTTPLIB2_CA_CERTS=%[3]s
                 the latter for Google's client and what is built on it, such as HELM
       Go, curl  SSL_CERT_FILE=%[3]s
     All but Node's take the place of what is trusted otherwise: a program that asks other hosts too needs
     the file appended to a copy of that. For all programs but Node's and Python's: as
     /usr/local/share/ca-certificates/toxscreen.crt, then run update-ca-certificates
`, host, strings.Join(hosts, " "), ca.file)
	if port != "443" {
		fmt.Fprintf(a.err, "  3. They ask port 443: listen there, or redirect it to port %s.\n", port)
	}
}

// openAuthority opens the authority for some hosts in a folder, and makes it
// where it is not there. It may sign for these hosts only, so that it is worth
// little to whoever steals its key.
func openAuthority(folder string, hosts []string) (*authority, error) {
	name := strings.Join(hosts, "+")
	if len(name) > 200 {
		return nil, fmt.Errorf("failed to make an authority: the names of %d hosts are too long for a file: name fewer", len(hosts))
	}
	certFile, keyFile := filepath.Join(folder, name+".pem"), filepath.Join(folder, name+".key")
	failed := func(err error) (*authority, error) {
		return nil, hinted{fmt.Errorf("failed to open the authority %s: %w", certFile, cause(err)), "it is made anew when both it and its key are removed, and then clients need it anew"}
	}
	_, err := os.Stat(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeAuthority(folder, certFile, keyFile, hosts); err != nil {
			return failed(err)
		}
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return failed(err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	switch {
	case !ok:
		return failed(errors.New("its key is of another kind"))
	case time.Now().After(pair.Leaf.NotAfter.Add(-leafLife)):
		return failed(fmt.Errorf("it ends on %s", pair.Leaf.NotAfter.Format(time.DateOnly)))
	}
	return &authority{certFile, pair.Leaf, key}, nil
}

func makeAuthority(folder, certFile, keyFile string, hosts []string) error {
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
		// Nothing but the hosts: no other name, no address, no mailbox.
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
	// The key comes last: where it is there, so is the certificate.
	if err := os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		return err
	}
	return writeSecret(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}))
}

// writeSecret writes a file that only the user may read, whole or not at all.
func writeSecret(name string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(name), ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(file.Name()))
	}
	return err
}

// certify signs a certificate that begins an hour ago, for clocks that are
// slow, and ends after a life.
func certify(template, parent *x509.Certificate, key, by *ecdsa.PrivateKey, life time.Duration) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(life)
	return x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
}

// sign returns a certificate for hosts. Its key never leaves the process.
func (c *authority) sign(hosts []string) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("failed to make a key: %w", err)
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: hosts[0]},
		DNSNames:    hosts,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := certify(template, c.cert, key, c.key, leafLife)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("failed to make a certificate for %s: %w", strings.Join(hosts, ", "), err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("failed to read the certificate for %s: %w", strings.Join(hosts, ", "), err)
	}
	return tls.Certificate{Certificate: [][]byte{der, c.cert.Raw}, PrivateKey: key, Leaf: leaf}, nil
}
