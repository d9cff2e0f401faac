package labelled_test

import (
	"encoding/json"
	"log"
	"os"
	"strings"

	"github.com/toxscreen/toxscreen/rows"
	"github.com/toxscreen/toxscreen/rows/labelled"
)

// Fusion parameters are fitted to a file of results with labels.
func ExampleRead() {
	const scored = `{"row":1,"id":"a","score":0.7,"flagged":true,"attributes":{"toxicity":{"score":0.7,"classifier":0.8,"threshold":0.5,"flagged":true}},` +
		`"versions":{"model":"mine@1"},"input":{"labels":{"toxicity":1},"weight":2}}`
	all, err := labelled.Read(rows.Standard, strings.NewReader(scored))
	if err != nil {
		log.Fatal(err)
	}
	row := all.Rows[0]
	if err := json.NewEncoder(os.Stdout).Encode([]any{all.Model, row.Name, row.Found.Scores, row.Labels, row.Weight}); err != nil {
		log.Fatal(err)
	}
	// Output: ["mine@1","a",{"toxicity":0.8},{"toxicity":1},2]
}
