package server_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// A key is accepted wherever the clients of an API put it.
func TestOnlyWhoHasAKeyMayAsk(t *testing.T) {
	alice, a := newKey(t, "alice", "")
	bob, b := newKey(t, "bob", "")
	s := serve(t, toxscreen.New(words), server.Config{Keys: []server.Key{a, b}})
	const body = `{"text": "hello"}`
	for name, r := range map[string]reply{
		"bearer":     s.Post("/v1/score", body, "Authorization", "Bearer "+alice),
		"x-api-key":  s.Post("/v1/score", body, "X-API-KEY", bob),
		"google":     s.Post("/v1/score", body, "X-Goog-Api-Key", alice),
		"address":    s.Post("/v1/score?key="+alice, body),
		"wins":       s.Post("/v1/score?key=other", body, "authorization", "bearer "+bob),
		"a password": s.Post("/v1/score", body, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("any:"+bob))),
		"a proxy's":  s.Post("/v1/score?key="+bob, body, "Authorization", "Basic eDp5"),
	} {
		if r.Status != http.StatusOK {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
	for name, r := range map[string]reply{
		"none":   s.Post("/v1/score", body),
		"wrong":  s.Post("/v1/score", body, "Authorization", "Bearer "+alice+"x"),
		"hash":   s.Post("/v1/score", body, "x-api-key", fmt.Sprintf("%x", a.Hash)),
		"fetch":  s.Get("/v1/score/some"),
		"a name": s.Post("/v1/score", body, "x-api-key", "alice"),
	} {
		if r.Status != http.StatusUnauthorized || r.Code(t) != "wrong_key" || r.Header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %d %s %s", name, r.Status, r.Header, r.Body)
		}
	}
	// Google answers 403, which has no challenge.
	if r := s.Post("/v1alpha1/comments:analyze", `{}`); r.Status != http.StatusForbidden || r.Header.Get("WWW-Authenticate") != "" {
		t.Errorf("%d %s %s", r.Status, r.Header, r.Body)
	}
	for _, path := range []string{"/healthz", "/readyz", "/v1/openapi.json"} {
		if r := s.Get(path); r.Status != http.StatusOK {
			t.Errorf("%s: %d", path, r.Status)
		}
	}
	log := s.Log.String()
	if !strings.Contains(log, "caller=alice") || strings.Contains(log, alice) || strings.Contains(log, bob) {
		t.Errorf("%s", log)
	}
}

