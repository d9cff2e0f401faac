package server_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
)

// newKey returns a new key and the server's side of it.
func newKey(t testing.TB, name, settings string) (string, server.Key) {
	t.Helper()
	key, line, err := server.NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(line, strings.TrimPrefix(key, "tox_")) {
		t.Fatalf("the line %s holds the key", line)
	}
	keys, err := server.ParseKeys([]byte("# the clients\n\n" + line + " " + settings + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return key, keys[0]
}

// debugOf returns what an address of the debug handler answers.
func debugOf(t testing.TB, s *site, path string) string {
	t.Helper()
	return debugging(t, s.server, path)
}

func debugging(t testing.TB, srv *server.Server, path string) string {
	t.Helper()
	w := httptest.NewRecorder()
	srv.Debug().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Body.String()
}

// A key is accepted wherever the clients of an API put it.
func TestOnlyWhoHasAKeyMayAsk(t *testing.T) {
	alice, a := newKey(t, "alice", "")
	bob, b := newKey(t, "bob", "")
	s := serve(t, toxscreen.New(words), server.Config{Keys: []server.Key{a, b}})
	const body = `{"text": "hello"}`
	for name, r := range map[string]reply{
		"bearer":     s.post("/v1/score", body, "Authorization", "Bearer "+alice),
		"x-api-key":  s.post("/v1/score", body, "X-API-KEY", bob),
		"google":     s.post("/v1/score", body, "X-Goog-Api-Key", alice),
		"address":    s.post("/v1/score?key="+alice, body),
		"wins":       s.post("/v1/score?key=other", body, "authorization", "bearer "+bob),
		"a password": s.post("/v1/score", body, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("any:"+bob))),
		"a proxy's":  s.post("/v1/score?key="+bob, body, "Authorization", "Basic eDp5"),
	} {
		if r.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	for name, r := range map[string]reply{
		"none":   s.post("/v1/score", body),
		"wrong":  s.post("/v1/score", body, "Authorization", "Bearer "+alice+"x"),
		"hash":   s.post("/v1/score", body, "x-api-key", fmt.Sprintf("%x", a.Hash)),
		"fetch":  s.get("/v1/score/some"),
		"a name": s.post("/v1/score", body, "x-api-key", "alice"),
	} {
		if r.status != http.StatusUnauthorized || r.code(t) != "wrong_key" || r.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %d %s %s", name, r.status, r.header, r.body)
		}
	}
	// Google answers 403, which has no challenge.
	if r := s.post(analyze, `{}`); r.status != http.StatusForbidden || r.header.Get("WWW-Authenticate") != "" {
		t.Errorf("%d %s %s", r.status, r.header, r.body)
	}
	for _, path := range []string{"/healthz", "/readyz", "/v1/openapi.json"} {
		if r := s.get(path); r.status != http.StatusOK {
			t.Errorf("%s: %d", path, r.status)
		}
	}
	log := s.log.String()
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
		if r := s.post("/v1/score", `{"text": "hello"}`, header...); r.status != http.StatusForbidden || r.code(t) != "cross_origin" {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	// Also where no key is needed: a batch has those of its calls.
	contentType, batch := batchOf([2]string{analyze, `{"comment":{"text":"x"},"requestedAttributes":{"TOXICITY":{}}}`})
	if got := s.post("/batch", batch, "Content-Type", contentType, "Sec-Fetch-Site", "cross-site").perspectiveError(t); !strings.HasPrefix(got, "403 PERMISSION_DENIED") {
		t.Error(got)
	}
	for _, header := range [][]string{{"Sec-Fetch-Site", "same-origin"}, {"Origin", s.URL}, {"Origin", "http://tox.example.org"}} {
		if r := s.post("/v1/score", `{"text": "hello"}`, header...); r.status != http.StatusOK {
			t.Errorf("%d %s", r.status, r.body)
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
			case i < 2 && r.status == http.StatusOK:
			case i >= 2 && r.status == http.StatusTooManyRequests && took == 0 && r.code(t) == "rate_limited" && r.header.Get("Retry-After") == "1":
			default:
				t.Errorf("alice's request %d: %d %s", i, r.status, r.body)
			}
			if r, _ := ask(`{"text": "hello"}`, "x-api-key", bob); r.status != http.StatusOK {
				t.Errorf("bob: %s", r.body)
			}
		}
		time.Sleep(time.Second)
		// Two at once, and two at a quarter of a second each.
		if r, took := ask(`{"texts": ["a", "b", "c", "d"]}`, "x-api-key", alice); r.status != http.StatusOK || strings.Count(r.body, "\n") != 4 || took != time.Second/2 {
			t.Errorf("%d after %s: %s", r.status, took, r.body)
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
		srv, err := server.New(toxscreen.New(taking(time.Second/2)), server.Config{Keys: []server.Key{a, b}})
		if err != nil {
			t.Fatal(err)
		}
		defer srv.Close()
		ask := func(key string) int {
			t.Helper()
			return answered(t, srv, `{"text": "hello"}`, "x-api-key", key).status
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
	judge := newSlow()
	s := serve(t, judged(judge), server.Config{Keys: []server.Key{p, h}, Results: newResults()})
	if r := s.post("/v1/score", `{"text": "maybe"}`, "x-api-key", hasty).result(t); !r.Judge.Pending {
		t.Errorf("%+v", r.Judge)
	}
	close(judge.answer)
	if r := s.post("/v1/score", `{"text": "maybe"}`, "x-api-key", patient).result(t); r.Judge.Pending || len(r.Judge.Verdicts) != 1 {
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
		line + " rate=fast":             `"fast" is no number of texts a second`,
		line + " rate=0":                `"0" is no number of texts a second`,
		line + " burst=0":               `"0" is no number of texts`,
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
	_, err := server.New(toxscreen.New(words), server.Config{JudgeWait: map[string]time.Duration{"nothing": 1}})
	if err == nil || !strings.Contains(err.Error(), `no API "nothing"`) {
		t.Error(err)
	}
}
