package ollama

import (
	"testing"

	"go.uber.org/goleak"
)

// No call leaves a goroutine behind, even if it fails.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