// A server on the user's own machine needs no key, and must not answer every page
// that the user's browser shows.
func TestPagesOfOtherSitesAreRefused(t *testing.T) {
	s := serve(t, toxscreen.New(words), server.Config{External: &url.URL{Scheme: "http", Host: "tox.example.org", Path: "/screen"}})
	for name, header := range map[string][]string{
		"by what the browser says": {"Sec-Fetch-Site", "cross-site"},
		"by the origin":            {"Origin", "https://example.com"},
	} {
		if r := s.Post("/v1/score", `{"text": "hello"}`, header...); r.Status != http.StatusForbidden || r.Code(t) != "cross_origin" {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
	// Also where no key is needed: a batch has those of its calls.
	contentType, batch := servertest.Batch([2]string{"/v1alpha1/comments:analyze", `{"comment":{"text":"x"},"requestedAttributes":{"TOXICITY":{}}}`})
	if r := s.Post("/batch", batch, "Content-Type", contentType, "Sec-Fetch-Site", "cross-site"); r.Status != http.StatusForbidden || !strings.Contains(r.Body, `"status":"PERMISSION_DENIED"`) {
		t.Error(r.Text())
	}
	for _, header := range [][]string{{"Sec-Fetch-Site", "same-origin"}, {"Origin", s.URL}, {"Origin", "http://tox.example.org"}} {
		if r := s.Post("/v1/score", `{"text": "hello"}`, header...); r.Status != http.StatusOK {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
}

// Each caller has its own rate limit. A request with many texts is slowed down to
// it once it is admitted.
func TestACallerKeepsToItsRate(t *testing.T) {
	alice, a := newKey(t, "alice", "rate=4 burst=2")
	bob, b := newKey(t, "bob", "")
	synctest.Test(t, func(t *testing.T) {
		ask := answering(t, toxscreen.New(words), server.Config{Keys: []server.Key{a, b}})
		for i := range 5 {
			r, took := ask(`{"text": "hello"}`, "x-api-key", alice)
			switch {
			case i < 2 && r.Status == http.StatusOK:
			case i >= 2 && r.Status == http.StatusTooManyRequests && took == 0 && r.Code(t) == "rate_limited" && r.Header.Get("Retry-After") == "1":
			default:
				t.Errorf("alice's request %d: %d %s", i, r.Status, r.Body)
			}
			if r, _ := ask(`{"text": "hello"}`, "x-api-key", bob); r.Status != http.StatusOK {
				t.Errorf("bob: %s", r.Body)
			}
		}
		time.Sleep(time.Second)
		// Two at once, and two at a quarter of a second each.
		if r, took := ask(`{"texts": ["a", "b", "c", "d"]}`, "x-api-key", alice); r.Status != http.StatusOK || strings.Count(r.Body, "\n") != 4 || took != time.Second/2 {
			t.Errorf("%d after %s: %s", r.Status, took, r.Body)
		}
	})
}

// Keys can be replaced while the server runs. Requests under way keep theirs, and a
// key that stays keeps what it has used of its rate.
func TestKeysAreReplaced(t *testing.T) {
	alice, a := newKey(t, "alice", "rate=1 burst=2")
	bob, b := newKey(t, "bob", "")
	carol, c := newKey(t, "carol", "rate=1 burst=2")
	synctest.Test(t, func(t *testing.T) {
		srv, err := servertest.New(toxscreen.New(taking(time.Second/2)), server.Config{Keys: []server.Key{a, b}})
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		ask := func(key string) int {
			t.Helper()
			return answered(t, srv, `{"text": "hello"}`, "x-api-key", key).Status
		}
		under := make(chan int)
		go func() { under <- ask(bob) }()
		synctest.Wait()
		if err := srv.SetKeys([]server.Key{a, c}); err != nil {
			t.Fatal(err)
		}
		if status := ask(bob); status != http.StatusUnauthorized {
			t.Errorf("a key that was removed: %d", status)
		}
		if status := <-under; status != http.StatusOK {
			t.Errorf("a request under way: %d", status)
		}
		ask(alice)
		ask(alice)
		a.JudgeWait = new(time.Duration)
		if err := srv.SetKeys([]server.Key{a, c}); err != nil {
			t.Fatal(err)
		}
		ask(alice) // its rate allows a text each second, and one takes half of it
		if status := ask(alice); status != http.StatusTooManyRequests {
			t.Errorf("a key that stays: %d", status)
		}
		if status := ask(carol); status != http.StatusOK {
			t.Errorf("a new key: %d", status)
		}
		a.Burst = 5
		if err := srv.SetKeys([]server.Key{a}); err != nil {
			t.Fatal(err)
		}
		if status := ask(alice); status != http.StatusOK {
			t.Errorf("a key with another rate: %d", status)
		}
		if err := srv.SetKeys(nil); err == nil || ask("") != http.StatusUnauthorized {
			t.Errorf("a server that needed a key needs none: %v", err)
		}
	})
}

func TestAKeyHasItsOwnTimeForTheJudge(t *testing.T) {
	patient, p := newKey(t, "patient", "judge_wait=30s")
	hasty, h := newKey(t, "hasty", "judge_wait=0s")
	judge := servertest.NewSlow()
	results, _ := servertest.Results(t)
	s := serve(t, judged(judge.Judge), server.Config{Keys: []server.Key{p, h}, Results: results})
	if r := s.Post("/v1/score", `{"text": "maybe"}`, "x-api-key", hasty).Result(t); !r.Judge.Pending {
		t.Errorf("%+v", r.Judge)
	}
	close(judge.Answer)
	if r := s.Post("/v1/score", `{"text": "maybe"}`, "x-api-key", patient).Result(t); r.Judge.Pending || len(r.Judge.Verdicts) != 1 {
		t.Errorf("%+v", r.Judge)
	}
}

func TestFilesOfKeysAreReadWithCare(t *testing.T) {
	_, line, err := server.NewKey("a")
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"":                              "there is no key in it",
		"a\n":                           "line 1: a key is a name and sha256:HASH",
		"a sha256:abc":                  "64 hexadecimal digits",
		line + "\n" + line:              "line 2: the name a or its hash is there already",
		line + " rate=fast":             `rate must be a number of texts a second, over 0 and up to 1000000, not "fast"`,
		line + " rate=0":                `rate must be a number of texts a second, over 0 and up to 1000000, not "0"`,
		line + " burst=0":               `burst must be a whole number of texts, 1 or more, not "0"`,
		line + " judge_wait=1":          `"1" is not a duration`,
		line + " limit=3":               `unknown setting "limit"`,
		line + "\n# c\n\nb sha256:zz\n": "line 4: ",
	} {
		if _, err := server.ParseKeys([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v does not say %q", file, err, want)
		}
	}
	if _, _, err := server.NewKey("two words"); err == nil {
		t.Error("a name of two words was taken")
	}
}

func TestAServerThatMakesNoSenseIsNotMade(t *testing.T) {
	_, err := servertest.New(toxscreen.New(words), server.Config{JudgeWait: map[string]time.Duration{"nothing": 1}})
	if err == nil || !strings.Contains(err.Error(), `no API "nothing"`) {
		t.Error(err)
	}
}
