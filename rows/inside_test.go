package rows

import (
	"context"
	"testing"
)

// The rows that are read ahead have a limited number of bytes.
func TestBudget(t *testing.T) {
	b := newBudget(100)
	if !b.take(t.Context(), 1000) {
		t.Error("a single row over the budget must pass")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if b.take(ctx, 1) {
		t.Error("nothing may pass while the budget is used up")
	}
	b.give(1000)
	if !b.take(ctx, 60) || !b.take(ctx, 40) {
		t.Error("a row that fits must pass")
	}
	waiting := make(chan bool)
	go func() { waiting <- b.take(t.Context(), 50) }()
	b.give(40)
	b.give(60)
	if !<-waiting {
		t.Error("a waiting row must pass when there is room")
	}
}
