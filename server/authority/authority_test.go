package authority

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const host = "commentanalyzer.googleapis.com"

// A server that takes the place of a host vouches for this host only: a client
// that trusts its authority trusts it with nothing else.
func TestTheAuthorityIsGoodForItsHostsOnly(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "authority")
	ca, err := Open(folder, []string{host})
	if err != nil {
		t.Fatal(err)
	}
	again, err := Open(folder, []string{host})
	if err != nil || !again.cert.Equal(ca.cert) {
		t.Errorf("%v: the second time, another authority was made", err)
	}
	key, err := os.Stat(filepath.Join(folder, host+".key"))
	if err != nil || key.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: the private key may be read by others", err, key.Mode())
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(ca.cert)
	verify := func(hosts ...string) error {
		leaf, err := ca.sign(hosts)
		if err != nil {
			t.Fatal(err)
		}
		_, err = leaf.Leaf.Verify(x509.VerifyOptions{DNSName: hosts[0], Roots: trusted})
		return err
	}
	if err := verify(host); err != nil {
		t.Errorf("a client does not take it for the host: %v", err)
	}
	for _, other := range []string{"example.com", "googleapis.com", "www.googleapis.com"} {
		if err := verify(other); err == nil {
			t.Errorf("a client takes it for %s", other)
		}
		if err := verify(host, other); err == nil {
			t.Errorf("a client takes a certificate that is for %s too", other)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, host+".pem"), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(folder, []string{host}); err == nil || !strings.Contains(err.Error(), host+".pem") || !strings.Contains(err.Error(), "to create a new one") {
		t.Errorf("a torn certificate: %v", err)
	}
}

func TestHostsAreNames(t *testing.T) {
	hosts, err := ParseHosts("B.example.com,a.example.com, b.example.com")
	if err != nil || strings.Join(hosts, " ") != "a.example.com b.example.com" {
		t.Errorf("%v, %v", hosts, err)
	}
	for _, wrong := range []string{"localhost", "127.0.0.1", "*.example.com", "https://a.example.com", "a.example.com:443", "a.example.com,", "../a.b"} {
		if _, err := ParseHosts(wrong); err == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
	for _, wrong := range [][]string{nil, {strings.Repeat("a", 250) + ".example.com"}} {
		if _, err := Open(t.TempDir(), wrong); err == nil {
			t.Errorf("an authority for %v was made", wrong)
		}
	}
}

// The certificate of a server is renewed while it runs.
func TestCertificatesAreRenewed(t *testing.T) {
	ca, err := Open(t.TempDir(), []string{host})
	if err != nil {
		t.Fatal(err)
	}
	config, err := ca.TLSConfig()
	if err != nil {
		t.Fatal(err)
	}
	current := func() *tls.Certificate {
		t.Helper()
		found, err := config.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	first := current()
	if current() != first {
		t.Error("it is renewed for each connection")
	}
	first.Leaf.NotAfter = time.Now().Add(renewBefore - time.Hour)
	if second := current(); second == first || time.Until(second.Leaf.NotAfter) < leafLife-time.Hour {
		t.Error("it is not renewed before it expires")
	}
}

// The instructions name what can be copied into a client's configuration.
func TestInstructionsFitTheAddress(t *testing.T) {
	folder := t.TempDir()
	ca, err := Open(folder, []string{host})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string][]string{
		net.JoinHostPort("192.0.2.1", "443"): {"\n       192.0.2.1 " + host + "\n", "NODE_EXTRA_CA_CERTS=" + filepath.Join(folder, host+".pem") + "\n"},
		"[::]:8443":                          {"\n       ADDRESS-OF-THIS-MACHINE " + host + "\n", "redirect it to port 8443"},
	} {
		text := ca.Instructions(address)
		for _, line := range want {
			if !strings.Contains(text, line) {
				t.Errorf("%s: %q is missing in\n%s", address, line, text)
			}
		}
		if strings.Contains(text, "redirect") != strings.HasSuffix(address, ":8443") {
			t.Errorf("%s: %s", address, text)
		}
	}
}
