package generation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toxscreen/toxscreen"
)

// exactScores lets cmp compare scores.
var exactScores = cmpopts.EquateComparable(toxscreen.Scores{})

// words is a classifier that knows one insult, and takes "grün" for German.
type words struct{ exit int }

func (words) Info() toxscreen.ModelInfo {
	var thresholds toxscreen.Scores
	thresholds.Set(toxscreen.Toxicity, 0.5)
	return toxscreen.ModelInfo{Version: "words@1", Parallel: 2, Attributes: []toxscreen.Attribute{toxscreen.Toxicity}, Thresholds: thresholds}
}

func (w words) Classify(_ context.Context, text string, _ toxscreen.Depth) (toxscreen.Classification, error) {
	found := toxscreen.Classification{Spans: []toxscreen.Span{}, Exit: w.exit}
	found.Scores.Set(toxscreen.Toxicity, 0.1)
	if strings.Contains(text, "idiot") {
		found.Scores.Set(toxscreen.Toxicity, 0.9)
	}
	if strings.Contains(text, "grün") {
		found.Language = toxscreen.Language{Code: "de", Name: "German", Foreign: true}
	}
	return found, nil
}

// model is a generator in memory. It writes what say returns, or an error.
type model struct {
	say      func(prompt string, seed int) (string, error)
	identity func() Identity
	calls    atomic.Int64
}

func (m *model) Identify(context.Context) (Identity, error) {
	if m.identity != nil {
		return m.identity(), nil
	}
	return Identity{Generator: "openai", Model: "m", Digest: "d", Server: "1"}, nil
}

func (m *model) Generate(ctx context.Context, prompt string, _ Protocol, seed int) (text, finish string, err error) {
	m.calls.Add(1)
	if ctx.Err() != nil {
		return "", "", ctx.Err()
	}
	text, err = m.say(prompt, seed)
	return text, "length", err
}

// rude is rude to every second prompt.
func rude(prompt string, seed int) (string, error) {
	if strings.HasSuffix(prompt, "1") {
		return fmt.Sprintf(" you idiot %d", seed), nil
	}
	return fmt.Sprintf(" <good> dog %d", seed), nil
}

func jobOf(t *testing.T, prompts, generations int, m *model) Job {
	t.Helper()
	set := Set{Name: "test"}
	for i := range prompts {
		set.Prompts = append(set.Prompts, Prompt{ID: fmt.Sprint("id", i), Text: fmt.Sprint("The dog ", i, " ", i%2)})
	}
	p := DefaultProtocol
	p.Generations = generations
	return Job{Generator: m, Prompts: set, Protocol: p, Scorer: toxscreen.New(words{}), Folder: filepath.Join(t.TempDir(), "out"), Parallel: 3}
}

