//go:build slow

package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/internal/store"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/pii"
	"github.com/toxscreen/toxscreen/screen"
	"github.com/toxscreen/toxscreen/server"
	"github.com/toxscreen/toxscreen/server/servertest"
)

// These tests use the page like people do, in a real Chromium, on a real server with
// the default model. `make chromium` installs the requirements. `go test -tags slow
// -artifacts -outputdir DIR ./server/page` stores screenshots.

const (
	insult   = "You are a stupid idiot, and so is your edit."
	friendly = "Thank you, that was a great help."
	foreign  = "Ich verstehe das alles nicht so richtig, aber das macht gar nichts, finde ich jedenfalls heute."
	// example is the text that the page opens with.
	example = "Thanks for looking into this. But you are an 1d10t, and so is everybody who approved it. See you on Monday."
)

// browser is a running browser whose contexts are tabs.
type browser struct {
	ctx context.Context
	end context.CancelFunc
}

// chromium is the browser of all tests.
var chromium browser

func TestMain(m *testing.M) {
	var err error
	if chromium, err = startChromium(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	chromium.end()
	os.Exit(code)
}

func startChromium() (browser, error) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		return browser{}, fmt.Errorf("failed to find chromium: run `make chromium`, or put chromium on the PATH: %w", err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(allocator)
	if err := chromedp.Do(ctx); err != nil {
		end()
		return browser{}, fmt.Errorf("failed to start %s: %w", program, err)
	}
	return browser{ctx, end}, nil
}

var openModel = sync.OnceValues(func() (*models.Model, error) { return models.OpenDefault(models.Options{}) })

// site is the server of a test's page. Requests that front handles do not reach the
// real server.
type site struct {
	*httptest.Server
	base     string // base path
	screener *toxscreen.Screener
	mu       sync.Mutex
	front    func(w http.ResponseWriter, r *http.Request) (handled bool)
	requests []string // method and path, without the files of the page
	urls     []string // URLs and referrers of all requests
}

func newSite(t *testing.T, options ...toxscreen.Option) *site {
	t.Helper()
	return newSiteWith(t, server.Config{Finder: newFinder(t)}, options...)
}

// newFinder returns a finder of what has a form.
func newFinder(t *testing.T) *pii.Finder {
	t.Helper()
	finder, err := pii.New(pii.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return finder
}

func newSiteWith(t *testing.T, c server.Config, options ...toxscreen.Option) *site {
	t.Helper()
	model, err := openModel()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{screener: toxscreen.New(model, options...)}
	if c.External != nil {
		s.base = c.External.Path
	}
	server, err := servertest.New(s.screener, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		front := s.front
		s.urls = append(s.urls, r.RequestURI+" "+r.Referer())
		if strings.HasPrefix(r.URL.Path, s.base+"/v1") {
			s.requests = append(s.requests, r.Method+" "+r.URL.Path)
		}
		s.mu.Unlock()
		if front == nil || !front(w, r) {
			server.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) handle(front func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.front = front
}

// forget drops the requests so far.
func (s *site) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

func (s *site) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// requested returns the URLs and referrers of all requests.
func (s *site) requested() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.urls)
}

// score returns the result that the page should show.
func (s *site) score(t *testing.T, text string) toxscreen.Result {
	t.Helper()
	result, err := s.screener.Score(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// tab is a browser tab with its own storage.
type tab struct {
	*testing.T
	ctx context.Context
}

// open opens the page and waits until it has scored its example. Requests up to then
// are not seen.
func (s *site) open(t *testing.T) tab {
	t.Helper()
	b := s.openAt(t, "")
	b.waitForExample()
	s.forget()
	return b
}

// openAt opens the page with a fragment.
func (s *site) openAt(t *testing.T, fragment string) tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(stop)
	b := tab{t, ctx}
	b.do(chromedp.Steps())
	// An error in the script or against the policy fails the test.
	console := chromedp.Console(ctx)
	go func() {
		for message, err := range console {
			if err != nil {
				return
			}
			if message.Type == chromedp.ConsoleException || strings.Contains(message.Text, "Content Security Policy") || strings.Contains(message.Text, "TrustedHTML") {
				t.Errorf("the console says: %s", message.Text)
			}
		}
	}()
	b.do(chromedp.Navigate(s.URL+s.base+"/"+fragment), chromedp.WaitVisible(chromedp.ID("text")))
	b.wait(`document.querySelector("#request").textContent`)
	return b
}

func (b tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// eval returns the value of an expression in the page.
func eval[T any](b tab, expression string, args ...any) T {
	b.Helper()
	for i, arg := range args {
		literal, err := json.Marshal(arg)
		if err != nil {
			b.Fatal(err)
		}
		expression = strings.ReplaceAll(expression, fmt.Sprintf("$%d", i+1), string(literal))
	}
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.Fatalf("%s: %v", expression, err)
	}
	return value
}

// wait waits until an expression is true in the page.
func (b tab) wait(expression string, args ...any) {
	b.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if eval[bool](b, "Promise.resolve("+expression+").then(Boolean)", args...) {
			return
		}
	}
	b.picture("failure")
	b.Fatalf("this never became true: %s; the page says:\n%s", fmt.Sprintf(strings.ReplaceAll(expression, "$1", "%[1]q"), args...), eval[string](b, "document.body.innerText"))
}

// text returns the text of an element with collapsed white space.
func (b tab) text(selector string) string {
	b.Helper()
	return strings.Join(strings.Fields(eval[string](b, "document.querySelector($1).innerText", selector)), " ")
}

// says waits until the text of an element contains part.
func (b tab) says(selector, part string) {
	b.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(b.text(selector), part) {
			return
		}
	}
	b.picture("failure")
	b.Fatalf("%s never says %q, but %q", selector, part, b.text(selector))
}

// waitForExample waits until the page has scored the text that it opens with. Before, it
// still grows, and a click may land beside what it aims at.
func (b tab) waitForExample() {
	b.Helper()
	b.wait(`document.querySelector("#marked").textContent === $1 || !document.querySelector("#problem").hidden`, example)
}

// reload loads the page again.
func (b tab) reload() {
	b.Helper()
	b.do(chromedp.Reload())
	b.waitForExample()
}

func (b tab) shown(selector string) bool {
	b.Helper()
	return eval[bool](b, "document.querySelector($1).checkVisibility()", selector)
}

// press types keys into the focused element.
func (b tab) press(keys string, modifiers ...chromedp.Modifier) {
	b.Helper()
	b.do(chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// write puts a text into the field at once, like pasting, has it scored without a
// pause and waits for the score.
func (b tab) write(text string) {
	b.Helper()
	b.paste(text)
	b.press(kb.Enter, chromedp.ModifierCtrl)
	b.wait(`!document.querySelector("#marked-section").hidden && document.querySelector("#marked").textContent === $1`, text)
}

func (b tab) paste(text string) {
	b.Helper()
	b.do(chromedp.Focus(chromedp.ID("text")))
	eval[bool](b, `document.querySelector("#text").select() ?? true`)
	_, err := chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: text})
	if err != nil {
		b.Fatal(err)
	}
}

// click presses the mouse on an element. A press goes to a place on the screen, so the
// element is first brought into view, and must have stayed where it is for three frames.
func (b tab) click(selector string) {
	b.Helper()
	b.wait(`(async () => {
		const element = document.querySelector($1);
		element.scrollIntoView({ block: "center", behavior: "instant" });
		const place = () => JSON.stringify(element.getBoundingClientRect());
		const before = place();
		for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
		return place() === before;
	})()`, selector)
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// picture stores a screenshot of the page if artifacts are on.
func (b tab) picture(name string) {
	b.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.ArtifactDir(), name+".png"), png, 0o644); err != nil {
		b.Fatal(err)
	}
}

// look is an appearance of the page.
type look struct {
	name          string
	width, height int64
	features      []*emulation.MediaFeature
}

var looks = []look{
	{"light", 1280, 900, []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}},
	{"dark", 1280, 900, []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}, {Name: "prefers-reduced-motion", Value: "reduce"}}},
	{"phone", 320, 640, []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}},
	{"dark phone", 320, 640, []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}},
	{"forced colours", 1280, 900, []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}},
}

func (b tab) as(l look) {
	b.Helper()
	b.do(chromedp.EmulateViewport(l.width, l.height))
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: l.features}); err != nil {
		b.Fatal(err)
	}
}

/* Scores and spans. */

// TestScoresAsOneTypes: each pause gives a score, not each key, and the page shows
// the scores of the library.
func TestScoresAsOneTypes(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	b.click("#clear")
	b.press(insult)
	b.wait(`document.querySelector("#marked").textContent === $1`, insult)
	if n := len(s.seen()); n > len(insult)/2 {
		t.Errorf("%d requests for %d keys", n, len(insult))
	}
	want := s.score(t, insult)
	if got := b.text("#summary"); got != fmt.Sprintf("%.2f Flagged for insult and toxicity About %.0f of 100 people would call this toxic. Severity: %s.", want.Score, 100*want.Score, want.Severity) {
		t.Errorf("the summary says %q", got)
	}
	rows := eval[[]string](b, `[...document.querySelectorAll("#attributes li")].map(row => row.innerText.split(/\s+/).join(" ").trim())`)
	for i, a := range toxscreen.Attributes() {
		measured := want.Attributes[a]
		row := fmt.Sprintf("%s %.2f", strings.ReplaceAll(a.String(), "_", " "), measured.Score)
		if measured.Flagged {
			row += " flagged"
		}
		if rows[i] != row {
			t.Errorf("row %d is %q, want %q", i, rows[i], row)
		}
		b.wait(fmt.Sprintf(`(row => Math.abs(row.querySelector(".fill").offsetWidth / row.querySelector(".track").offsetWidth - %g) < 0.01)(document.querySelectorAll("#attributes li")[%d])`, float64(measured.Score), i))
	}
	b.says("#announcement", fmt.Sprintf("Score %.2f. Flagged for insult and toxicity. Severity: %s.", want.Score, want.Severity))
	if role := eval[string](b, `document.querySelector("#announcement").role`); role != "status" {
		t.Errorf("the announcement has the role %q, want a polite one", role)
	}
	b.says("#versions", want.Versions.Model)
	b.picture("scored")

	b.write(foreign)
	b.says("#warnings", "the text seems to be German")
	b.says("#announcement", "Warning: the text seems to be German")

	b.click("#clear")
	b.wait(`document.querySelector("#marked-section").hidden && document.querySelector("#score").textContent === "–"`)
}

