package writer

import (
	"context"
	"net/http"

	"github.com/toxscreen/toxscreen/server"
)

// Format returns the format. Writer has no route for its check, so the route and the
// failures are our own.
func Format() server.Format {
	return server.Format{Name: "writer", Routes: []server.Route{{Pattern: "POST /v1/toxic-check", Handle: check}}}
}

func check(c *server.Call) error {
	var in request
	if err := c.Decode(&in); err != nil {
		return err
	}
	var texts []string
	for _, text := range []*string{in.Prompt, in.Completion} {
		if text != nil {
			texts = append(texts, *text)
		}
	}
	if len(texts) == 0 {
		return server.Fail(server.InvalidRequest, `failed to read the request: it has no text: send {"prompt": "…", "completion": "…"} or one of them`)
	}
	labels, err := labelsOf(c.Request.Context(), c, texts, server.Text{})
	if err != nil {
		return err
	}
	var out Check
	if in.Prompt != nil {
		out.PromptLabels, labels = labels[0], labels[1:]
	}
	if in.Completion != nil {
		out.CompletionLabels = labels[0]
	}
	c.Send(http.StatusOK, out)
	return nil
}

// Completion answers about a text as Writer does about a completion.
func Completion(ctx context.Context, c *server.Call, t server.Text) (any, error) {
	labels, err := labelsOf(ctx, c, []string{t.Text}, t)
	if err != nil {
		return nil, err
	}
	return Check{CompletionLabels: labels[0]}, nil
}

// labelsOf returns the labels of texts. A text that is not decided is a failure,
// since Writer has no label for it.
func labelsOf(ctx context.Context, c *server.Call, texts []string, base server.Text) ([][]Label, error) {
	results, err := c.Decide(ctx, texts, base)
	if err == nil {
		err = server.AllDecided(results)
	}
	if err != nil {
		return nil, err
	}
	labels := make([][]Label, len(results))
	for i, result := range results {
		labels[i] = ToLabels(result)
	}
	return labels, nil
}
