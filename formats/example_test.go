package formats_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/formats"
)

func Example() {
	request, err := formats.ReadPerspectiveAnalyze([]byte(`{"comment": {"text": "you idiot"}, "requestedAttributes": {"INSULT": {}, "SPAM": {}}}`))
	if err != nil {
		log.Fatal(err)
	}
	result := toxscreen.Result{ // of a Screener for request.Comment.Text
		Score: 0.9, Attributes: map[toxscreen.Attribute]toxscreen.AttributeResult{toxscreen.Insult: {Score: 0.9, Flagged: true}},
	}
	scores, notMeasured := formats.ToPerspective(request, result, nil, []string{"en"})
	answer, err := json.Marshal(scores.AttributeScores)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(answer), notMeasured)
	// Output: {"INSULT":{"spanScores":[{"begin":0,"end":9,"score":{"value":0.9,"type":"PROBABILITY"}}],"summaryScore":{"value":0.9,"type":"PROBABILITY"}}} [SPAM]
}

func ExampleToWriterLabels() {
	fmt.Printf("%+v\n", formats.ToWriterLabels(toxscreen.Result{Score: 0.9}))
	// Output: [{ClassName:toxic Score:0.1}]
}

func ExampleSentences() {
	fmt.Printf("%q\n", formats.Sentences("You idiot. Thank you! Bye.", 100))
	// Output: ["You idiot. " "Thank you! " "Bye."]
}