// TestHeadline: the headline says what is flagged, the general attribute last, or that
// nothing is, and beside other texts that of each.
func TestHeadline(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	b.write(friendly)
	b.says("#decision", "Not flagged")
	b.says("#announcement", "Not flagged. Severity: none.")
	for _, flagged := range []string{"threat", "profanity", "toxicity"} {
		b.do(chromedp.Focus(chromedp.CSS(`[aria-label="Threshold of ` + flagged + `"]`)))
		b.press(kb.Home)
	}
	b.says("#decision", "Flagged for profanity, threat and toxicity")
	b.says("#announcement", "Flagged for profanity, threat and toxicity.")
	b.click("#reset")
	b.says("#decision", "Not flagged")
	b.click("#add")
	b.write(insult)
	b.says("#texts > li:nth-child(1) .said", fmt.Sprintf("%.2f Not flagged", s.score(t, friendly).Score))
	b.says("#texts > li:nth-child(2) .said", fmt.Sprintf("%.2f Flagged for insult and toxicity", s.score(t, insult).Score))
	b.click("#clear")
	b.says("#summary", "No score Write a text or choose an example")
}

// TestSpans: the marks are the spans of the library for every kind of text, and
// pointing at a mark shows its numbers.
func TestSpans(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	for _, text := range []string{
		insult,
		"👩‍👩‍👧 Ünïcödé first: you are a stupid idiot 😀, and you are an idiot.",
		"Line one.\nYou stupid idiot!\n\n  indented idiot  ",
	} {
		b.write(text)
		var want []string
		for _, span := range s.score(t, text).Spans {
			want = append(want, text[span.Start:span.End])
		}
		got := eval[[]string](b, `[...document.querySelectorAll("#marked mark")].map(m => m.textContent)`)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%q: marked are %q, want %q", text, got, want)
		}
	}

	b.write(insult)
	span := s.score(t, insult).Spans[0]
	toxicity, _ := span.Attributes.Get(toxscreen.Toxicity)
	insulting, _ := span.Attributes.Get(toxscreen.Insult)
	numbers := fmt.Sprintf("toxicity %.2f insult %.2f", toxicity, insulting)
	if b.shown("#tip") {
		t.Error("there are numbers without pointing at a mark")
	}
	b.do(chromedp.ScrollIntoView(chromedp.CSS("mark")))
	at := eval[[]float64](b, `(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector("mark").getBoundingClientRect())`)
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
	b.says("#tip", numbers)
	b.press(kb.Escape)
	b.wait(`document.querySelector("#tip").hidden`)
	b.do(chromedp.Focus(chromedp.CSS("mark")))
	b.says("#tip", numbers)
	if eval[string](b, `document.activeElement.getAttribute("aria-describedby")`) != "tip" {
		t.Error("screen readers do not get the numbers")
	}
	b.picture("numbers of a span")

	b.write("What an idiot he is, and what a moron you are.")
	if n := eval[int](b, `document.querySelectorAll("mark").length`); n < 2 {
		t.Fatalf("%d marks", n)
	}
	b.do(chromedp.Focus(chromedp.CSS("mark")))
	b.press(kb.ArrowRight)
	b.wait(`document.activeElement === document.querySelectorAll("mark")[1] && !document.querySelector("#tip").hidden`)
	b.press(kb.ArrowLeft)
	b.wait(`document.activeElement === document.querySelectorAll("mark")[0]`)
}

// TestPassages: of a long text, the page lists the passages of the library, each from the
// sentence with its first marked word, or in a long sentence from that word, and without
// marked words from its worst sentence. Pressing one selects all of it in the text, and
// shows where it begins here. A short text has no list.
func TestPassages(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	b.write(insult)
	if b.shown("#passages-section") {
		t.Error("a short text has a list of passages")
	}
	kind := strings.Repeat(friendly+" 😀 We all like the garden. ", 60)
	endless := "and then we all went on to the next village by the road along the river, "
	threat := "I will kill you, you idiot. "
	text := kind + strings.Repeat(endless, 8) + "and I will kill you, you idiot, " + strings.Repeat(endless, 8) + ". " + kind + threat + kind + strings.Repeat(insult+" ", 10) + kind
	b.write(text)
	result := s.score(t, text)
	if len(result.Passages) < 3 {
		t.Fatalf("the library has the passages %v, want several", result.Passages)
	}
	if n := eval[int](b, `document.querySelectorAll("#passages li").length`); n != len(result.Passages) || !b.shown("#passages-section") {
		t.Errorf("%d passages, want %d", n, len(result.Passages))
	}
	var begun []string
	for i, p := range result.Passages {
		passage := text[p.Start:p.End]
		button := fmt.Sprintf("#passages li:nth-child(%d) button", i+1)
		shown := eval[string](b, "document.querySelector($1).textContent", button)
		rest, ok := strings.CutPrefix(shown, fmt.Sprintf("%.2f… ", p.Score))
		if !ok || !strings.HasSuffix(passage, rest) {
			t.Errorf("passage %d is %q, want %.2f, … and the end of %q", i, shown, p.Score, passage)
		}
		begun = append(begun, rest[:len("I will kill you")])
		b.click(button)
		b.wait(`getSelection().toString() === $1`, passage)
		// The lines of the selection that are visible have the words that caused it.
		b.wait(`(all => {
			const words = new Range();
			const nodes = document.createTreeWalker(document.querySelector("#marked"), NodeFilter.SHOW_TEXT);
			let from = document.querySelector("#marked").textContent.indexOf($1);
			while (nodes.nextNode() && from >= nodes.currentNode.length) from -= nodes.currentNode.length;
			words.setStart(nodes.currentNode, from);
			words.setEnd(nodes.currentNode, from + 1);
			const {top, bottom} = words.getBoundingClientRect();
			return top >= all.top && bottom <= all.bottom;
		})(document.querySelector("#marked").getBoundingClientRect())`, rest)
	}
	b.picture("passages")
	slices.Sort(begun)
	if want := []string{"I will kill you", "You are a stupi", "kill you, you i"}; !slices.Equal(begun, want) {
		t.Errorf("the passages begin with %q, want %q", begun, want)
	}
	if bold := eval[[]string](b, `[...document.querySelectorAll("#passages b")].map(e => e.textContent)`); !slices.Contains(bold, "kill you") {
		t.Errorf("bold in the passages is %q", bold)
	}
	b.click("#clear")
	b.wait(`document.querySelector("#passages-section").hidden`)
}

// TestOpensWithAnExample: the page says what toxscreen is, and its example is scored
// already. Nothing of it is stored, and a judge is not asked about it.
func TestOpensWithAnExample(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	if about := b.text("header"); !strings.Contains(about, "toxscreen scores text in twenty languages for toxicity") {
		t.Errorf("the page begins with %q", about)
	}
	if got := eval[string](b, `document.querySelector("#text").value`); got != example {
		t.Errorf("the text is %q", got)
	}
	if got := b.text("#score"); got != fmt.Sprintf("%.2f", s.score(t, example).Score) {
		t.Errorf("the score is %s", got)
	}
	b.picture("opened")
	if n := eval[int](b, `document.querySelectorAll("#history li").length`); n > 0 {
		t.Errorf("%d texts are in the history", n)
	}
	judge := &verdicts{let: make(chan struct{})}
	close(judge.let)
	b = judged(t, judge).open(t)
	b.says("#judge", "The judge is not asked about a text that was only opened. Press Ctrl+Enter in the text to ask it.")
	if asked := judge.texts(); len(asked) > 0 {
		t.Errorf("the judge was asked about %q", asked)
	}
	b.do(chromedp.Focus(chromedp.ID("text")))
	b.press(kb.Enter, chromedp.ModifierCtrl)
	b.says("#judge", "The judge was asked.")
	if asked := judge.texts(); !slices.Equal(asked, []string{example}) {
		t.Errorf("the judge was asked about %q", asked)
	}
}

// TestReadings: the page shows which words were read as what, and names characters that
// only look like others.
func TestReadings(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	b.says("#readings", "1d10t → is read as idiot")
	const changed = "What a m0r0n"
	b.write(changed)
	b.says("#readings-hint", fmt.Sprintf("The classifier gives the text %.2f as it is written.", *s.score(t, changed).Attributes[toxscreen.Toxicity].Plain))
	b.write("😀 You f*cking 1d10t, you \u0456d\u0456\u043et, you 1d10t!")
	lines := eval[[]string](b, `[...document.querySelectorAll("#readings li")].map(l => l.innerText.replace(/\s+/g, " ").replace("is read as ", "").trim())`)
	if want := []string{"f*cking → fucking", "1d10t → idiot 2 times", "\u0456d\u0456\u043et (U+0456, U+043E) → idiot"}; !slices.Equal(lines, want) {
		t.Errorf("the readings are %q, want %q", lines, want)
	}
	b.picture("readings")
	b.write(friendly)
	if b.shown("#readings-part") {
		t.Error("a text without disguise has readings")
	}
}

// TestSentences: each sentence has its own score, as a number and as a background that the
// legend explains, with the marked words inside. One bad sentence in a long text is found.
func TestSentences(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	// check compares the sentences with the scores of the library.
	check := func(text string) (hot int) {
		t.Helper()
		b.write(text)
		var want []string
		for _, sentence := range server.SplitSentences(text) {
			score := fmt.Sprintf("%.2f", s.score(t, sentence).Score)
			p, _ := strconv.ParseFloat(score, 64)
			if p >= 0.2 {
				want = append(want, fmt.Sprintf("%s %s %d", strings.TrimSpace(sentence), score, int(math.Floor(p*5+1e-9))))
			}
		}
		got := eval[[]string](b, `[...document.querySelectorAll(".sentence")].map(e => e.textContent + " " + e.dataset.score + " " + e.dataset.heat)`)
		if !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%q: the sentences are %q, want %q", text, got, want)
		}
		return len(want)
	}
	if n := check("😀 Ünïcödé first.\n\n  You are a stupid idiot. That is a silly idea!  Thank you, that was a great help."); n < 1 {
		t.Error("no sentence has a background")
	}
	colours := eval[[]string](b, `[...document.querySelectorAll("#heats .swatch")].map(e => getComputedStyle(e).backgroundColor)`)
	slices.Sort(colours)
	if len(slices.Compact(colours)) != 4 {
		t.Errorf("the backgrounds of the legend are %q", colours)
	}
	for _, part := range []string{"0.2 to 0.4", "0.4 to 0.6", "0.6 to 0.8", "0.8 and over"} {
		b.says("#legend", part)
	}
	if !eval[bool](b, `(e => getComputedStyle(e).backgroundColor === getComputedStyle(document.querySelectorAll("#heats .swatch")[e.dataset.heat - 1]).backgroundColor &&
		getComputedStyle(e, "::after").content === JSON.stringify(e.dataset.score))(document.querySelector(".sentence"))`) {
		t.Error("a sentence has neither the background of the legend nor its number")
	}
	if marked := eval[string](b, `document.querySelector(".sentence mark").textContent`); marked != "stupid idiot" {
		t.Errorf("marked in the sentence is %q", marked)
	}

	kind := strings.Repeat("We walked to the lake in the morning. She brought bread for the ducks. ", 15)
	check(kind + insult + " " + kind)
	if n := eval[int](b, `document.querySelectorAll("#strip span").length`); n != 61 {
		t.Errorf("the strip has %d bars, want 61", n)
	}
	if highest := eval[int](b, `(bars => bars.indexOf(bars.reduce((a, b) => b.offsetHeight > a.offsetHeight ? b : a)))([...document.querySelectorAll("#strip span")])`); highest != 30 {
		t.Errorf("bar %d is the highest, want 30", highest)
	}
	b.says("#highest", fmt.Sprintf("Show the highest: %.2f", s.score(t, insult+" ").Score))
	b.click("#highest")
	b.wait(`getSelection().toString().trim() === $1`, insult)
	b.wait(`((part, all) => part.top >= all.top - 1 && part.bottom < all.bottom)(getSelection().getRangeAt(0).getBoundingClientRect(), document.querySelector("#marked").getBoundingClientRect())`)
	b.picture("sentences")

	check(kind)
	b.says("#sentences-hint", "30 sentences, each scored by itself: none reaches 0.2.")
	check(friendly)
	if b.shown("#sentences") {
		t.Error("one sentence is compared with itself")
	}
}

