package disguise_test

import (
	"fmt"
	"log"
	"os"

	"github.com/toxscreen/toxscreen/disguise"
	"github.com/toxscreen/toxscreen/tokenize"
)

// The reading of a text, and the position of one of its words in the original text.
func ExampleRead() {
	data, err := os.ReadFile("../models/toxicity-en/tokenizer.json")
	if err != nil {
		log.Fatal(err)
	}
	tokenizer, err := tokenize.Load(data)
	if err != nil {
		log.Fatal(err)
	}
	const text = "you are an i d i o t"
	reading := disguise.Read(text, tokenizer)
	start, end := reading.Original(11, 16)
	fmt.Printf("%q\n%q is written %q\n", reading.Text, reading.Text[11:16], text[start:end])
	// Output:
	// "you are an idiot"
	// "idiot" is written "i d i o t"
}
