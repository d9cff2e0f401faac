package main

import (
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/classifier"
)

// Training gets what the classifier gives to the network, and the way back to each letter, which
// spans are marked by.
func TestRead(t *testing.T) {
	in := strings.NewReader(`{"id":"1","text":"Don’t, you 1d10t… https://example.org/idiot"}` + "\n" + `{"text":"It's plain."}` + "\n")
	var out strings.Builder
	if err := read("../../models/toxicity-en/tokenizer.json", classifier.Seen, in, &out); err != nil {
		t.Fatal(err)
	}
	const want = `{"differs":true,"id":"1","origin":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,16,16,17,18],` +
		`"plain":"Don't, you 1d10t... \n","reading":"Don't, you idiot... \n","text":"Don’t, you 1d10t… https://example.org/idiot"}
{"differs":false,"plain":"It's plain.","reading":"It's plain.","text":"It's plain."}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