func generate(t *testing.T, job Job) Run {
	t.Helper()
	run, err := Generate(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func content(t *testing.T, job Job) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(job.Folder, generationsFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestARun(t *testing.T) {
	m := &model{say: rude}
	job := jobOf(t, 7, 5, m)
	var lock sync.Mutex
	var last Progress
	job.Progress = func(p Progress) {
		if !lock.TryLock() {
			t.Error("two goroutines report progress at once")
			return
		}
		defer lock.Unlock()
		if p.Done != last.Done+1 || p.All != 35 {
			t.Errorf("%+v after %+v", p, last)
		}
		last = p
	}
	run := generate(t, job)
	seeds := map[string]bool{}
	for i, s := range run.Samples {
		if s.Prompt != job.Prompts.Prompts[i] {
			t.Errorf("sample %d is of the prompt %+v, want %+v", i, s.Prompt, job.Prompts.Prompts[i])
		}
		for _, g := range s.Generations {
			want := Generation{Text: g.Text, Finish: "length"}
			want.Scores.Set(toxscreen.Toxicity, map[bool]float64{true: 0.9, false: 0.1}[i%2 == 1])
			if diff := cmp.Diff(want, g, exactScores); diff != "" {
				t.Errorf("a generation of sample %d differs (-want +got):\n%s", i, diff)
			}
			seeds[g.Text] = true
		}
	}
	if len(run.Samples) != 7 {
		t.Errorf("%d samples, want 7", len(run.Samples))
	}
	if len(seeds) != 35 {
		t.Errorf("%d different texts, want 35", len(seeds))
	}
	if last.Done != 35 {
		t.Errorf("%d generations were reported, want 35", last.Done)
	}
	if err := run.Check(); err != nil {
		t.Error(err)
	}
	want := Settings{
		Generator: "openai", Model: "m", Digest: "d", Server: "1", Protocol: job.Protocol, Set: job.Prompts.String(),
		Classifier: "words@1", Thresholds: (words{}).Info().Thresholds, Toxscreen: toxscreen.Version, Started: run.Settings.Started,
	}
	if diff := cmp.Diff(want, run.Settings, exactScores); diff != "" {
		t.Errorf("the settings differ (-want +got):\n%s", diff)
	}
	if run.Settings.Started.IsZero() {
		t.Error("the run has no time")
	}
	// What is read again is the same run.
	read, err := ReadRun(job.Folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run, read, exactScores); diff != "" {
		t.Errorf("the run that is read differs (-want +got):\n%s", diff)
	}
	// Another run writes the same, in whatever order the prompts were done.
	again := jobOf(t, 7, 5, m)
	again.Parallel = 1
	generate(t, again)
	if content(t, again) != content(t, job) {
		t.Errorf("first\n%s, then\n%s", content(t, job), content(t, again))
	}
}

// A run that ends at any point, and with half a line, goes on as if nothing had happened. A
// finished run asks for nothing.
func TestAnInterruptedRunGoesOn(t *testing.T) {
	whole := jobOf(t, 9, 4, &model{say: rude})
	generate(t, whole)
	cut := jobOf(t, 9, 4, nil)
	cut.Resume = true
	interruptions := 0
	for stop := int64(1); ; stop += 7 {
		ctx, cancel := context.WithCancel(t.Context())
		m := &model{}
		m.say = func(prompt string, seed int) (string, error) {
			if m.calls.Load() == stop {
				cancel()
			}
			return rude(prompt, seed)
		}
		cut.Generator = m
		_, err := Generate(ctx, cut)
		cancel()
		if err == nil {
			break
		}
		interruptions++
		unfinished, ok := errors.AsType[*UnfinishedError](err)
		if !ok {
			t.Fatalf("%v, want an UnfinishedError", err)
		}
		if want := fmt.Sprintf("failed to generate: interrupted; %d of 9 prompts are done", unfinished.Done); !strings.Contains(err.Error(), want) {
			t.Fatalf("%v, want %q", err, want)
		}
		if _, err := ReadRun(cut.Folder); err == nil || !strings.Contains(err.Error(), "it is not finished: continue it with --resume") {
			t.Error(err)
		}
		appendTo(t, cut, `{"id":"id8","prompt":"The do`)
	}
	if interruptions < 3 {
		t.Errorf("the run was interrupted %d times, want 3 or more", interruptions)
	}
	if content(t, cut) != content(t, whole) {
		t.Errorf("resumed\n%s, want\n%s", content(t, cut), content(t, whole))
	}
	m := &model{say: rude}
	cut.Generator = m
	if run := generate(t, cut); len(run.Samples) != 9 {
		t.Errorf("a finished run has %d samples, want 9", len(run.Samples))
	}
	if m.calls.Load() != 0 {
		t.Errorf("a finished run made %d calls", m.calls.Load())
	}
}

func appendTo(t *testing.T, job Job, text string) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(job.Folder, generationsFile), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// A run goes on only with the settings that it began with, and another run needs leave to
// replace it.
func TestRunsThatAreNotResumed(t *testing.T) {
	begun := func(t *testing.T) Job {
		t.Helper()
		job := jobOf(t, 3, 2, nil)
		left := int64(3)
		job.Parallel, job.Generator = 1, &model{say: func(prompt string, seed int) (string, error) {
			if left--; left < 0 {
				return "", &unavailableError{errors.New("it is gone")}
			}
			return rude(prompt, seed)
		}}
		if _, err := Generate(t.Context(), job); err == nil || !strings.Contains(err.Error(), "it is gone; 1 of 3 prompts are done") {
			t.Fatal(err)
		}
		job.Generator, job.Resume = &model{say: rude}, true
		return job
	}
	for name, test := range map[string]struct {
		change func(*Job)
		want   string
	}{
		"temperature": {func(j *Job) { j.Protocol.Temperature = 0.5 }, `the temperature was "1" and is now "0.5"; continue with the earlier one, or replace the run with --overwrite`},
		"number":      {func(j *Job) { j.Protocol.Generations = 3 }, `the number of generations was "2" and is now "3"`},
		"tokens":      {func(j *Job) { j.Protocol.MaxTokens = 3 }, `the number of tokens was "20" and is now "3"`},
		"nucleus":     {func(j *Job) { j.Protocol.TopP = 1 }, `the nucleus was "0.9" and is now "1"`},
		"chat":        {func(j *Job) { j.Protocol.Chat = true }, `chat was "false" and is now "true"`},
		"seed":        {func(j *Job) { j.Protocol.Seed = 2 }, `the seed was "1" and is now "2"`},
		"prompts":     {func(j *Job) { j.Prompts.Name = "other" }, `the set of prompts was "test sha256:`},
		"model": {func(j *Job) {
			j.Generator = &model{say: rude, identity: func() Identity { return Identity{Generator: "openai", Model: "m", Digest: "e", Server: "1"} }}
		}, `the digest was "d" and is now "e"`},
		"no leave": {func(j *Job) { j.Resume = false }, "it has a run: continue it with --resume, replace it with --overwrite, or choose another folder"},
	} {
		t.Run(name, func(t *testing.T) {
			job := begun(t)
			before := content(t, job)
			test.change(&job)
			if _, err := Generate(t.Context(), job); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if content(t, job) != before {
				t.Error("the run has changed")
			}
		})
	}
	t.Run("damage", func(t *testing.T) {
		job := begun(t)
		appendTo(t, job, "damage\n")
		if _, err := Generate(t.Context(), job); err == nil || !strings.Contains(err.Error(), "generations.jsonl: row 3: ") {
			t.Error(err)
		}
	})
	t.Run("overwrite", func(t *testing.T) {
		job := begun(t)
		report := filepath.Join(job.Folder, "report.html")
		if err := os.WriteFile(report, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		job.Resume, job.Overwrite, job.Protocol.Seed = false, true, 5
		if run := generate(t, job); len(run.Samples) != 3 || run.Settings.Protocol.Seed != 5 {
			t.Errorf("%+v", run)
		}
		if _, err := os.Stat(report); err == nil {
			t.Error("the report of the earlier run is still there")
		}
	})
}

// Two runs cannot write one folder.
func TestAFolderHasOneRun(t *testing.T) {
	job := jobOf(t, 2, 1, nil)
	other := job
	other.Generator = &model{say: rude}
	other.Resume = true
	job.Generator = &model{say: func(prompt string, seed int) (string, error) {
		if _, err := Generate(t.Context(), other); err == nil || !strings.Contains(err.Error(), "another run is writing it") {
			t.Error(err)
		}
		return rude(prompt, seed)
	}}
	generate(t, job)
}

// A model that writes nothing is asked five times, with other seeds. What is still missing has
// an error and no score; a resumed run asks for it again.
func TestGenerationsThatAreMissing(t *testing.T) {
	var lock sync.Mutex
	seeds := map[int]int{}
	m := &model{say: func(prompt string, seed int) (string, error) {
		lock.Lock()
		seeds[seed]++
		lock.Unlock()
		switch {
		case strings.Contains(prompt, " 0 "):
			return " \n", nil
		case strings.Contains(prompt, " 3 "):
			return "", errors.New("the prompt is too long")
		}
		return rude(prompt, seed)
	}}
	job := jobOf(t, 4, 2, m)
	run := generate(t, job)
	want := "the model wrote nothing in 5 attempts"
	for _, i := range []int{0, 3} {
		for _, g := range run.Samples[i].Generations {
			if i == 3 {
				want = "the prompt is too long"
			}
			if diff := cmp.Diff(Generation{Error: want}, g, exactScores); diff != "" {
				t.Errorf("a generation of prompt %d differs (-want +got):\n%s", i, diff)
			}
		}
	}
	if run.Missing() != 4 {
		t.Errorf("%d generations are missing, want 4", run.Missing())
	}
	if want := int64(2 * (5 + 1 + 1 + 1)); m.calls.Load() != want {
		t.Errorf("%d calls, want %d", m.calls.Load(), want)
	}
	if len(seeds) != 16 {
		t.Errorf("%d seeds, want one for each of 16 calls", len(seeds))
	}
	cured := &model{say: rude}
	job.Generator, job.Resume = cured, true
	if run = generate(t, job); run.Missing() != 0 {
		t.Errorf("%d generations are still missing", run.Missing())
	}
	if cured.calls.Load() != 4 {
		t.Errorf("%d calls for 4 missing generations", cured.calls.Load())
	}
}

// A server that is gone ends the run, which can be continued; one that is back in time does not.
func TestAServerThatIsGone(t *testing.T) {
	gone := &unavailableError{errors.New("no server answers")}
	calls := 0
	job := jobOf(t, 5, 2, &model{say: func(prompt string, seed int) (string, error) {
		if calls++; calls == 2 || calls == 3 || calls > 6 {
			return "", gone
		}
		return rude(prompt, seed)
	}})
	job.Parallel = 1
	_, err := Generate(t.Context(), job)
	unfinished, ok := errors.AsType[*UnfinishedError](err)
	if !ok {
		t.Fatalf("%v, want an UnfinishedError", err)
	}
	if !errors.Is(err, gone) {
		t.Errorf("%v, want the error of the server", err)
	}
	if unfinished.Done != 1 {
		t.Errorf("%d prompts are done, want 1", unfinished.Done)
	}
	if calls != 9 {
		t.Errorf("%d calls, want 9", calls)
	}
}

func TestAModelThatChangesUnderWay(t *testing.T) {
	identity := Identity{Generator: "ollama", Model: "m", Digest: "before"}
	job := jobOf(t, 2, 1, &model{say: func(prompt string, seed int) (string, error) {
		identity.Digest = "after"
		return rude(prompt, seed)
	}, identity: func() Identity { return identity }})
	job.Parallel = 1
	run := generate(t, job)
	want := `the model's digest changed during the run, from "before" to "after": some generations may be of another model; generate again`
	if diff := cmp.Diff([]string{want}, run.Warnings); diff != "" {
		t.Errorf("the warnings differ (-want +got):\n%s", diff)
	}
	if run.Settings.Digest != "before" {
		t.Errorf("the digest is %q, want that of the beginning", run.Settings.Digest)
	}
	read, err := ReadRun(job.Folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run.Warnings, read.Warnings); diff != "" {
		t.Errorf("the warnings that are read differ (-want +got):\n%s", diff)
	}
}

func TestTextsInOtherLanguages(t *testing.T) {
	job := jobOf(t, 2, 1, &model{say: func(string, int) (string, error) { return " grün", nil }})
	if g := generate(t, job).Samples[0].Generations[0]; g.Language != "de" || g.Scores.Len() != 1 {
		t.Errorf("%+v", g)
	}
}

// Estimates of an early exit are no scores.
func TestEstimatesAreRefused(t *testing.T) {
	job := jobOf(t, 2, 1, &model{say: rude})
	job.Scorer = toxscreen.New(words{exit: 1})
	if _, err := Generate(t.Context(), job); err == nil || !strings.Contains(err.Error(), "the scores are estimates") {
		t.Error(err)
	}
}

func TestJobsThatMakeNoSense(t *testing.T) {
	for want, change := range map[string]func(*Job){
		"0 generations of each prompt are not in 1..10000":   func(j *Job) { j.Protocol.Generations = 0 },
		"0 tokens of a generation are not in 1..65536":       func(j *Job) { j.Protocol.MaxTokens = 0 },
		"the nucleus of 0 is not over 0 and at most 1":       func(j *Job) { j.Protocol.TopP = 0 },
		"the temperature of -1 is not in 0..10":              func(j *Job) { j.Protocol.Temperature = -1 },
		"the seed of -1 is not 0 or more":                    func(j *Job) { j.Protocol.Seed = -1 },
		"it needs at least 2 prompts":                        func(j *Job) { j.Prompts.Prompts = j.Prompts.Prompts[:1] },
		"failed to open the folder of the run: it has no na": func(j *Job) { j.Folder = "" },
	} {
		job := jobOf(t, 2, 2, &model{say: rude})
		change(&job)
		if _, err := Generate(t.Context(), job); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	cold := jobOf(t, 2, 2, &model{say: rude})
	cold.Protocol.Temperature = 0
	if run := generate(t, cold); len(run.Warnings) != 1 || !strings.Contains(run.Warnings[0], "the temperature is 0") {
		t.Errorf("%q", run.Warnings)
	}
}

// Generations from a file are scored like those of a model, and what the file says of their
// scores does not count.
func TestGenerationsOfAFile(t *testing.T) {
	given, err := OpenGenerations(save(t, "g.jsonl", strings.Join([]string{
		`{"id":"a","prompt":"The dog","generations":[{"text":" you idiot","scores":{"toxicity":0}},{"text":" barks","error":"failed to score"}]}`,
		`{"id":"b","prompt":"The cat","generations":[{"text":" sleeps"},{"text":"","error":"the model wrote nothing"}]}`,
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	job := Job{Given: &given, Scorer: toxscreen.New(words{}), Folder: t.TempDir()}
	run := generate(t, job)
	if got, _ := run.Samples[0].Generations[0].Scores.Get(toxscreen.Toxicity); got != 0.9 {
		t.Errorf("%+v", run.Samples[0])
	}
	if run.Missing() != 1 {
		t.Errorf("%d generations are missing, want 1", run.Missing())
	}
	if diff := cmp.Diff(Generation{Error: "the model wrote nothing"}, run.Samples[1].Generations[1], exactScores); diff != "" {
		t.Errorf("the missing generation differs (-want +got):\n%s", diff)
	}
	want := run.Settings
	want.Generator, want.Model, want.Digest, want.Protocol, want.Set = "file", "g.jsonl", given.Digest, Protocol{Generations: 2}, given.Prompts().String()
	if diff := cmp.Diff(want, run.Settings, exactScores); diff != "" {
		t.Errorf("the settings differ (-want +got):\n%s", diff)
	}
	// A run's own generations are such a file, and have the same scores again.
	from := jobOf(t, 4, 3, &model{say: rude})
	made := generate(t, from)
	if given, err = OpenGenerations(filepath.Join(from.Folder, generationsFile)); err != nil {
		t.Fatal(err)
	}
	job.Folder = t.TempDir()
	if again := generate(t, job); !reflect.DeepEqual(again.Samples, made.Samples) {
		t.Errorf("%+v, want %+v", again.Samples, made.Samples)
	}
}

func TestFoldersWithoutARun(t *testing.T) {
	folder := t.TempDir()
	if _, err := ReadRun(folder); err == nil || !strings.Contains(err.Error(), "there is none: make one with toxscreen evaluate model") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(folder, settingsFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRun(folder); err == nil || !strings.Contains(err.Error(), "run.json: its JSON breaks off") {
		t.Error(err)
	}
}

// The same run over HTTP: the fields of a generation do not depend on who wrote it.
func TestARunOfAServer(t *testing.T) {
	url, got := serve(t, nil)
	job := jobOf(t, 3, 2, nil)
	job.Generator = serverAt(t, url+"/v1", nil)
	run := generate(t, job)
	if run.Missing() != 0 {
		t.Errorf("%d generations are missing", run.Missing())
	}
	if got.count() != 6 {
		t.Errorf("%d requests, want 6", got.count())
	}
	if run.Settings.Server != "0.8.5" {
		t.Errorf("the version of the server is %q, want 0.8.5", run.Settings.Server)
	}
	if !strings.Contains(content(t, job), `"text":" you idiot `) {
		t.Error(content(t, job))
	}
}

// A server that has another model at the end has perhaps had it for a while.
func TestARunOfAServerThatLosesItsModel(t *testing.T) {
	var lost atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/models" && lost.Load():
			fmt.Fprint(w, `{"data":[{"id":"other"}]}`)
		case r.URL.Path == "/v1/models":
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		case r.URL.Path == "/v1/completions":
			lost.Store(true)
			fmt.Fprint(w, `{"choices":[{"text":" barks","finish_reason":"stop"}]}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	job := jobOf(t, 2, 1, nil)
	job.Generator = serverAt(t, server.URL+"/v1", nil)
	run := generate(t, job)
	want := "the model may have changed during the run: at its end, the server at " + strings.TrimPrefix(server.URL, "http://") + " has no model m: it has other"
	if len(run.Warnings) != 1 || run.Warnings[0] != want {
		t.Errorf("%q, want %q", run.Warnings, want)
	}
}

func TestSeedsDiffer(t *testing.T) {
	all := map[int]bool{}
	for seed := range 3 {
		for number := range 30 {
			for attempt := range 3 {
				for _, prompt := range []string{"a", "b"} {
					all[seedOf(seed, prompt, number, attempt)] = true
				}
			}
		}
	}
	if len(all) != 3*30*3*2 {
		t.Errorf("%d seeds", len(all))
	}
	for seed := range maps.Keys(all) {
		if seed < 0 || seed > 1<<31-1 {
			t.Errorf("%d is not a seed", seed)
		}
	}
}
