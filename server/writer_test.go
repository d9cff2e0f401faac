package server_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
)

func statusOf(r reply) string { return strconv.Itoa(r.status) }

// Scores are Writer's: high is safe. Each text of the request has labels.
func TestWriterToxicCheck(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{})
	for body, want := range map[string]string{
		`{"prompt":"hello","completion":"you idiot"}`: `{"prompt_labels":[{"class_name":"nontoxic","score":0.9}],"completion_labels":[{"class_name":"toxic","score":0.1}]}`,
		`{"completion":"you idiot"}`:                  `{"completion_labels":[{"class_name":"toxic","score":0.1}]}`,
		`{"prompt":"you idiot"}`:                      `{"prompt_labels":[{"class_name":"toxic","score":0.1}]}`,
	} {
		if r := s.post("/v1/toxic-check", body); r.status != http.StatusOK || strings.TrimSpace(r.body) != want {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
	for _, body := range []string{`{}`, `{"text":"x"}`} {
		if r := s.post("/v1/toxic-check", body); r.code(t) != "invalid_request" {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
	}
}
