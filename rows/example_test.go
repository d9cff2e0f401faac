package rows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/models"
	"github.com/toxscreen/toxscreen/rows"
)

// A stream of JSONL is scored like a file.
func Example() {
	model, err := models.Open("../testdata/models/tiny", models.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()

	comments := strings.NewReader(`{"id": 17, "text": "you stupid idiot", "user": "ann"}
{"id": 18, "text": "what a lovely garden", "user": "bob"}
{"id": 19, "text": "a line that is
`)
	var scored strings.Builder
	job, err := rows.Open(context.Background(), rows.Options{Stdin: comments, Stdout: &scored})
	if err != nil {
		log.Fatal(err)
	}
	defer job.Close()
	summary, err := job.Score(toxscreen.New(model))
	if err != nil {
		log.Fatal(err)
	}

	for line := range strings.Lines(scored.String()) {
		var r rows.Result
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			log.Fatal(err)
		}
		if r.Error != "" {
			fmt.Println("row", r.Number, "failed:", r.Error)
			continue
		}
		fmt.Printf("%s by %s: flagged %t\n", r.ID, r.Input, r.Value.Flagged)
	}
	fmt.Println(summary.Rows, "rows,", summary.Flagged, "flagged,", summary.Failed, "failed")
	// Output:
	// 17 by {"user":"ann"}: flagged true
	// 18 by {"user":"bob"}: flagged false
	// row 3 failed: line 3: it is not JSON: unexpected end of JSON input; an object must be on one line
	// 3 rows, 1 flagged, 1 failed
}

// Fusion parameters are fitted to a file of results with labels.
func ExampleReadLabelled() {
	const scored = `{"row":1,"id":"a","score":0.7,"flagged":true,"attributes":{"toxicity":{"score":0.7,"classifier":0.8,"threshold":0.5,"flagged":true}},` +
		`"versions":{"model":"mine@1"},"input":{"labels":{"toxicity":1},"weight":2}}`
	labelled, err := rows.ReadLabelled(rows.Standard, strings.NewReader(scored))
	if err != nil {
		log.Fatal(err)
	}
	row := labelled.Rows[0]
	if err := json.NewEncoder(os.Stdout).Encode([]any{labelled.Model, row.Name, row.Found.Scores, row.Labels, row.Weight}); err != nil {
		log.Fatal(err)
	}
	// Output: ["mine@1","a",{"toxicity":0.8},{"toxicity":1},2]
}
