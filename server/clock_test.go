package server_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// A request that takes too long ends, and so does its work: the next one need not wait
// for it.
func TestARequestHasATimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stopped atomic.Int64
		ask := answering(t, toxscreen.New(classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
			if strings.HasPrefix(text, "long") {
				<-ctx.Done()
				stopped.Add(1)
				return toxscreen.Classification{}, ctx.Err()
			}
			return words(ctx, text)
		})), server.Config{RequestTimeout: time.Second})
		r, took := ask(`{"text": "long"}`)
		if r.Status != http.StatusServiceUnavailable || r.Code(t) != "timed_out" || took != time.Second || !strings.Contains(r.Body, "longer than 1s") {
			t.Errorf("%d after %s: %s", r.Status, took, r.Body)
		}
		// Of many texts, those that are done are answered.
		r, took = ask(`{"texts": ["hello", "long 1", "long 2", {"id": "last", "text": "long 3"}]}`)
		answers := strings.Split(strings.TrimSpace(r.Body), "\n")
		if r.Status != http.StatusOK || took != time.Second || len(answers) != 4 || !strings.HasPrefix(answers[0], `{"score":0.1`) ||
			!strings.HasPrefix(answers[3], `{"id":"last","error":{"code":"timed_out"`) {
			t.Errorf("%d after %s: %s", r.Status, took, r.Body)
		}
		if stopped.Load() != 3 { // two at once, and the last one never began
			t.Errorf("%d texts were stopped", stopped.Load())
		}
		if r, took := ask(`{"texts": ["hello", "hello", "hello"]}`); r.Status != http.StatusOK || took != 0 {
			t.Errorf("afterwards: %d after %s", r.Status, took)
		}
	})
}

// Each API says it in its own form. The sentences of a text belong to the request.
func TestAllAPIsHaveATimeLimit(t *testing.T) {
	s := serve(t, toxscreen.New(classify(func(ctx context.Context, text string) (toxscreen.Classification, error) {
		if strings.HasPrefix(text, "You idiot. A") { // the whole text, not a sentence
			return words(ctx, text)
		}
		<-ctx.Done()
		return toxscreen.Classification{}, ctx.Err()
	})), server.Config{RequestTimeout: 20 * time.Millisecond})
	const comment = `{"comment": {"text": "You idiot. A sentence."}, "languages": ["en"], "requestedAttributes": {"TOXICITY": {}}, "spanAnnotations": true}`
	for _, test := range []struct{ path, body, want string }{
		{"/v1alpha1/comments:analyze", comment, `"status":"UNAVAILABLE"`},
		{"/v1alpha1/comments:analyze", strings.Replace(comment, "idiot", "fool", 1), `"status":"UNAVAILABLE"`},
		{"/v1/moderations", `{"input": ["hello", "hello"]}`, `"type":"server_error"`},
		{"/beta/litellm_basic_guardrail_api", `{"texts": ["hello"], "request_data": {}, "input_type": "request"}`, `"code":"timed_out"`},
		{"/v1/evaluate", `{"evaluators": [{"evaluator": "toxicity"}], "evaluated_model_output": "You idiot. A sentence."}`, "took longer than 20ms"},
		{"/v1/toxic-check", `{"prompt": "hello"}`, `"code":"timed_out"`},
	} {
		if r := s.Post(test.path, test.body); r.Status != http.StatusServiceUnavailable || !strings.Contains(r.Body, test.want) || !strings.Contains(r.Body, "took longer than 20ms") {
			t.Errorf("%s: %d %s", test.path, r.Status, r.Body)
		}
	}
	if log := s.Log.String(); strings.Count(log, "failure=timed_out") != 6 {
		t.Errorf("%s", log)
	}
}

// The judge has a time limit of its own.
func TestWaitingForTheJudgeIsNotInTheTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, _ string, _ toxscreen.Classification) (toxscreen.Verdict, error) {
			select {
			case <-time.After(10 * time.Second):
				return insult(), nil
			case <-ctx.Done():
				return toxscreen.Verdict{}, ctx.Err()
			}
		}
		taken := taking(400 * time.Millisecond)
		screener := toxscreen.New(taken, servertest.Raised(slow))
		ask := answering(t, screener, server.Config{RequestTimeout: time.Second})
		r, took := ask(`{"texts": ["maybe 1", "maybe 2", "hello", "hello"], "judge_wait": "30s"}`)
		if r.Status != http.StatusOK || strings.Count(r.Body, `"source":"fused"`) != 2 || strings.Contains(r.Body, "timed_out") || took < 10*time.Second {
			t.Errorf("%d after %s: %s", r.Status, took, r.Body)
		}
		// But the other texts are. A text keeps its scores while its verdict is missing.
		r, _ = ask(`{"texts": ["maybe 1", "hello", "hello", "hello", "hello", "hello", "hello"], "judge_wait": "30s"}`)
		if r.Status != http.StatusOK || strings.Count(r.Body, "timed_out") != 3 || strings.Count(r.Body, `"pending":true`) != 1 {
			t.Errorf("%d: %s", r.Status, r.Body)
		}
	})
}
