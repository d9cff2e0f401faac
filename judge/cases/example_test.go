package cases_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/toxscreen/toxscreen/judge/cases"
)

// The cost of a run is estimated without a server.
func ExampleNewPlan() {
	all, err := cases.Read(strings.NewReader(`{"case_id": "hamlet", "output": "The central theme is mortality."}`), 0)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := cases.NewPlan(all)
	if err != nil {
		log.Fatal(err)
	}
	estimate := plan.Estimate(0)
	fmt.Println(estimate.Cases, "case,", estimate.Calls, "calls of the judge")
	// Output: 1 case, 2 calls of the judge
}
