package pii_test

import (
	"context"
	"fmt"
	"log"

	"github.com/toxscreen/toxscreen/pii"
)

func ExampleFinder_Find() {
	finder, err := pii.New(pii.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	text := "His SSN is 123-45-6789, his card 4111 1111 1111 1111."
	entities, err := finder.Find(context.Background(), text)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range entities {
		fmt.Printf("%s %q %.2f %v\n", e.Type, text[e.Start:e.End], e.Score, e.Why)
	}
	// Output:
	// US_SSN "123-45-6789" 0.54 [pattern cue "ssn"]
	// CREDIT_CARD "4111 1111 1111 1111" 1.00 [checksum cue "card"]
}

func ExampleReadRecognizers() {
	own, _, err := pii.ReadRecognizers([]byte(`
recognizers:
  - name: staff numbers
    supported_entity: STAFF_NUMBER
    patterns: [{name: letter and digits, regex: '\bE\d{6}\b', score: 0.3}]
    context: [employee]
`))
	if err != nil {
		log.Fatal(err)
	}
	finder, err := pii.New(pii.Settings{Recognizers: own})
	if err != nil {
		log.Fatal(err)
	}
	entities, err := finder.Find(context.Background(), "Employee E123456 called.")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(entities[0].Type, entities[0].Score, entities[0].Why)
	// Output: STAFF_NUMBER 0.7 [pattern cue "employee"]
}
