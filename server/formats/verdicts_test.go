package formats_test

import (
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/screen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/formats"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// Clients learn that the judge does not answer, in every format, but not where it is.
// The log says where.
func TestOnlyTheLogHasTheAddressOfTheJudge(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close() // nobody answers there now
	log := &servertest.Logged{}
	settings := screen.Settings{Judge: judge.Config{Model: "m", Host: address, Log: slog.New(slog.NewTextHandler(log, nil))}, JudgeCache: screen.NoCache}
	verdicts, err := formats.OpenVerdicts(settings, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(verdicts.Close)
	settings.Judge.Context = verdicts.Context()
	opened, err := screen.OpenJudge(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	s := servertest.Serve(t, servertest.Judged(opened.Judge.Judge), server.Config{Formats: formats.All(formats.Config{Verdicts: verdicts}), JudgeWait: map[string]time.Duration{"native": time.Minute}})
	for path, want := range map[string]int{
		"/v1/score": http.StatusOK, "/v1/score?format=mastra": http.StatusBadGateway, "/v1/score?format=nexa": http.StatusOK,
	} {
		r := s.Post(path, `{"text": "maybe"}`)
		if r.Status != want || !strings.Contains(r.Body, "the judge's server does not answer") || strings.Contains(r.Body, address) {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
	}
	if !strings.Contains(log.String(), "no server answers at "+address) {
		t.Errorf("the log is %s", log)
	}
	if strings.Contains(log.String(), "maybe") {
		t.Errorf("the log has a text: %s", log)
	}
}

// A guard model gives no severity, which these formats need. It is refused before the
// server is asked.
func TestAGuardModelCannotGradeForTheFormats(t *testing.T) {
	settings := screen.Settings{Judge: judge.Config{Model: "mine", Dialect: "shieldgemma", Host: "127.0.0.1:1"}, JudgeCache: screen.NoCache}
	verdicts, err := formats.OpenVerdicts(settings, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(verdicts.Close)
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{Formats: formats.All(formats.Config{Verdicts: verdicts})})
	for _, name := range []string{"mastra", "nexa"} {
		r := s.Post("/v1/score?format="+name, `{"text": "maybe"}`)
		if r.Code(t) != "not_judged" {
			t.Errorf("%s: %s", name, r.Text())
		}
		if !strings.Contains(r.Body, "model mine is asked as a guard model (shieldgemma), which ignores rubrics and gives no severity: use another model") {
			t.Errorf("%s: %s", name, r.Text())
		}
	}
}

// Formats that are a verdict exist without a judge, too, and say that there is none.
func TestWithoutAJudgeThereAreNoVerdicts(t *testing.T) {
	s := servertest.Serve(t, toxscreen.New(servertest.Words), server.Config{})
	for _, name := range []string{"mastra", "nexa"} {
		r := s.Post("/v1/score?format="+name, `{"text": "so", "input": "how?"}`)
		if r.Code(t) != "unsupported" {
			t.Errorf("%s: %s", name, r.Text())
		}
		if !strings.Contains(r.Body, "the format "+name+" needs a judge, and this server has none") {
			t.Errorf("%s: %s", name, r.Text())
		}
	}
	if r := s.Post("/v1/score", `{"text": "so", "input": "how?"}`); !strings.Contains(r.Body, "input is only for the formats mastra and nexa") {
		t.Error(r.Text())
	}
}
