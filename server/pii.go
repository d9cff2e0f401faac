package server

import (
	"context"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
)

// Finder returns [Config.Finder]. Without one, the error is the failure of requests that need
// it.
func (c *Call) Finder() (*pii.Finder, error) {
	if c.server.config.Finder == nil {
		return nil, Fail(Unsupported, "failed to find personal data: this server does not look for it")
	}
	return c.server.config.Finder, nil
}

// Find returns the personal data in a text, with byte offsets. Finding takes a place in the
// queue, like scoring.
func (c *Call) Find(ctx context.Context, finder toxscreen.EntityFinder, text string, t Turn) (entities []toxscreen.Entity, err error) {
	c.count(len(text))
	if most := c.server.config.MaxBytes; len(text) > most {
		return nil, Fail(TooLong, "failed to find personal data: the text has %d bytes, the limit is %d; raise the limit or split the text", len(text), most)
	}
	err = c.inTurn(ctx, len(text), t, func() (err error) {
		entities, err = finder.Find(ctx, text)
		return err
	})
	if err != nil {
		return nil, ended(ctx, err)
	}
	c.server.metrics.found(c.format.Name, entities)
	return entities, nil
}

// FindAll is [Call.Find] for the texts of a request. The error is that of the first text
// that failed.
func (c *Call) FindAll(ctx context.Context, finder toxscreen.EntityFinder, texts []string) ([][]toxscreen.Entity, error) {
	return all(ctx, c, texts, func(ctx context.Context, text string, t Turn) ([]toxscreen.Entity, error) {
		return c.Find(ctx, finder, text, t)
	})
}

// Mask masks the entities of a text. The new text must not have more bytes than a
// request, which only a long new_value could make.
func (c *Call) Mask(text string, entities []toxscreen.Entity, operators pii.Operators) (pii.Masked, error) {
	longest := 0
	for _, o := range operators {
		if o.NewValue != nil {
			longest = max(longest, len(*o.NewValue))
		}
	}
	if total := int64(len(text)) + int64(longest)*int64(len(entities)); total > c.server.config.MaxBody {
		return pii.Masked{}, Fail(TooLong, "failed to mask text: with a new_value of %d bytes for each entity, it could have %d bytes, the limit is %d", longest, total, c.server.config.MaxBody)
	}
	masked, err := pii.Mask(text, entities, operators)
	if err != nil {
		return pii.Masked{}, Fail(InvalidRequest, "%v", err)
	}
	return masked, nil
}
