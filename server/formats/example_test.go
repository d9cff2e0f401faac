package formats_test

import (
	"fmt"

	"github.com/toxscreen/toxscreen/server/formats"
)

func ExampleAll() {
	for _, format := range formats.All(formats.Config{}) {
		fmt.Println(format.Name)
	}
	// Output:
	// native
	// perspective
	// openai
	// litellm
	// patronus
	// presidio
	// writer
}
