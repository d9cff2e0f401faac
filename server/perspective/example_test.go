package perspective_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server/perspective"
)

func Example() {
	request, err := perspective.ReadAnalyze([]byte(`{"comment": {"text": "you idiot"}, "requestedAttributes": {"INSULT": {}, "SPAM": {}}}`))
	if err != nil {
		log.Fatal(err)
	}
	result := toxscreen.Result{ // of a Screener for request.Comment.Text
		Score: 0.9, Attributes: map[toxscreen.Attribute]toxscreen.AttributeResult{toxscreen.Insult: {Score: 0.9, Flagged: true}},
	}
	scores, notMeasured := perspective.ToScores(request, result, nil, toxscreen.Language{Code: "en"})
	answer, err := json.Marshal(scores.AttributeScores)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(answer), notMeasured)
	// Output: {"INSULT":{"spanScores":[{"begin":0,"end":9,"score":{"value":0.9,"type":"PROBABILITY"}}],"summaryScore":{"value":0.9,"type":"PROBABILITY"}}} [SPAM]
}
