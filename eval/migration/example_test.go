package migration_test

import (
	"fmt"
	"log"

	"github.com/toxscreen/toxscreen/eval/migration"
)

// A row with an answer of the Perspective API, as people keep it.
func ExampleColumns_Row() {
	columns := migration.Columns{Text: "text", Labels: "labels", Language: "language"}
	row, err := columns.Row(1, "17", []byte(`{"text": "…", "attributeScores": {"INSULT": {"summaryScore": {"value": 0.83}}}, "labels": {"insult": 0.6}}`))
	if err != nil {
		log.Fatal(err)
	}
	for attribute, score := range row.Scores.All() {
		label, _ := row.Labels.Get(attribute)
		fmt.Println(attribute, score, label)
	}
	// Output: insult 0.83 0.6
}
