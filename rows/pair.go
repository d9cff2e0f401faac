package rows

import (
	"context"
	"fmt"
	"github.com/toxscreen/toxscreen/rows/input"
)

// pair is an open input and its output, which may be written.
type pair struct {
	ctx      context.Context
	cancel   context.CancelFunc
	options  Options
	in       input.Reader
	resuming bool // an output exists
}

func openPair(ctx context.Context, o Options) (*pair, error) {
	resuming, err := mayWrite(o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	in, err := o.open(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = interruption{ctx.Err()}
		}
		cancel()
		return nil, fmt.Errorf("failed to read %s: %w", o.inputName(), err)
	}
	return &pair{ctx: ctx, cancel: cancel, options: o, in: in, resuming: resuming}, nil
}

func (p *pair) close() error {
	p.cancel()
	return p.in.Close()
}
