package server_test

import (
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toxscreen/toxscreen/judge"
	"github.com/toxscreen/toxscreen/screen"
	"github.com/toxscreen/toxscreen/server"
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
	log := &logged{}
	settings := screen.Settings{Judge: judge.Config{Model: "m", Host: address, Log: slog.New(slog.NewTextHandler(log, nil))}, JudgeCache: screen.NoCache}
	verdicts, err := server.OpenVerdicts(settings, 0)
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
	s := serve(t, judged(opened.Judge), server.Config{VerdictFormats: verdicts.Formats(), JudgeWait: map[string]time.Duration{"native": time.Minute}})
	for path, want := range map[string]int{
		"/v1/score": http.StatusOK, "/v1/score?format=mastra": http.StatusBadGateway, "/v1/score?format=nexa": http.StatusOK,
	} {
		r := s.post(path, `{"text": "maybe"}`)
		if r.status != want || !strings.Contains(r.body, "the judge's server does not answer") || strings.Contains(r.body, address) {
			t.Errorf("%s: %d %s", path, r.status, r.body)
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
	verdicts, err := server.OpenVerdicts(settings, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(verdicts.Close)
	for name, ask := range verdicts.Formats() {
		_, err := ask(t.Context(), "", "maybe", "")
		if err == nil || !strings.Contains(err.Error(), "model mine is asked as a guard model (shieldgemma), which ignores rubrics and gives no severity: use another model") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
