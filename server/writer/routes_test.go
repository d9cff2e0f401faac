package writer_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// Scores are Writer's: high is safe. Each text of the request has labels.
func TestToxicCheck(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
	for body, want := range map[string]string{
		`{"prompt":"hello","completion":"you idiot"}`: `{"prompt_labels":[{"class_name":"nontoxic","score":0.9}],"completion_labels":[{"class_name":"toxic","score":0.1}]}`,
		`{"completion":"you idiot"}`:                  `{"completion_labels":[{"class_name":"toxic","score":0.1}]}`,
		`{"prompt":"you idiot"}`:                      `{"prompt_labels":[{"class_name":"toxic","score":0.1}]}`,
	} {
		if r := s.Post("/v1/toxic-check", body); r.Status != http.StatusOK || strings.TrimSpace(r.Body) != want {
			t.Errorf("%s: %d %s", body, r.Status, r.Body)
		}
	}
	for _, body := range []string{`{}`, `{"text":"x"}`} {
		if r := s.Post("/v1/toxic-check", body); r.Code(t) != "invalid_request" {
			t.Errorf("%s: %d %s", body, r.Status, r.Body)
		}
	}
}
