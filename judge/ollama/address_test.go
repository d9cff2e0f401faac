package ollama

import (
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	for given, want := range map[string]string{
		"":                          "http://127.0.0.1:11434",
		"box":                       "http://box:11434",
		"box:80":                    "http://box:80",
		":1234":                     "http://127.0.0.1:1234",
		"0.0.0.0":                   "http://127.0.0.1:11434",
		"http://box":                "http://box:80",
		"https://box/ollama":        "https://box:443/ollama",
		"https://box:8443":          "https://box:8443",
		"::1":                       "http://[::1]:11434",
		"[::1]:99":                  "http://[::1]:99",
		"ftp://box":                 "",
		"http://user:secret@box":    "",
		"box:port":                  "",
		"http://box:11434?x=secret": "",
	} {
		t.Setenv("OLLAMA_HOST", given)
		u, err := Address("")
		got := ""
		if err == nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%q is %q, %v, want %q", given, got, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), "failed to read OLLAMA_HOST: ") {
			t.Error(err)
		}
	}
	// The setting overrides OLLAMA_HOST.
	if u, err := Address("box"); err != nil || u.String() != "http://box:11434" {
		t.Errorf("%v, %v", u, err)
	}
	if _, err := Address("ftp://box"); err == nil || !strings.Contains(err.Error(), `failed to read the host of the Ollama server: "ftp://box" is not an address`) {
		t.Error(err)
	}
}
