package models_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/models"
)

// The network finds in Go what it finds in training/entities_export.py, which wrote the
// file: the same names, and the same scores to the rounding of a shared run.
func TestNamesAreThoseOfTheTraining(t *testing.T) {
	data, err := os.ReadFile("../testdata/pii/names.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts []struct {
		Text     string
		Entities []toxscreen.Entity
	}
	if err := json.Unmarshal(data, &texts); err != nil {
		t.Fatal(err)
	}
	names := openNames(t)
	for _, want := range texts {
		found, err := names.Find(t.Context(), want.Text)
		if err != nil {
			t.Fatal(err)
		}
		same := func(a, b toxscreen.Entity) bool {
			return a.Type == b.Type && a.Start == b.Start && a.End == b.End && max(a.Score-b.Score, b.Score-a.Score) < 0.01
		}
		if !slices.EqualFunc(found, want.Entities, same) {
			t.Errorf("%q:\n%v, want\n%v", want.Text, found, want.Entities)
		}
	}
}

// Two names that a line break, a tab or a border of a table divides are two, whatever the network
// says of the words beside it: it reads white space as one blank. An address may have several lines.
func TestNamesEndAtBorders(t *testing.T) {
	names := openNames(t)
	for _, text := range []string{ // «» stand around each name
		"«Anna Berg»\n«Tom Hill»", "«Anna Berg»\r\n«Tom Hill»", "«Anna Berg»\r«Tom Hill»", "«Anna Berg»\v«Tom Hill»", "«Anna Berg»\f«Tom Hill»",
		"«Anna Berg»\u2028«Tom Hill»", "«Anna Berg»\u2029«Tom Hill»", "«Anna Berg»\u0085«Tom Hill»", "«Anna Berg»\n\n«Tom Hill»",
		"«Anna Berg»\t«Tom Hill»", "«Anna Berg»      «Tom Hill»", "«Anna Berg»\u00a0\u00a0«Tom Hill»",
		"«Anna\u00a0Berg» and «Tom\u2009Hill»", // one blank of any width is no border
		"«ANNA BERG»\n«TOM HILL»\n«RUTH OKAFOR»", "- «Anna Berg»\n- «Tom Hill»", "Regards,\n«Anna»\n«Tom Hill»",
		"| «Anna Berg» | «Tom Hill» |", "«Anna Berg» │ «Tom Hill»", "| name | boss |\n|---|---|\n| «Anna Berg» | «Tom Hill» |\n| «Ruth Okafor» | «Jan Novak» |",
		"name\tboss\n«Anna Berg»\t«Tom Hill»\n«Ruth Okafor»\t«Jan Novak»", "name;boss\n«Anna Berg»;«Tom Hill»\n«Ruth Okafor»;«Jan Novak»",
		"name,boss\n«Anna Berg»,«Tom Hill»\n«Ruth Okafor»,«Jan Novak»", "last,first\n«Berg»,«Anna»\n«Hill»,«Tom»",
		"«Anna Berg», «Tom Hill», and «Ruth Okafor» met.",
		"«Leeds»\n«York»\n«Paris»", "«Acme Corporation»\n«Globex Inc.»", "«German»\n«Dutch»",
		"«Anna Berg»\n«12 Elm Street\nSpringfield, IL 62704»", "«221B Baker Street,\r\nLondon NW1 6XE»",
		"«12 Elm Street, Leeds»\n«14 Oak Road, York»\n«3 Mill Lane, Bath»",
		"street\ttown\n«12 Elm Street»\t«Springfield, IL 62704»\n«4 Oak Road»\t«Leeds LS1 4AP»",
	} {
		plain := strings.NewReplacer("«", "", "»", "").Replace(text)
		found, err := names.Find(t.Context(), plain)
		if err != nil {
			t.Fatal(err)
		}
		var marked strings.Builder
		at := 0
		for _, e := range found {
			marked.WriteString(plain[at:e.Start] + "«" + plain[e.Start:e.End] + "»")
			at = e.End
		}
		marked.WriteString(plain[at:])
		if marked.String() != text {
			t.Errorf("%q, want %q", marked.String(), text)
		}
	}
}

