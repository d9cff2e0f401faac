package rows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
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
