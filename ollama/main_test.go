package ollama

import (
	"testing"

	"go.uber.org/goleak"
)

// No call leaves a goroutine behind, whatever becomes of it.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
