package litellm_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// The requests of LiteLLM 1.109, and its possible answers. A text that is still
// toxic when its words are masked is blocked.
func TestGuardrail(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
	ask := func(texts, parameters string) servertest.Reply {
		return s.Post("/beta/litellm_basic_guardrail_api", `{"input_type":"request","litellm_call_id":"c","litellm_trace_id":"t","structured_messages":[{"role":"user","content":"x"}],"images":null,"tools":null,"texts":`+texts+
			`,"request_data":{"user_api_key_alias":"a"},"request_headers":{"host":"x"},"litellm_version":"1.109.1","additional_provider_specific_params":`+parameters+`,"tool_calls":null,"model":"m"}`)
	}
	for _, c := range []struct{ texts, parameters, want string }{
		{`["hello"]`, `{}`, `{"action":"NONE"}`},
		{`null`, `{}`, `{"action":"NONE"}`},
		{`["hello","you idiot"]`, `{}`, `{"action":"BLOCKED","blocked_reason":"Text 2 of 2 is blocked as toxic: toxicity 0.90 reaches 0.50, insult 0.80 reaches 0.70."}`},
		{`["hello","you idiot"]`, `{"threshold":0.95}`, `{"action":"NONE"}`},
		{`["hello","you idiot"]`, `{"on_flagged":"mask"}`, `{"action":"GUARDRAIL_INTERVENED","texts":["hello","you *****"]}`},
		{`["an idiot or two idiots"]`, `{"on_flagged":"mask"}`, `{"action":"BLOCKED","blocked_reason":"The text is blocked as toxic: toxicity 0.90 reaches 0.50, insult 0.80 reaches 0.70. That is without the words that could be masked."}`},
	} {
		if r := ask(c.texts, c.parameters); r.Status != http.StatusOK || strings.TrimSpace(r.Body) != c.want {
			t.Errorf("%s %s: %d %s", c.texts, c.parameters, r.Status, r.Body)
		}
	}
	for _, parameters := range []string{`{"treshold":0.8}`, `{"thresholds":{"threat":0.5}}`} {
		if r := ask(`["x"]`, parameters); r.Status != http.StatusBadRequest || r.Code(t) != "invalid_request" {
			t.Errorf("%s: %d %s", parameters, r.Status, r.Body)
		}
	}
}

// Images are not measured: a request with some is blocked, with the setting that passes over
// them. Then the answer and a header name them, like tools.
func TestImages(t *testing.T) {
	const body = `{"input_type":"request","texts":["hello"],"images":["data:image/png;base64,AAAA"],"tools":[{"type":"function"}]}`
	for ignored, want := range map[bool]string{
		false: `{"action":"BLOCKED","blocked_reason":"The request has images, which were not screened, and is blocked: only text is measured. The server's setting ignore_images lets it pass over images.","toxscreen":{"not_measured":["images","tools"]}}`,
		true:  `{"action":"NONE","toxscreen":{"not_measured":["images","tools"]}}`,
	} {
		s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{IgnoreImages: ignored})
		r := s.Post("/beta/litellm_basic_guardrail_api", body)
		if r.Status != http.StatusOK || strings.TrimSpace(r.Body) != want || r.Header.Get("Toxscreen-Not-Measured") != "images, tools" {
			t.Errorf("%d %q %s", r.Status, r.Header.Get("Toxscreen-Not-Measured"), r.Body)
		}
	}
}
