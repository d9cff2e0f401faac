package tokenize_test

import (
	"fmt"
	"log"
	"os"

	"github.com/toxscreen/toxscreen/tokenize"
)

// The tokens of a text and their positions in it.
func ExampleTokenizer_Encode() {
	data, err := os.ReadFile("../models/toxicity-en/tokenizer.json")
	if err != nil {
		log.Fatal(err)
	}
	t, err := tokenize.Load(data)
	if err != nil {
		log.Fatal(err)
	}
	const text = "Très gentil!"
	var enc tokenize.Encoding
	if err := t.Encode(text, &enc); err != nil {
		log.Fatal(err)
	}
	for i, at := range enc.Offsets {
		fmt.Printf("%5d word %d %q\n", enc.IDs[i], enc.Words[i], text[at.Start:at.End])
	}
	// Output:
	// 24403 word 0 "Très"
	//  8991 word 1 "gen"
	//  3775 word 1 "ti"
	//  2140 word 1 "l"
	//   999 word 2 "!"
}