// TestNotDecided: a text in a language that the model does not know has scores, but is
// called neither toxic nor clean.
func TestNotDecided(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	b.do(chromedp.Focus(chromedp.CSS(`[aria-label="Threshold of toxicity"]`)))
	b.press(kb.Home) // everything else would be flagged
	b.write(foreign)
	b.says("#summary", fmt.Sprintf("%.2f Not decided: the text seems to be German, which the model does not know The scores mean little.", s.score(t, foreign).Score))
	b.says("#announcement", "Not decided: the text seems to be German")
	if strings.Contains(b.text("#summary"), "Flagged") || strings.Contains(b.text("#attributes"), "flagged") {
		t.Error("a text that is not decided is flagged")
	}
	b.picture("not decided")
	b.click("#add")
	b.write(insult)
	b.says("#texts li:first-child .said", "Not decided: the text seems to be German")
}

/* Several texts. */

// TestPersonalData: the entities are those of the library, in the text and in a list; the
// text is masked and copied without another request.
func TestPersonalData(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	const text = "Zo\u00eb \U0001F600 <b>wrote</b> from zoe@example.com,\nher SSN is 856-45-6789."
	b.write(text)
	entities, err := newFinder(t).Find(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range entities {
		want = append(want, strings.ReplaceAll(string(e.Type), "_", " ")+": "+text[e.Start:e.End])
	}
	b.wait(`document.querySelector("#personal").textContent === $1`, text)
	if got := eval[[]string](b, `[...document.querySelectorAll("#personal .entity")].map(e => e.dataset.type + ": " + e.textContent)`); len(want) != 2 || !slices.Equal(got, want) {
		t.Errorf("marked are %q, want %q", got, want)
	}
	if got := eval[[]string](b, `[...document.querySelectorAll("#entities li")].map(li => li.querySelector(".type").textContent + ": " + li.querySelector("bdi").textContent)`); !slices.Equal(got, want) {
		t.Errorf("listed are %q, want %q", got, want)
	}
	b.says("#announcement", "Personal data: EMAIL ADDRESS, US SSN.")
	b.picture("personal data")

	s.forget()
	b.click("#mask")
	masked := "Zo\u00eb \U0001F600 <b>wrote</b> from <EMAIL_ADDRESS>,\nher SSN is <US_SSN>."
	b.wait(`document.querySelector("#personal").textContent === $1`, masked)
	eval[any](b, `Object.defineProperty(navigator, "clipboard", {configurable: true, value: {writeText: async (text) => { window.copied = text; }}}), null`)
	b.click("#copy-masked")
	b.says("#copy-masked", "Copied")
	if got := eval[string](b, `window.copied`); got != masked || len(s.seen()) != 0 {
		t.Errorf("copied is %q, after the requests %q", got, s.seen())
	}

	b.write(friendly)
	b.says("#marked-hint", "No personal data was found.")
	if b.shown("#personal-section") {
		t.Error("there is something to mask in a text without personal data")
	}
	b.write(text)
	b.wait(`!document.querySelector("#personal-section").hidden`)
	b.click("#clear")
	b.wait(`document.querySelector("#personal-section").hidden`)

	// A server that does not look for personal data is not asked to.
	without := newSiteWith(t, server.Config{}).open(t)
	if without.shown("#personal-section") || strings.Contains(without.text("#request"), "pii") || strings.Contains(without.text("#marked-hint"), "personal data") {
		t.Error("the page shows personal data that nobody looked for")
	}
}

// TestTextsAreCompared: texts are added, listed with the scores of the library, selected
// and removed.
func TestTextsAreCompared(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	if b.shown("#texts-section") {
		t.Error("one text is compared")
	}
	// rows waits until the list has the texts and their scores.
	rows := func(texts ...string) {
		t.Helper()
		var want []string
		for i, text := range texts {
			result := s.score(t, text)
			row := fmt.Sprintf("%d %s Remove %.2f Not flagged", i+1, text, result.Score)
			if result.Flagged {
				row = fmt.Sprintf("%d %s Remove %.2f Flagged for insult and toxicity", i+1, text, result.Score)
			}
			for _, a := range toxscreen.Attributes() {
				row += fmt.Sprintf(" %s %.2f", strings.ReplaceAll(a.String(), "_", " "), result.Attributes[a].Score)
			}
			want = append(want, row)
		}
		b.wait(`JSON.stringify([...document.querySelectorAll("#texts > li")].map(row => row.innerText.split(/\s+/).join(" ").trim())) === JSON.stringify($1)`, want)
	}
	current := func() string {
		t.Helper()
		return eval[string](b, `[...document.querySelectorAll("#texts > li")].map(row => row.querySelector(".choose").ariaCurrent === "true" ? "x" : "-").join("")`)
	}
	b.click("#add")
	if focused := eval[string](b, `document.activeElement.id + document.activeElement.value`); focused != "text" {
		t.Errorf("the focus is on %q, want an empty text", focused)
	}
	b.write(insult)
	rows(example, insult)
	width := eval[float64](b, `(row => row.querySelector(".fill").offsetWidth / row.querySelector(".track").offsetWidth)(document.querySelectorAll("#texts > li")[1])`)
	if math.Abs(width-float64(s.score(t, insult).Score)) > 0.01 {
		t.Errorf("the bar is %.2f of its track", width)
	}
	b.click("#add")
	b.paste(friendly) // and leave it before it is scored
	b.click("#texts > li:nth-child(1) .choose")
	b.wait(`document.querySelector("#marked").textContent === $1`, example)
	rows(example, insult, friendly)
	if got := current(); got != "x--" {
		t.Errorf("selected is %s", got)
	}
	b.picture("compared")

	b.do(chromedp.Focus(chromedp.CSS(`[aria-label="Threshold of toxicity"]`)))
	b.press(kb.Home)
	b.says("#texts > li:nth-child(3) .said", "Flagged for toxicity")
	b.click("#reset")

	b.click(`[aria-label="Remove text 1"]`)
	b.wait(`document.querySelector("#marked").textContent === $1`, insult)
	rows(insult, friendly)
	if focused := eval[string](b, `document.activeElement.ariaLabel`); focused != "Remove text 1" {
		t.Errorf("the focus is on %q after a text was removed", focused)
	}
	b.says("#announcement", "Text 1 was removed.")
	b.click("#texts > li:nth-child(2) .choose")
	b.click(`[aria-label="Remove text 1"]`)
	b.wait(`document.querySelector("#texts-section").hidden && document.querySelector("#marked").textContent === $1`, friendly)

	for range 9 {
		b.click("#add")
	}
	if n := eval[int](b, `document.querySelectorAll("#texts > li").length`); n != 10 || eval[bool](b, `!document.querySelector("#add").disabled`) {
		t.Errorf("%d texts can be compared", n)
	}
}

// TestAComparedTextIsRefused: the row of a text without a score says why, while the others
// have theirs.
func TestAComparedTextIsRefused(t *testing.T) {
	s := newSite(t, toxscreen.WithMaxBytes(200))
	b := s.openAt(t, "#text="+url.QueryEscape(insult)+"&text="+strings.Repeat("long%20", 50)+"&text="+url.QueryEscape(friendly))
	b.says("#texts > li:nth-child(2)", "Remove no score failed to score text: text too long: it has 250 bytes, the limit is 200")
	b.says("#texts > li:nth-child(3) .said", fmt.Sprintf("%.2f Not flagged", s.score(t, friendly).Score))
	if b.shown("#problem") {
		t.Errorf("the first text has a problem: %s", b.text("#problem"))
	}
	b.picture("refused beside others")

	// The score of another text does not remove the problem of this one.
	let := make(chan struct{})
	s.handle(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && r.ContentLength < 200 { // the other text
			select {
			case <-let:
			case <-time.After(20 * time.Second): // the test has failed
			}
		}
		return false
	})
	other := s.openAt(t, "#text="+strings.Repeat("long%20", 50)+"&text="+url.QueryEscape(friendly))
	other.says("#problem", "No new score: failed to score text: text too long")
	close(let)
	other.says("#texts > li:nth-child(2) .said", "Not flagged")
	if !other.shown("#problem") {
		t.Error("the problem of the text is gone")
	}
	b.do(chromedp.EmulateViewport(390, 900))
	if width := eval[int](b, `document.scrollingElement.scrollWidth`); width > 390 {
		t.Errorf("the page is %d pixels wide", width)
	}
}

/* Links. */

// TestLink: a link restores its texts, whatever is in them. They are in the fragment,
// which no request contains. Once the texts change, the address no longer has them.
func TestLink(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	eval[any](b, `Object.defineProperty(navigator, "clipboard", {configurable: true, value: {writeText: async (text) => { window.copied = text; }}}), null`)
	texts := []string{"It's 100 % \"odd\" & <b>#text=x&text=y</b>\n\n 😀+\u0456 (really).", insult}
	b.write(texts[0])
	b.click("#link")
	b.says("#link", "Copied")
	b.says("#link-hint", "The link has the text after its #, which browsers do not send to the server.")
	one := eval[string](b, `window.copied`)
	if !strings.HasPrefix(one, s.URL+"/#text=It%27s%20100") || strings.ContainsAny(one[len(one)-1:], ".)") {
		t.Errorf("the link is %s", one)
	}
	b.click("#add")
	b.write(texts[1])
	b.click("#link")
	b.says("#link-hint", "The link has the 2 texts after its #")
	two := eval[string](b, `window.copied`)

	for link, want := range map[string][]string{one: texts[:1], two: texts} {
		b := s.openAt(t, strings.TrimPrefix(link, s.URL+"/"))
		b.wait(`document.querySelector("#marked").textContent === $1`, want[0])
		if len(want) > 1 {
			b.wait(`document.querySelectorAll("#texts .track").length === 14`)
			b.click("#texts > li:nth-child(2) .choose")
			b.wait(`document.querySelector("#text").value === $1`, want[1])
		}
		if n := eval[int](b, `document.querySelectorAll("#history li").length`); n > 0 {
			t.Errorf("%d texts of a link are in the history", n)
		}
		b.paste(friendly)
		b.wait(`location.href === $1`, s.URL+"/")
	}
	for _, u := range s.requested() {
		if strings.Contains(u, "stupid") || strings.Contains(u, "odd") {
			t.Errorf("a request names a text: %s", u)
		}
	}

	// Whoever opens a link does not have its texts judged.
	judge := &verdicts{let: make(chan struct{})}
	close(judge.let)
	other := judged(t, judge).openAt(t, "#text=a%0D%0Ab&text=c")
	other.wait(`document.querySelectorAll("#texts .track").length === 14 && document.querySelector("#marked").textContent === "a\nb"`)
	other.click("#texts > li:nth-child(2) .choose")
	other.says("#judge", "The judge is not asked about a text that was only opened.")
	if asked := judge.texts(); len(asked) > 0 {
		t.Errorf("the judge was asked about %q", asked)
	}

	// Also in a page that is open, and by hand with a plus for a blank.
	eval[any](b, `location.hash = "text=thank+you%21", null`)
	b.wait(`document.querySelector("#marked").textContent === "thank you!" && document.querySelector("#texts-section").hidden`)
}

