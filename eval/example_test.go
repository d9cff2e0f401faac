package eval_test

import (
	"fmt"

	"github.com/toxscreen/toxscreen/eval"
)

func Example() {
	rows := []eval.Scored{
		{P: 0.9, Toxic: true, Weight: 1},
		{P: 0.7, Toxic: false, Weight: 1},
		{P: 0.2, Toxic: false, Weight: 2},
	}
	decisions := eval.Decide(rows, 0.5)
	fmt.Printf("log loss %.3f, accuracy %.2f, F1 %.2f\n", eval.LogLoss(rows), decisions.Accuracy(), decisions.F1())
	// Output: log loss 0.439, accuracy 0.75, F1 0.67
}
