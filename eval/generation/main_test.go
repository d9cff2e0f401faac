package generation

import (
	"testing"

	"go.uber.org/goleak"
)

// No run leaves a goroutine behind, however it ends.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}