// TestLinksAreLimited: a link that is too long is neither made nor read, and of too many
// texts the first ones are shown. The page says so.
func TestLinksAreLimited(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	b.write(strings.Repeat("é ", 5000))
	b.click("#link")
	b.says("#link-hint", "No link: it would have 45,005 characters after the #, and the limit is 30,000.")
	if b.shown("#link-text") {
		t.Error("there is a link")
	}
	b.click("#clear")
	b.click("#link")
	b.says("#link-hint", "There is no text to link.")

	b = s.openAt(t, "#text="+strings.Repeat("a", 30_000))
	b.says("#link-hint", "The link is too long: it has 30,005 characters after the #, and the limit is 30,000.")
	b.wait(`document.querySelector("#marked").textContent === $1`, example)
	b = s.openAt(t, "#text=a"+strings.Repeat("&text=b", 10))
	b.says("#link-hint", "The link has 11 texts: only the first 10 are shown.")
	b.wait(`document.querySelectorAll("#texts .track").length === 70`)
	b = s.openAt(t, "#text=%ff&text=%")
	b.wait(`document.querySelectorAll("#texts .track").length === 14`)
}

// TestDocuments: the page links the OpenAPI description of its server, and documents on
// the project's site that exist.
func TestDocuments(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	links := eval[[]string](b, `[...document.querySelectorAll("a")].map(a => a.href)`)
	for range eval[int](b, `document.querySelectorAll("[name=format]").length - 1`) {
		b.do(chromedp.Focus(chromedp.CSS("[name=format]:checked")))
		b.press(kb.ArrowRight)
		links = append(links, eval[string](b, `document.querySelector("#format-document").href`))
	}
	if !slices.Contains(links, s.URL+"/v1/openapi.json") {
		t.Errorf("the links are %q, without the OpenAPI description", links)
	}
	const site = "https://github.com/toxscreen/toxscreen/tree/main/"
	for _, link := range links {
		if path, ok := strings.CutPrefix(link, site); ok {
			path, _, _ = strings.Cut(path, "#")
			if _, err := os.Stat(filepath.Join("../..", path)); err != nil {
				t.Errorf("%s: %v", link, err)
			}
		} else if link != s.URL+"/v1/openapi.json" {
			t.Errorf("a link to %s", link)
		}
	}
}

// TestBelowABasePath: the page finds everything below its base path.
func TestBelowABasePath(t *testing.T) {
	external := &url.URL{Scheme: "https", Host: "tox.example.org", Path: "/screen"}
	s := newSiteWith(t, server.Config{External: external})
	b := s.open(t)
	b.write(insult)
	if got := s.seen(); !slices.Equal(got, []string{"POST /screen/v1/score"}) {
		t.Errorf("the page asks for %q", got)
	}
	b.says("#request", s.URL+"/screen/v1/score")
}

// TestOutdatedRequests: a request for a text that has changed is aborted, also on the
// server, and its answer is never shown.
func TestOutdatedRequests(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	began, gone := make(chan struct{}), make(chan struct{})
	var once sync.Once
	s.handle(func(_ http.ResponseWriter, r *http.Request) bool {
		first := false
		if r.Method == http.MethodPost {
			once.Do(func() { first = true })
		}
		if !first {
			return false
		}
		var body bytes.Buffer
		body.ReadFrom(r.Body) // only then does the server notice that the client is gone
		close(began)
		<-r.Context().Done()
		close(gone)
		return true
	})
	b.paste(insult)
	<-began
	b.write(friendly)
	<-gone
	if got := b.text("#score"); got != fmt.Sprintf("%.2f", s.score(t, friendly).Score) {
		t.Errorf("the score is %s", got)
	}
}

// TestThresholds: the keyboard moves thresholds, and their numbers are seen meanwhile;
// they decide at once what is flagged, and can be reset.
func TestThresholds(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	b.write(insult)
	const slider = `[aria-label="Threshold of toxicity"]`
	// number is the number beside a mark, if it can be seen.
	number := func() string {
		t.Helper()
		return eval[string](b, `(e => getComputedStyle(e).visibility === "visible" ? e.textContent : "")(document.querySelector($1).parentElement.querySelector("output"))`, slider)
	}
	if got := number(); got != "" {
		t.Errorf("the number %s is seen while nobody moves the threshold", got)
	}
	b.do(chromedp.Focus(chromedp.CSS(slider)))
	if got := number(); got != fmt.Sprintf("%.2f", s.score(t, insult).Attributes[toxscreen.Toxicity].Threshold) {
		t.Errorf("the number of a threshold with the focus is %q", got)
	}
	b.press(kb.End)
	b.wait(`document.querySelector("#attributes li .value").textContent === $1`, fmt.Sprintf("%.2f", s.score(t, insult).Score))
	if got := eval[string](b, `document.activeElement.getAttribute("aria-valuetext")`); got != "1.00" {
		t.Errorf("the slider says %q", got)
	}
	b.do(chromedp.Focus(chromedp.CSS(`[aria-label="Threshold of insult"]`)))
	b.press(kb.End)
	b.says("#decision", "Not flagged")
	b.press(kb.Home)
	b.press(kb.ArrowRight)
	b.says("#decision", "Flagged for insult")
	b.do(chromedp.Focus(chromedp.CSS(`[aria-label="Threshold of threat"]`)))
	b.press(kb.Home)
	b.says("#attributes li:nth-child(6) .value", "flagged")
	b.click("#reset")
	b.wait(`document.querySelector($1).value === $2 && document.querySelector("#reset").disabled`, slider, fmt.Sprint(s.score(t, insult).Attributes[toxscreen.Toxicity].Threshold))
	b.says("#attributes li:nth-child(1) .value", "flagged")

	// The mouse drags a mark from the middle of the track to three quarters of it, and the
	// number moves with the mark.
	b.do(chromedp.ScrollIntoView(chromedp.CSS(slider)))
	box := eval[[]float64](b, `(r => [r.x, r.y + r.height / 2, r.width])(document.querySelector($1).getBoundingClientRect())`, slider)
	at := func(share float64) float64 { return box[0] + 12 + share*(box[2]-24) }
	mouse := func(kind input.DispatchMouseEventType, share float64) {
		t.Helper()
		b.do(chromedp.MouseEvent(kind, at(share), box[1], chromedp.Button("left"), chromedp.ClickCount(1)))
	}
	mouse(input.DispatchMouseEventTypeMousePressed, 0.6)
	mouse(input.DispatchMouseEventTypeMouseMoved, 0.7)
	mouse(input.DispatchMouseEventTypeMouseMoved, 0.75)
	if got := number(); got != "0.75" {
		t.Errorf("the number of a dragged threshold is %q", got)
	}
	if off := eval[float64](b, `(r => r.x + r.width / 2)(document.querySelector($1).parentElement.querySelector("output").getBoundingClientRect())`, slider) - at(0.75); math.Abs(off) > 2 {
		t.Errorf("the number is %.0f pixels from its mark", off)
	}
	b.picture("a dragged threshold")
	mouse(input.DispatchMouseEventTypeMouseReleased, 0.75)

	// Phones have no pointer that hovers.
	b.click("#reset")
	b.do(chromedp.EmulateViewport(390, 800))
	b.do(chromedp.ScrollIntoView(chromedp.CSS(slider)))
	box = eval[[]float64](b, `(r => [r.x, r.y + r.height / 2, r.width])(document.querySelector($1).getBoundingClientRect())`, slider)
	for _, touch := range []struct {
		kind  input.DispatchTouchEventType
		share []float64
	}{{"touchStart", []float64{0.6}}, {"touchMove", []float64{0.7}}, {"touchMove", []float64{0.8}}} {
		points := []*input.TouchPoint{}
		for _, share := range touch.share {
			points = append(points, &input.TouchPoint{X: at(share), Y: box[1]})
		}
		if _, err := chromedp.Call(b.ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: touch.kind, TouchPoints: points}); err != nil {
			t.Fatal(err)
		}
	}
	b.wait(`(e => getComputedStyle(e).visibility === "visible" && e.textContent === "0.80")(document.querySelector($1).parentElement.querySelector("output"))`, slider)
}

// TestThresholdsAsConfiguration: what is copied is the section of toxscreen.yaml with the
// thresholds that were moved, and no others, as the configuration reads it.
func TestThresholdsAsConfiguration(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	eval[any](b, `Object.defineProperty(navigator, "clipboard", {configurable: true, value: {writeText: async (text) => { window.copied = text; }}}), null`)
	if !eval[bool](b, `document.querySelector("#copy-yaml").disabled`) {
		t.Error("thresholds can be copied although none was moved")
	}
	for name, keys := range map[string]string{"threat": kb.Home, "severe toxicity": kb.End, "insult": kb.ArrowLeft, "toxicity": kb.ArrowRight + kb.ArrowLeft} {
		b.do(chromedp.Focus(chromedp.CSS(`[aria-label="Threshold of ` + name + `"]`)))
		b.press(keys)
	}
	b.click("#copy-yaml")
	b.says("#copy-yaml", "Copied")
	copied := eval[string](b, `window.copied`)
	lower := fmt.Sprintf("%.2f", s.score(t, insult).Attributes[toxscreen.Insult].Threshold-0.01)
	if want := "thresholds:\n  severe_toxicity: 1\n  insult: " + lower + "\n  threat: 0\n"; copied != want {
		t.Fatalf("copied is %q, want %q", copied, want)
	}

	program, folder := filepath.Join(t.TempDir(), "toxscreen"), t.TempDir()
	if output, err := exec.Command("go", "build", "-o", program, "../../cmd/toxscreen").CombinedOutput(); err != nil {
		t.Fatalf("failed to build toxscreen: %v: %s", err, output)
	}
	if err := os.WriteFile(filepath.Join(folder, "toxscreen.yaml"), []byte(copied), 0o644); err != nil {
		t.Fatal(err)
	}
	show := exec.Command(program, "config", "show")
	show.Dir = folder
	show.Env = []string{"HOME=" + folder} // no setting of the machine
	output, err := show.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	for key, value := range map[string]string{"severe_toxicity": "1", "insult": lower, "threat": "0"} {
		if !regexp.MustCompile(`(?m)^thresholds\.` + key + ` +` + regexp.QuoteMeta(value) + ` +file toxscreen\.yaml$`).Match(output) {
			t.Errorf("the configuration does not read %s %s:\n%s", key, value, output)
		}
	}
	if n := strings.Count(string(output), "file toxscreen.yaml"); n != 3 {
		t.Errorf("%d settings come from the file:\n%s", n, output)
	}

	// Without a clipboard, the section is shown and selected.
	eval[any](b, `Object.defineProperty(navigator, "clipboard", {value: undefined}), null`)
	b.click("#copy-yaml")
	b.says("#copy-yaml", "Selected")
	if got := eval[string](b, `getSelection().toString()`); strings.TrimSpace(got) != strings.TrimSpace(copied) {
		t.Errorf("selected is %q", got)
	}
	b.click("#reset")
	if b.shown("#yaml") {
		t.Error("the section is shown although no threshold is moved")
	}
}

