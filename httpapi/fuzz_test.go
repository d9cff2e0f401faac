package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/httpapi"
)

// Whatever is sent to a route of another system, it is the client's fault or
// answered: no 5xx, and JSON or a batch in every case.
func FuzzRoutes(f *testing.F) {
	contentType, batch := batchOf([2]string{analyze, `{"comment":{"text":"a. b"},"requestedAttributes":{"TOXICITY":{}},"spanAnnotations":true}`}, [2]string{"/v1alpha1/comments:suggestscore", `{}`})
	seeds := []struct{ path, body string }{
		{analyze, `{comment:{text:"you idiot. \ud83d\ude00",},requested_attributes:{TOXICITY:[]},'spanAnnotations':true}`},
		{"/v1alpha1/comments:suggestscore", `{"comment":{"text":"x"},"attributeScores":{"TOXICITY":{"spanScores":[{"begin":0,"end":1,"score":{"value":1}}]}}}`},
		{"/batch", batch},
		{"/v1/moderations", `{"input":["you idiot",""]}`},
		{"/v1/moderations", `{"input":[{"type":"text","text":"you"},{"type":"image_url"}]}`},
		{"/beta/litellm_basic_guardrail_api", `{"texts":["you idiot"],"additional_provider_specific_params":{"on_flagged":"mask","threshold":0.5}}`},
		{"/v1/evaluate", `{"evaluators":[{"evaluator":"toxicity"},{"evaluator":"phi"}],"evaluated_model_output":"You idiot. Bye!"}`},
		{"/v1/toxic-check", `{"prompt":"you idiot","completion":""}`},
	}
	for i, seed := range seeds {
		f.Add(i, []byte(seed.body))
	}
	server, err := httpapi.New(toxscreen.New(english{words}), httpapi.Config{MaxTexts: 20})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { server.Close() })
	f.Fuzz(func(t *testing.T, route int, body []byte) {
		if route < 0 || route >= len(seeds) {
			return
		}
		path := seeds[route].path
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(string(body)))
		if path == "/batch" {
			r.Header.Set("Content-Type", contentType)
		}
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		kind := w.Header().Get("Content-Type")
		if w.Code >= 500 || kind != "application/json" && !strings.HasPrefix(kind, "multipart/mixed; boundary=") {
			t.Fatalf("%s %q: %d %s %s", path, body, w.Code, kind, w.Body)
		}
	})
}
