package main

import (
	"context"
	"time"
)

func image(ctx context.Context, p program, out string, created time.Time) error { return nil }