// TestAttributesAreExplained: the definition of the guideline appears when the pointer is
// on an attribute or the focus comes to it; the pointer can move onto it, and Escape hides
// it.
func TestAttributesAreExplained(t *testing.T) {
	guideline, err := os.ReadFile("../../docs/model/guideline.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile(` \("[^)]*"\)`) // which the page leaves out
	words := strings.ToLower(examples.ReplaceAllString(strings.Join(strings.Fields(string(guideline)), " "), ""))
	s := newSite(t)
	b := s.open(t)
	for i := range toxscreen.Attributes() {
		name := fmt.Sprintf("#attributes li:nth-child(%d) .name", i+1)
		b.do(chromedp.Focus(chromedp.CSS(name)))
		b.wait(`!document.querySelector("#tip").hidden && document.activeElement.getAttribute("aria-describedby") === "tip"`)
		if said := strings.TrimSuffix(strings.ToLower(b.text("#tip")), "."); len(said) < 30 || !strings.Contains(words, said) {
			t.Errorf("%s is explained as %q, which the guideline does not say", b.text(name), said)
		}
		if left := eval[bool](b, `(r => r.left >= 0 && r.right <= innerWidth)(document.querySelector("#tip").getBoundingClientRect())`); !left {
			t.Errorf("the explanation of %s is not inside the page", b.text(name))
		}
	}
	b.press(kb.Escape)
	b.wait(`document.querySelector("#tip").hidden && document.activeElement.matches("#attributes .name")`)

	b.do(chromedp.Focus(chromedp.ID("text")))
	middle := func(selector string) (x, y float64) {
		t.Helper()
		at := eval[[]float64](b, `(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector($1).getBoundingClientRect())`, selector)
		return at[0], at[1]
	}
	b.do(chromedp.ScrollIntoView(chromedp.CSS("#thresholds-hint")))
	x, y := middle("#attributes li:nth-child(6) .name")
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	b.says("#tip", "States an intention")
	x, y = middle("#tip")
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y), chromedp.Sleep(time.Second))
	if !b.shown("#tip") {
		t.Error("the explanation disappears under the pointer")
	}
	b.picture("explained")
	b.press(kb.Escape)
	b.wait(`document.querySelector("#tip").hidden`)
	b.do(chromedp.ScrollIntoView(chromedp.CSS("#attributes li:nth-child(2)")))
	x, y = middle("#attributes li:nth-child(2) .name")
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
	b.says("#tip", "Very hateful")
	b.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, 1, 1))
	b.wait(`document.querySelector("#tip").hidden`)
}

/* Feedback. */

// withFeedback returns a site that stores feedback, with the texts, and its store.
func withFeedback(t *testing.T, c server.Config, options ...toxscreen.Option) (*site, *store.Feedback) {
	t.Helper()
	f, err := store.OpenFeedback(filepath.Join(t.TempDir(), "feedback.db"), store.FeedbackOptions{KeepText: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	c.Feedback = f
	return newSiteWith(t, c, options...), f
}

// given returns the label sets that are stored.
func given(t *testing.T, f *store.Feedback) (sets []store.LabelSet) {
	t.Helper()
	for set, err := range f.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	return sets
}

// TestFeedback: three presses tell the server what is wrong with a score. Another answer
// for the same text corrects the first one. Nothing is sent without a choice.
func TestFeedback(t *testing.T) {
	s, f := withFeedback(t, server.Config{})
	b := s.open(t)
	b.write(insult)
	b.click("#wrong")
	if focused := eval[string](b, `document.activeElement.ariaLabel + document.querySelector("#wrong").ariaExpanded`); focused != "toxicity is too hightrue" {
		t.Errorf("the focus is on %q", focused)
	}
	b.click("#send-feedback")
	b.says("#feedback-said", "Choose “too high” or “too low” beside at least one attribute.")
	b.click(`[aria-label="threat is too high"]`)
	b.click(`[aria-label="threat is too low"]`)
	b.click(`[aria-label="insult is too low"]`)
	b.click(`[aria-label="insult is too low"]`) // after all not
	b.click(`[aria-label="toxicity is too high"]`)
	b.picture("feedback")
	b.click("#send-feedback")
	b.says("#feedback-said", "Thank you. The server has stored it.")
	if b.shown("#feedback") || eval[string](b, `document.activeElement.id`) != "wrong" {
		t.Error("the form is still there")
	}
	b.says("#announcement", "Thank you.")
	var labels toxscreen.Scores
	labels.Set(toxscreen.Toxicity, 0)
	labels.Set(toxscreen.Threat, 1)
	if sets := given(t, f); len(sets) != 1 || sets[0].Text != insult || sets[0].Labels != labels || sets[0].Token == "" {
		t.Fatalf("stored is %+v", sets)
	}

	b.click("#wrong")
	b.click(`[aria-label="toxicity is too high"]`) // no longer
	b.click("#send-feedback")
	b.says("#feedback-said", "Thank you.")
	labels = toxscreen.Scores{}
	labels.Set(toxscreen.Threat, 1)
	sets := given(t, f)
	if len(sets) != 2 || sets[1].Labels != labels || sets[1].Token != sets[0].Token {
		t.Errorf("after a correction, stored is %+v", sets)
	}

	b.write(friendly)
	if b.shown("#feedback-said") {
		t.Error("another text has the thanks for the first one")
	}
	b.click("#wrong")
	b.wait(`document.querySelectorAll("#opinions [aria-pressed=true]").length === 0`)
	b.click("#cancel-feedback")
	if b.shown("#feedback") || len(given(t, f)) != 2 {
		t.Error("cancelled feedback was sent")
	}
	b.click("#clear")
	b.wait(`!document.querySelector("#wrong").checkVisibility()`)

	if newSite(t).open(t).shown("#wrong") {
		t.Error("a server that stores no feedback is offered some")
	}
}

// TestFeedbackThatFails: the form keeps its answers and says why they are not stored, and
// they can be sent again.
func TestFeedbackThatFails(t *testing.T) {
	key, keys := newKey(t)
	s, f := withFeedback(t, server.Config{Keys: keys})
	b := s.open(t)
	enter := func() {
		t.Helper()
		b.wait(`document.querySelector("#key-form").checkVisibility()`)
		b.do(chromedp.Focus(chromedp.ID("key")))
		b.press(key + kb.Enter)
	}
	enter()
	b.wait(`document.querySelector("#wrong").checkVisibility()`)
	b.click("#wrong")
	b.click(`[aria-label="insult is too high"]`)
	fails := func(front func(http.ResponseWriter, *http.Request) bool) {
		s.handle(func(w http.ResponseWriter, r *http.Request) bool { return r.URL.Path == "/v1/feedback" && front(w, r) })
	}
	fails(refuse(http.StatusInsufficientStorage, "not_stored", "failed to keep feedback: there is no room left"))
	b.click("#send-feedback")
	b.says("#feedback-said", "Not stored: failed to keep feedback: there is no room left. Your answer is still here: send it again later.")
	b.picture("feedback that fails")
	fails(refuse(http.StatusUnauthorized, "wrong_key", "this server does not know the key"))
	b.click("#send-feedback")
	b.says("#feedback-said", "Not stored: this server requires an API key. Enter it below the text, then send again.")
	enter()
	fails(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
	b.click("#send-feedback")
	b.says("#feedback-said", "The server cannot be reached: is it running? Trying again in")
	if n := len(given(t, f)); n != 0 {
		t.Errorf("%d answers are stored", n)
	}
	s.handle(nil)
	b.says("#feedback-said", "Thank you.")
	if sets := given(t, f); len(sets) != 1 || sets[0].Caller != "somebody" {
		t.Errorf("stored is %+v", sets)
	}
}

/* The judge. */

// verdicts is a judge that answers when the test allows it.
type verdicts struct {
	verdict toxscreen.Verdict
	err     error
	let     chan struct{}
	mu      sync.Mutex
	asked   []string // texts
}

func (v *verdicts) texts() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.asked)
}

func (v *verdicts) Judge(ctx context.Context, text string, _ toxscreen.Classification) (toxscreen.Verdict, error) {
	v.mu.Lock()
	v.asked = append(v.asked, text)
	v.mu.Unlock()
	select {
	case <-v.let:
		return v.verdict, v.err
	case <-ctx.Done():
		return toxscreen.Verdict{}, ctx.Err()
	}
}

// raises is a fusion that trusts the judge.
type raises struct{}

func (raises) Fuse(scores toxscreen.Scores, verdict *toxscreen.Verdict) (toxscreen.Fused, error) {
	fused := toxscreen.Fused{Scores: scores}
	if verdict != nil {
		for a, p := range verdict.Measured().All() {
			fused.Scores.Set(a, p)
			fused.Evidence.Set(a, 1)
		}
	}
	return fused, nil
}

func (raises) Version() string { return "sha256:0" }

func verdictOn(text, quoted string) toxscreen.Verdict {
	yes, no, alone, noAlone := toxscreen.Probability(0.93), toxscreen.Probability(0.04), toxscreen.Probability(0.07), false
	severity, zero := 3, 0
	insulting, threat := toxscreen.Insult, toxscreen.Threat
	at := strings.Index(text, quoted)
	return toxscreen.Verdict{
		Rubric: "attributes@1", Model: "a-model@sha256:1", Scale: 1, Reason: "It calls a reader names.",
		Passage: &toxscreen.Range{Start: at, End: len(text)}, Core: []toxscreen.Range{{Start: at, End: at + len(quoted)}},
		Aspects: []toxscreen.AspectVerdict{
			{
				Name: "insult", Attribute: &insulting, Yes: true, PYes: &yes, Severity: &severity,
				Violations: []string{"Rude, disrespectful or hostile language towards a person or a group"},
				Evidence:   []toxscreen.Evidence{{Start: at, End: at + len(quoted), Match: toxscreen.MatchExact}},
				NotInText:  []string{"you fool"},
			},
			{Name: "threat", Attribute: &threat, PYes: &no, YesAlone: &noAlone, PYesAlone: &alone, Severity: &zero},
		},
		Warnings: []string{},
	}
}

const borderline = "😀 That is a stupid idea, and you know it."

// answering is a judge of a server: it answers, and is trusted.
type answering struct{}

func (answering) FindJudge(context.Context) error    { return nil }
func (answering) RecheckJudge(context.Context) error { return nil }
func (answering) JudgeTrust() (screen.Trust, bool)   { return screen.Trust{State: screen.Trusted}, true }

// believing is the option of a judge that is asked about every text and believed.
func believing(judge *verdicts) toxscreen.Option {
	return toxscreen.WithOpinion(toxscreen.Opinion{Decide: toxscreen.Band{Low: 0, High: 1}.Decide, Ask: judge.Judge, Fuse: raises{}.Fuse, Version: raises{}.Version()})
}

// judged returns a site with a judge that is asked about every text.
func judged(t *testing.T, judge *verdicts) *site {
	t.Helper()
	kept, _ := servertest.Results(t)
	c := server.Config{Results: kept, Judge: answering{}}
	return newSiteWith(t, c, believing(judge))
}

// TestVerdictArrivesLater: the classifier's scores come at once, the verdict with its
// evidence when the judge has answered.
func TestVerdictArrivesLater(t *testing.T) {
	judge := &verdicts{verdict: verdictOn(borderline, "stupid idea"), let: make(chan struct{})}
	s := judged(t, judge)
	b := s.open(t)
	b.write(borderline)
	b.says("#judge", "The judge was asked and has not answered yet. Why: toxicity")
	b.says("#meaning", "The judge may change that.")
	b.picture("waiting for the judge")
	b.do(chromedp.Focus(chromedp.CSS("mark")))
	before := b.text("#attributes li:nth-child(3) .value")

	close(judge.let)
	b.says("#judge", "The judge was asked, and its verdict is part of the score.")
	if after := b.text("#attributes li:nth-child(3)"); after != "insult 0.93 flagged classifier "+strings.TrimSuffix(before, " flagged")+" · judge 0.93" {
		t.Errorf("insult was %q and is %q", before, after)
	}
	said := b.text("#judge")
	for _, want := range []string{
		"insult: yes (probability of yes 0.93, severity 3)", "Quotes: stupid idea", "Rude, disrespectful or hostile language",
		"Not in the text, so it does not count: you fool", "threat: no (probability of yes 0.04, alone no 0.07)", "Its reason: It calls a reader names.",
		"It saw: stupid idea, and you know it.", "It was also asked about this alone: stupid idea",
		"a-model@sha256:1, rubric attributes@1",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the judge does not say %q, but %q", want, said)
		}
	}
	if quoted := eval[[]string](b, `[...document.querySelectorAll("#marked .quoted")].map(q => q.textContent)`); strings.Join(quoted, "") != "stupid idea" {
		t.Errorf("underlined is %q", quoted)
	}
	if b.text("#marked") != borderline {
		t.Errorf("the marked text became %q", b.text("#marked"))
	}
	if !eval[bool](b, `document.activeElement.matches("mark") && !document.querySelector("#tip").hidden`) {
		t.Error("the verdict removed the focus from a marked word")
	}
	b.says("#announcement", "The judge has answered.")
	polls := strings.Count(strings.Join(s.seen(), "\n"), "GET ")
	b.do(chromedp.Sleep(time.Second))
	if n := strings.Count(strings.Join(s.seen(), "\n"), "GET "); n != polls {
		t.Error("the page requests a verdict that it already has")
	}
	for _, l := range looks {
		b.as(l)
		b.picture("verdict, " + l.name)
	}
}