// Tools bear names of people. In technical company they are no persons; whoever has the name of a
// tool is one, also among technical words.
func TestNamesOfTools(t *testing.T) {
	names := openNames(t)
	for text, want := range map[string][]string{
		"Jenkins is down again, can someone restart the server?": nil,
		"The Jenkins pipeline failed. Jenkins is slow today.":    nil, // as in the sentence before
		"Ping Jenkins logs": nil,
		"We run the tests on Travis CI. Travis keeps failing on master.":    nil,
		"Travis keeps failing on the master branch.":                        nil,
		"Claude 3.5 Sonnet is a model.":                                     nil,
		"Claude Opus 4 wrote the function, then the tests passed.":          nil,
		"Claude Code and Travis CI":                                         nil,
		"I asked ChatGPT and Claude the same question.":                     nil,
		"Docker keeps eating all memory on the server.":                     nil,
		"Kafka is lagging behind, restart the broker.":                      nil,
		"Gemini returned JSON that the parser rejected.":                    nil,
		"Siri and Alexa are voice assistants.":                              nil,
		"Julius AI plots the CSV.":                                          nil,
		"BERT and Roberta embeddings of the dataset":                        nil,
		"| tool | version |\n|---|---|\n| Jenkins | 2.440.1 |":              nil,
		"Travis and his wife Claude came to dinner.":                        {"Travis", "Claude"},
		"Dr. Jenkins will see you now.":                                     {"Jenkins"},
		"Dr. Jenkins is informed. Jenkins is slow.":                         {"Jenkins", "Jenkins"},
		"Ruby Jenkins fixed the build.":                                     {"Ruby Jenkins"},
		"Travis fixed the pipeline yesterday.":                              {"Travis"},
		"Travis, our DevOps engineer, set up the build server.":             {"Travis"},
		"Travis: the build failed, I will look at the logs":                 {"Travis"},
		"Travis Okafor deployed the server.":                                {"Travis Okafor"},
		"Hi Travis, can you restart the server and check the logs?":         {"Travis"},
		"Claude said he would restart the server.":                          {"Claude"},
		"Claude merged the pull request and pushed the image to the server": {"Claude"},
		"I spoke with Travis about the pipeline and the server.":            {"Travis"},
		"Assigned to Jenkins, reported by Hudson.":                          {"Jenkins", "Hudson"},
		"Travis' code is clean.":                                            {"Travis"},
		"Jenkins, who runs the server, is on leave.":                        {"Jenkins"},
		"Ping Travis about the build.":                                      {"Travis"},
		"Ping Li fixed the server build.":                                   {"Ping Li"},
		"Julia hosts a dinner for the clients.":                             {"Julia"},
		"Victoria downloads music every evening.":                           {"Victoria"},
		"Julia uploads photos of the party.":                                {"Julia"},
		"Victoria logs in to the app every day.":                            {"Victoria"},
		"Victoria restarted the server.":                                    {"Victoria"},
		"Jenkins passed the ball to an open man.":                           {"Jenkins"},
		"Meeting with Travis and Julia about Jenkins pipelines.":            {"Travis", "Julia"},
		"| name | age |\n|---|---|\n| Travis | 34 |\n| Julia | 29 |":        {"Travis", "Julia"},
	} {
		found, err := names.Find(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		var people []string
		for _, e := range found {
			if e.Type == "PERSON" {
				people = append(people, text[e.Start:e.End])
			}
		}
		if !slices.Equal(people, want) {
			t.Errorf("%q: %q, want %q", text, people, want)
		}
	}
}

// Long texts are read in windows; a name in a window's overlap is found once.
func TestNamesOfALongText(t *testing.T) {
	names := openNames(t)
	text, at := "", []int{}
	for range 60 {
		text += "The invoice was paid in time and nobody complained about it. "
		at = append(at, len(text))
		text += "Margaret Johnson signed the letter. "
	}
	found, err := names.Find(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	var starts []int
	for _, e := range found {
		if e.Type != "PERSON" {
			t.Errorf("%q is of the type %s", text[e.Start:e.End], e.Type)
		}
		if found := text[e.Start:e.End]; found != "Margaret Johnson" {
			t.Errorf("found %q, want Margaret Johnson", found)
		}
		starts = append(starts, e.Start)
	}
	if !slices.Equal(starts, at) {
		t.Errorf("%v, want %v", starts, at)
	}
}

// A finder that never saw a text need not have opened the network.
func TestNamesAreOpenedByTheFirstText(t *testing.T) {
	names, err := models.OpenNames(models.Options{Library: "nowhere.so"})
	if err != nil {
		t.Fatal(err)
	}
	if types := names.Types(); len(types) != 5 {
		t.Errorf("the types are %v, want five", types)
	}
	if names.Version() == "" {
		t.Error("there is no version")
	}
	if _, err := names.Find(t.Context(), "text"); err == nil {
		t.Error("a text was read without the library")
	}
	if err := names.Close(); err != nil {
		t.Error(err)
	}
}

func openNames(t *testing.T) *models.Names {
	t.Helper()
	names, err := models.OpenNames(models.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := names.Close(); err != nil {
			t.Error(err)
		}
	})
	return names
}
