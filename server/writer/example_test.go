package writer_test

import (
	"fmt"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server/writer"
)

func ExampleToLabels() {
	fmt.Printf("%+v\n", writer.ToLabels(toxscreen.Result{Score: 0.9}))
	// Output: [{ClassName:toxic Score:0.1}]
}