// TestDrafts: the judge is not asked about each version of a text that is being
// typed, but only about the final one.
func TestDrafts(t *testing.T) {
	judge := &verdicts{let: make(chan struct{})}
	close(judge.let)
	b := judged(t, judge).open(t)
	b.says("#server", "The judge answers.")
	b.click("#clear")
	b.press("Take that")
	b.says("#judge", "The judge may be asked when you stop typing.")
	b.press(" back, you idiot.")
	b.says("#marked", "Take that back, you idiot.")
	b.says("#judge", "The judge may be asked when you stop typing.")
	b.says("#judge", "The judge was asked.")
	if asked := judge.texts(); !slices.Equal(asked, []string{"Take that back, you idiot."}) {
		t.Errorf("the judge was asked about %q", asked)
	}
}

// TestWithoutAVerdict: the page says why there is no verdict, once.
func TestWithoutAVerdict(t *testing.T) {
	b := newSite(t, toxscreen.WithoutJudge("no judge is configured")).open(t)
	b.write(friendly)
	b.says("#server", "No judge: scores are the classifier's.")
	if b.shown("#judge-section") {
		t.Error("there is a card for a judge that does not exist")
	}

	judge := &verdicts{err: &toxscreen.AbstentionError{Why: "it answered something else", Raw: "Sorry, <b>no</b>"}, let: make(chan struct{})}
	close(judge.let)
	b = judged(t, judge).open(t)
	b.write(borderline)
	b.says("#judge", "The judge was asked, but there is no verdict: the judge gave no verdict: it answered something else")
	b.says("#judge", "Its answer: Sorry, <b>no</b>")

	// A result that the server lost because it ended.
	s := judged(t, &verdicts{let: make(chan struct{})})
	s.handle(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/v1/score/") {
			return false
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":{"code":"not_found","message":"nothing is kept by this id"}}`)
		return true
	})
	b = s.open(t)
	b.write(borderline)
	b.says("#judge", "The judge was asked, but there is no verdict: nothing is kept by this id")
}

// TestTextIsOnlyText: texts never become markup: in the marked text, in the judge's
// words, in the history after a reload, and in errors.
func TestTextIsOnlyText(t *testing.T) {
	const attack = `You idiot <img src=x onerror="window.hit=1"><script>window.hit=1</script><svg onload=window.hit=1>"'&amp; javascript:window.hit=1 '; rm -rf`
	verdict := verdictOn(attack, `You idiot <img src=x onerror="window.hit=1">`)
	verdict.Reason, verdict.Warnings, verdict.Model, verdict.Aspects[0].Name = attack, []string{attack}, attack, attack
	verdict.Aspects[0].Violations, verdict.Aspects[0].NotInText = []string{attack}, []string{attack}
	judge := &verdicts{verdict: verdict, let: make(chan struct{})}
	close(judge.let)
	s := judged(t, judge)
	b := s.open(t)
	b.write(attack)
	b.says("#judge", "its verdict is part of the score")
	b.click("#keep")
	b.wait(`document.querySelector("#history li")`)
	b.reload()
	b.wait(`document.querySelector("#history li")`)
	b.click("#history button")
	b.says("#judge", "its verdict is part of the score")
	s.handle(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		w.WriteHeader(http.StatusBadRequest)
		json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": attack, "message": attack}})
		return true
	})
	b.paste("another")
	b.says("#problem", "No new score: You idiot <img src=x")
	if eval[bool](b, `window.hit !== undefined || document.querySelector("body img, body script, body svg") !== null`) {
		t.Error("a text became markup")
	}
	if marked := eval[string](b, `document.querySelector("#marked").textContent`); marked != attack {
		t.Errorf("the text became %q", marked)
	}
}

/* When something goes wrong. */

func refuse(status int, code, message string, header ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost {
			return false
		}
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%q,"message":%q}}`, code, message)
		return true
	}
}

func TestProblems(t *testing.T) {
	s := newSite(t, toxscreen.WithMaxBytes(100))
	b := s.open(t)

	b.paste(strings.Repeat("long ", 40))
	b.says("#problem", "No new score: failed to score text: text too long: it has 200 bytes, the limit is 100")
	if !eval[bool](b, `document.querySelector("#text").ariaInvalid === "true"`) {
		t.Error("the text field is not marked as invalid")
	}
	b.says("#announcement", "text too long")
	b.write(friendly)
	if b.shown("#problem") || eval[bool](b, `document.querySelector("#text").hasAttribute("aria-invalid")`) {
		t.Error("a problem stays after its text")
	}

	s.handle(refuse(http.StatusTooManyRequests, "overloaded", "more texts wait than the server will get to", "Retry-After", "1"))
	b.paste(insult)
	b.says("#problem", "The server is busy: more texts wait than the server will get to. Trying again in 1 second.")
	if score := b.text("#score"); score != "–" {
		t.Errorf("a text that was not scored shows the score %s", score)
	}
	b.picture("busy")
	s.handle(nil)
	b.wait(`document.querySelector("#marked").textContent === $1 && document.querySelector("#problem").hidden`, insult)

	s.handle(func(w http.ResponseWriter, _ *http.Request) bool { panic(http.ErrAbortHandler) })
	b.paste(friendly)
	b.says("#problem", "The server cannot be reached: is it running? Trying again in 1 second.")
	s.handle(nil)
	b.wait(`document.querySelector("#marked").textContent === $1 && document.querySelector("#problem").hidden`, friendly)

	s.handle(func(w http.ResponseWriter, r *http.Request) bool { fmt.Fprint(w, "<html>a proxy's page"); return true })
	b.paste(insult)
	b.says("#problem", "this server is not toxscreen")
}

// newKey returns a new key and its entry for a server.
func newKey(t *testing.T) (string, []server.Key) {
	t.Helper()
	key, line, err := server.NewKey("somebody")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := server.ParseKeys([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return key, keys
}

// TestKey: if the server requires a key, the page asks for it. The key is sent with
// each request, is not shown and is removed with the tab.
func TestKey(t *testing.T) {
	right, keys := newKey(t)
	s := newSiteWith(t, server.Config{Keys: keys})
	b := s.open(t)
	b.says("#problem", "This server requires an API key.")
	for _, key := range []string{"wrong", right} {
		b.do(chromedp.Focus(chromedp.ID("key")))
		b.press(key + kb.Enter)
		if key == "wrong" {
			b.says("#problem", "The server does not know this API key.")
			b.picture("wrong key")
		}
	}
	b.wait(`document.querySelector("#marked").textContent === $1 && document.querySelector("#key-form").hidden`, example)
	request := eval[string](b, `document.querySelector("#request").textContent`)
	if !strings.Contains(request, `-H "Authorization: Bearer $TOXSCREEN_KEY"`) || strings.Contains(request, right) {
		t.Errorf("the request to copy is %s", request)
	}
	if strings.Contains(eval[string](b, `JSON.stringify(localStorage)`), right) {
		t.Error("the key is still stored after the tab is closed")
	}
	b.click("#link")
	b.wait(`document.querySelector("#link-text").textContent`)
	if link := eval[string](b, `document.querySelector("#link-text").textContent`); strings.Contains(link, right) {
		t.Errorf("the link has the key: %s", link)
	}
	b.reload()
	b.write(insult)
}

// timeless reads an answer without what differs between two requests.
func timeless(t *testing.T, answer string) any {
	t.Helper()
	varying := regexp.MustCompile(`"(id|created_at|evaluation_duration)": ?"[^"]*"`)
	var value any
	if err := json.Unmarshal([]byte(varying.ReplaceAllString(answer, `"$1":""`)), &value); err != nil {
		t.Errorf("%s: %v", answer, err)
	}
	return value
}

// TestRequests: for each format and language, the page shows code that sends the text and
// prints the answer of the server that the page shows, with and without a key, whatever
// the text has. The curl of this shell only records its arguments.
func TestRequests(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "curl"), []byte("#!/bin/sh\nprintf '%s\\0' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const text = "It's \"quoted\" & $HOME `id` ${1+1} \\ \\n \\u0041 {x!r} '''\"\"\" %s 100 %,\n\t\u2028!you idiot 😀"
	// run runs code and returns what it prints.
	run := func(key, code, program string, args ...string) string {
		t.Helper()
		command := exec.Command(program, args...)
		command.Env = append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "TOXSCREEN_KEY="+key)
		output, err := command.Output()
		if err != nil {
			var said []byte
			if e, ok := errors.AsType[*exec.ExitError](err); ok {
				said = e.Stderr
			}
			t.Fatalf("%s\n%v: %s", code, err, said)
		}
		return string(output)
	}
	// sends are the ways to send the request of each language.
	sends := map[string]func(code, key string) (answer string){
		"curl": func(code, key string) string {
			args := strings.Split(strings.TrimSuffix(run(key, code, "sh", "-c", code), "\x00"), "\x00")
			request, err := http.NewRequest(http.MethodPost, args[0], nil)
			if err != nil || len(args)%2 == 0 {
				t.Fatalf("%s: the arguments are %q: %v", code, args, err)
			}
			for i := 1; i < len(args); i += 2 {
				switch name, value, _ := strings.Cut(args[i+1], ": "); args[i] {
				case "-H":
					request.Header.Set(name, value)
				case "-d":
					request.Body = io.NopCloser(strings.NewReader(args[i+1]))
				default:
					t.Fatalf("%s: an argument %q", code, args[i])
				}
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatalf("%s: %v", code, err)
			}
			defer response.Body.Close()
			said, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatalf("%s: %v", code, err)
			}
			return string(said)
		},
		"Python": func(code, key string) string { return run(key, code, "python3", "-c", code) },
		"JavaScript": func(code, key string) string {
			file := filepath.Join(folder, "request.mjs")
			if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			return run(key, code, "node", file)
		},
	}
	key, keys := newKey(t)
	for name, c := range map[string]server.Config{"without a key": {}, "with a key": {Keys: keys}} {
		t.Run(name, func(t *testing.T) {
			c.Finder = newFinder(t)
			s := newSiteWith(t, c)
			var mu sync.Mutex
			var body string // of the latest request that the page did not send
			s.handle(func(_ http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodPost && !strings.Contains(r.UserAgent(), "Chrome") {
					data, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					r.Body = io.NopCloser(bytes.NewReader(data))
					mu.Lock()
					body = string(data)
					mu.Unlock()
				}
				return false
			})
			b := s.open(t)
			b.paste(text)
			b.press(kb.Enter, chromedp.ModifierCtrl)
			if len(c.Keys) > 0 {
				b.wait(`!document.querySelector("#key-form").hidden`)
				b.do(chromedp.Focus(chromedp.ID("key")))
				b.press(key + kb.Enter)
			}
			b.wait(`document.querySelector("#marked").textContent === $1`, text)
			var labels []string
			for range eval[int](b, `document.querySelectorAll("[name=format]").length`) {
				b.says("#answer-status", "Status 200.")
				label := eval[string](b, `document.querySelector("[name=format]:checked").nextElementSibling.textContent`)
				labels = append(labels, label)
				answer := timeless(t, eval[string](b, `document.querySelector("#answer").textContent`))
				var languages []string
				b.do(chromedp.Focus(chromedp.CSS("[name=language]:checked")))
				for range eval[int](b, `document.querySelectorAll("[name=language]").length`) {
					language := eval[string](b, `document.activeElement.nextElementSibling.textContent`)
					languages = append(languages, language)
					code := eval[string](b, `document.querySelector("#request").textContent`)
					if strings.Contains(code, key) {
						t.Errorf("%s in %s has the key", label, language)
					}
					if diff := cmp.Diff(timeless(t, sends[language](code, key)), answer); diff != "" {
						t.Errorf("%s in %s: the answer on the page is another than that to the code: %s", label, language, diff)
					}
					mu.Lock()
					var fields any
					if err := json.Unmarshal([]byte(body), &fields); err != nil || !strings.Contains(fmt.Sprint(fields), text) {
						t.Errorf("%s in %s: the body is %s", label, language, body)
					}
					mu.Unlock()
					b.press(kb.ArrowRight)
				}
				if want := []string{"curl", "Python", "JavaScript"}; !slices.Equal(languages, want) {
					t.Errorf("the languages are %q, want %q", languages, want)
				}
				b.do(chromedp.Focus(chromedp.CSS("[name=format]:checked")))
				b.press(kb.ArrowRight)
			}
			if want := []string{"Native", "Perspective", "OpenAI", "LiteLLM", "Patronus", "Presidio", "Writer"}; !slices.Equal(labels, want) {
				t.Errorf("the formats are %q, want %q", labels, want)
			}
		})
	}
}

// TestAnswers: request and answer are beside each other on a wide page and below each
// other on a narrow one. An answer belongs to the text and the thresholds that are shown,
// also if it is an error.
func TestAnswers(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	beside := func() bool {
		t.Helper()
		return eval[bool](b, `((request, answer) => request.top === answer.top && request.right < answer.left)(document.querySelector("#request").getBoundingClientRect(), document.querySelector("#answer").getBoundingClientRect())`)
	}
	for width, want := range map[int64]bool{1280: true, 390: false} {
		b.do(chromedp.EmulateViewport(width, 900))
		if beside() != want {
			t.Errorf("at %d pixels, beside each other is %v", width, !want)
		}
	}
	b.says("#answer", `"readings": [`)
	answer := func() (r toxscreen.Result) {
		t.Helper()
		if err := json.Unmarshal([]byte(eval[string](b, `document.querySelector("#answer").textContent`)), &r); err != nil {
			t.Error(err)
		}
		return r
	}
	if r := answer(); r.Attributes[toxscreen.Threat].Flagged || len(r.Sentences) != 3 {
		t.Errorf("the answer is %+v", r)
	}
	b.do(chromedp.Focus(chromedp.CSS(`[aria-label="Threshold of threat"]`)))
	b.press(kb.Home)
	b.says("#request", `"thresholds":{"threat":0}`)
	b.wait(`document.querySelector("#answer").textContent.includes('"threshold": 0,')`)
	if r := answer(); !r.Attributes[toxscreen.Threat].Flagged {
		t.Errorf("the answer is %+v", r)
	}
	b.click("#reset")

	b.do(chromedp.Focus(chromedp.CSS("[name=format]:checked")))
	b.press(kb.ArrowRight + kb.ArrowRight) // OpenAI
	b.says("#answer", `"harassment": true`)
	b.write(friendly)
	b.says("#answer", `"harassment": false`)
	s.handle(func(w http.ResponseWriter, r *http.Request) bool {
		return r.URL.Path == "/v1/moderations" && refuse(http.StatusBadRequest, "odd", "the request is odd")(w, r)
	})
	b.write(insult)
	b.says("#answer-status", "Status 400.")
	b.says("#answer", "the request is odd")
	b.picture("answer with an error")
	s.handle(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/v1/moderations" {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	b.write(friendly)
	b.says("#answer-status", "There is no answer: the server cannot be reached.")
	b.click("#clear")
	b.says("#answer-status", "The answer is here when the text has a score.")
	if got := b.text("#answer"); got != "" {
		t.Errorf("without a text, the answer is %q", got)
	}
}

// TestCopy: the request is copied to the clipboard, or selected if the browser does
// not allow that, as without TLS.
func TestCopy(t *testing.T) {
	b := newSite(t).open(t)
	request := eval[string](b, `document.querySelector("#request").textContent`)
	eval[any](b, `Object.defineProperty(navigator, "clipboard", {configurable: true, value: {writeText: async (text) => { window.copied = text; }}}), null`)
	b.click("#copy")
	b.says("#copy", "Copied")
	if got := eval[string](b, `window.copied`); got != request {
		t.Errorf("copied is %q", got)
	}
	b.says("#announcement", "Copied.")
	eval[any](b, `Object.defineProperty(navigator, "clipboard", {value: undefined}), null`)
	b.click("#copy")
	b.says("#copy", "Selected")
	if got := eval[string](b, `getSelection().toString()`); got != request {
		t.Errorf("selected is %q", got)
	}
}

/* History. */

// TestNothingIsKeptUnasked: until the user asks for it, the browser stores nothing, also
// if an earlier version of the page did. What is asked for is kept, and forgotten on
// request.
func TestNothingIsKeptUnasked(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	stored := func() map[string]string {
		t.Helper()
		return eval[map[string]string](b, `({...localStorage, ...sessionStorage})`)
	}
	b.write(insult)
	b.do(chromedp.Focus(chromedp.CSS(`[aria-label="Threshold of threat"]`)))
	b.press(kb.Home)
	b.click("#reset")
	b.click("#examples li:nth-child(3) button")
	b.says("#history-hint", "Nothing is stored in this browser.")
	if kept := stored(); len(kept) > 0 || b.shown("#forget") {
		t.Errorf("without being asked, the page stores %q", kept)
	}
	eval[any](b, `localStorage.setItem("toxscreen.history", JSON.stringify([{text: "an old text", score: 0.5}])), localStorage.setItem("toxscreen.keep", "true"), localStorage.setItem("another", "x"), null`)
	b.reload()
	if kept := stored(); len(kept) != 1 || kept["another"] != "x" {
		t.Errorf("of an earlier version, the page keeps %q", kept)
	}
	if cookies := eval[string](b, "document.cookie"); cookies != "" {
		t.Errorf("the cookies are %q", cookies)
	}

	// Asked for: the text and thresholds that are shown, and what follows.
	b.write(insult)
	b.do(chromedp.Focus(chromedp.CSS(`[aria-label="Threshold of threat"]`)))
	b.press(kb.Home)
	b.click("#keep")
	b.wait(`document.querySelectorAll("#history li").length === 1`)
	b.reload()
	b.says("#decision", "threat")
	b.says("#history", insult)
	b.says("#thresholds-hint", "also for your next visit")
	b.click("#forget")
	b.wait(`document.querySelectorAll("#history li").length === 0`)
	if kept := fmt.Sprint(stored()); strings.Contains(kept, "idiot") || strings.Contains(kept, "threat") {
		t.Errorf("after forgetting, the page keeps %s", kept)
	}
	b.click("#keep") // off
	b.write("Nobody may know of this idiot.")
	if kept := stored(); len(kept) != 1 {
		t.Errorf("when nothing is to be kept, the page stores %q", kept)
	}
	b.reload()
	if eval[bool](b, `document.querySelector("#keep").checked`) {
		t.Error("the page keeps texts again after a reload")
	}
}

// TestHistory: texts that are kept can be scored again. A text that is being typed is one
// text.
func TestHistory(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	b.click("#keep")
	b.write("You are a stupid")
	b.write(insult) // typing continues
	b.wait(`document.querySelectorAll("#history li").length === 1`)
	b.click("#clear")
	b.write(friendly)
	b.wait(`document.querySelectorAll("#history li").length === 2`)
	if got := b.text("#history li:nth-child(2)"); got != fmt.Sprintf("%.2f %s", s.score(t, insult).Score, insult) {
		t.Errorf("the older text is %q", got)
	}
	b.picture("history")
	b.reload()
	b.wait(`document.querySelectorAll("#history li").length === 2`)
	b.click("#history li:nth-child(2) button")
	b.wait(`document.querySelector("#marked").textContent === $1`, insult)
	b.wait(`document.querySelector("#history li").textContent.includes("stupid")`)
}

// TestExamples: the examples are always there. One that takes the place of a text of the
// user's does not lose it.
func TestExamples(t *testing.T) {
	s := newSite(t)
	b := s.open(t)
	const own = "I wrote this for half an hour."
	b.write(own)
	for i := range eval[int](b, `document.querySelectorAll("#examples button").length`) {
		button := fmt.Sprintf("#examples li:nth-child(%d) button", i+1)
		b.click(button)
		b.wait(`document.querySelector("#marked").textContent === document.querySelector($1).value && document.querySelector("#text").value === document.querySelector($1).value`, button)
		if !eval[bool](b, `document.activeElement === document.querySelector($1)`, button) {
			t.Error("the next example cannot be reached with the keyboard at once")
		}
	}
	b.click("#restore")
	b.wait(`document.querySelector("#marked").textContent === $1 && document.querySelector("#restore").hidden`, own)
	b.click("#clear")
	b.wait(`document.querySelector("#text").value === ""`)
	b.click("#restore")
	b.wait(`document.querySelector("#marked").textContent === $1`, own)
	b.click("#clear")
	b.paste(friendly)
	b.wait(`document.querySelector("#restore").hidden`)
}

/* For everybody. */

// TestCards: at every width, the cards fill the page without holes between them, and no
// card is empty.
func TestCards(t *testing.T) {
	judge := &verdicts{verdict: verdictOn(borderline, "stupid idea"), let: make(chan struct{})}
	s := judged(t, judge)
	b := s.open(t)
	check := func(state string) {
		t.Helper()
		for _, width := range []int64{320, 390, 500, 768, 959, 960, 1280, 1920} {
			b.do(chromedp.EmulateViewport(width, 900))
			// With half of the gaps around them, the cards have the area of the page.
			filled := eval[float64](b, `(() => {
				const gap = 16, area = ({width, height}) => (width + gap) * (height + gap);
				const cards = [...document.querySelectorAll("main section")].filter(card => card.checkVisibility());
				return cards.reduce((sum, card) => sum + area(card.getBoundingClientRect()), 0) / area(document.querySelector("main").getBoundingClientRect());
			})()`)
			if math.Abs(filled-1) > 0.002 {
				t.Errorf("%s, %d pixels: the cards fill %.1f %% of the page", state, width, 100*filled)
				b.picture(fmt.Sprintf("holes, %s, %d", state, width))
			}
		}
		for _, empty := range eval[[]string](b, `[...document.querySelectorAll("main section")].filter(card => card.checkVisibility())
			.flatMap(card => [card, ...card.querySelectorAll("ul, ol, pre, p.notice, [role=group]")]).filter(e => e.checkVisibility())
			.filter(e => !e.innerText.replace(e.querySelector("h2")?.innerText ?? "", "").trim()).map(e => e.outerHTML.slice(0, 200))`) {
			t.Errorf("%s: this is empty: %s", state, empty)
		}
	}
	check("example")
	b.write(borderline)
	check("waiting")
	close(judge.let)
	b.says("#judge", "part of the score")
	check("judged")
	b.write(strings.Repeat(friendly+" ", 60) + strings.Repeat(insult+" ", 20) + "Write to zoe@example.com.")
	check("long")
	b.click("#add")
	check("one of two is empty")
	b.write(foreign)
	check("not decided")
	b.click(`[aria-label="Remove text 1"]`)
	b.click("#clear")
	check("empty")

	s, _ = withFeedback(t, server.Config{Finder: newFinder(t)})
	b = s.open(t)
	b.write("Write to zoe@example.com, you idiot.")
	b.click("#wrong")
	check("personal data and feedback")
	s.handle(refuse(http.StatusUnauthorized, "wrong_key", "this server needs a key"))
	b.paste(friendly)
	b.says("#problem", "requires an API key")
	check("no key")
}

// TestAccessibility: axe-core finds no error in any look and state, no look needs
// horizontal scrolling at 320 pixels, and nothing moves for users who do not want
// motion.
func TestAccessibility(t *testing.T) {
	axe, err := os.ReadFile("testdata/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("failed to read axe-core: run `make chromium`: %v", err)
	}
	judge := &verdicts{verdict: verdictOn(borderline, "stupid idea"), let: make(chan struct{})}
	kept, _ := servertest.Results(t)
	s, _ := withFeedback(t, server.Config{Results: kept, Judge: answering{}, Finder: newFinder(t)}, believing(judge))
	b := s.open(t)
	eval[any](b, string(axe)+"; null")
	check := func(state string) {
		for _, l := range looks {
			b.as(l)
			// Bars fill and colours change in 0.2 seconds.
			b.do(chromedp.Sleep(300 * time.Millisecond))
			found := eval[[]string](b, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.html + ": " + n.failureSummary)))`)
			for _, violation := range found {
				t.Errorf("%s, %s: %s", state, l.name, violation)
			}
			if width := eval[int64](b, `document.scrollingElement.scrollWidth`); width > l.width {
				t.Errorf("%s, %s: the page is %d pixels wide", state, l.name, width)
			}
			b.picture(state + ", " + l.name)
		}
	}
	check("example")
	b.do(chromedp.Focus(chromedp.CSS("#attributes .name")))
	check("explained")
	b.do(chromedp.Focus(chromedp.CSS("#attributes input")))
	b.press(kb.ArrowLeft)
	check("threshold")
	b.click("#reset")
	b.click("#wrong")
	b.click(`[aria-label="insult is too high"]`)
	check("feedback")
	b.click("#send-feedback")
	b.says("#feedback-said", "Thank you")
	check("thanks")
	b.click("#keep")
	b.click("#clear")
	check("empty")
	b.write(borderline)
	b.says("#judge", "has not answered yet")
	check("waiting")
	b.as(looks[1])
	if moving := eval[int](b, `document.getAnimations().filter(a => a.playState === "running").length`); moving != 0 {
		t.Errorf("%d things move although nothing should", moving)
	}
	close(judge.let)
	b.says("#judge", "part of the score")
	b.do(chromedp.Focus(chromedp.CSS("mark")))
	check("judged")
	b.write(strings.Repeat(friendly+" ", 60) + strings.Repeat(insult+" ", 20))
	b.wait(`!document.querySelector("#passages-section").hidden`)
	check("long")
	for _, text := range []string{insult, foreign} {
		b.click("#add")
		b.write(text)
	}
	b.wait(`document.querySelectorAll("#texts .track").length === 21`)
	check("compared")
	s.handle(refuse(http.StatusUnauthorized, "wrong_key", "this server needs a key"))
	b.paste(strings.Repeat("Averylongwordwithoutanyblank", 20))
	b.says("#problem", "requires an API key")
	check("no key")
}

// TestKeyboard: the Tab key reaches all controls in their order on the page, and the
// focus is visible.
func TestKeyboard(t *testing.T) {
	s, _ := withFeedback(t, server.Config{Finder: newFinder(t)})
	b := s.open(t)
	b.click("#keep")
	b.write(insult)
	b.do(chromedp.Focus(chromedp.CSS(`[aria-label="Threshold of threat"]`)))
	b.press(kb.Home) // so that there are thresholds to copy
	b.click("#add")
	b.write(example)
	b.click("#wrong")
	b.do(chromedp.Focus(chromedp.ID("text")))
	for range 7 {
		b.press(kb.Tab, chromedp.ModifierShift)
	}
	var stops []string
	for range 80 {
		stop := eval[string](b, `(e => e === document.body ? "" : e.id || e.ariaLabel || (e.matches("input") ? e.value : e.textContent))(document.activeElement)`)
		if stop == "" || len(stops) > 0 && stop == stops[0] {
			break
		}
		stops = append(stops, stop)
		if !eval[bool](b, `[document.activeElement, document.activeElement.nextElementSibling].some(e => e && getComputedStyle(e).outlineStyle === "solid" && parseFloat(getComputedStyle(e).outlineWidth) >= 2)`) {
			t.Errorf("the focus on %s is not visible", stop)
		}
		b.press(kb.Tab)
	}
	want := []string{"add", "link", "clear", "Disguised word", "Insult", "Harsh criticism", "Thanks", "text", "wrong"}
	for _, a := range toxscreen.Attributes() {
		name := strings.ReplaceAll(a.String(), "_", " ")
		want = append(want, name, "Threshold of "+name)
	}
	want = append(want, "copy-yaml", "reset")
	for _, a := range toxscreen.Attributes() {
		name := strings.ReplaceAll(a.String(), "_", " ")
		want = append(want, name+" is too high", name+" is too low")
	}
	want = append(want, "send-feedback", "cancel-feedback",
		"1"+insult, "Remove text 1", "2"+example, "Remove text 2", "highest", "1d10t", "mask", "personal",
		"native", "curl", "copy", "request", "answer", "format-document", "keep", "forget",
		fmt.Sprintf("%.2f%s", s.score(t, example).Score, example), fmt.Sprintf("%.2f%s", s.score(t, insult).Score, insult),
		"OpenAPI description", "documents", "the server", "the command line", "moving from the Perspective API", "what the model can and cannot do",
	)
	if !slices.Equal(stops, want) {
		t.Errorf("the Tab key reaches\n%q, want\n%q", stops, want)
	}
}
