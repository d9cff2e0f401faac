package ollama

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/ollama/ollama/api"
)

// fault is an error of the server, not of the question.
type fault struct {
	kind  string // what failed, without an address or the server's own words
	err   error  // the same with both, and what to do
	again bool   // whether a retry can help
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// shown returns an error as the caller gets it. If there is a log, a fault is logged.
func (c *Client) shown(err error) error {
	failed, ok := errors.AsType[*fault](err)
	if !ok || c.config.Log == nil {
		return err
	}
	c.config.Log.Warn("the "+c.config.Name+" failed", "error", failed.err)
	return c.public(failed)
}

// public returns a fault for callers: its kind, if there is a log for the rest.
func (c *Client) public(f *fault) error {
	if c.config.Log == nil {
		return f.err
	}
	return errors.New(f.kind)
}

// server returns a sentence about the server without its address.
func (c *Client) server(did string) string { return "the " + c.config.Name + "'s server " + did }

// explain turns the error of a call into one for people, and into a fault if it is
// the server's. ctx is the caller's.
func (c *Client) explain(ctx context.Context, err error) error {
	status, isStatus := errors.AsType[api.StatusError](err)
	message := strings.ToLower(err.Error())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return &fault{fmt.Sprintf("model %s did not complete its answer within %v", c.config.Model, c.config.Timeout), fmt.Errorf("model %s at %s did not complete its answer within %v: raise the %s's time limit, or use a smaller model", c.config.Model, c.base.Host, c.config.Timeout, c.config.Name), false}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &fault{c.server("does not answer"), fmt.Errorf("no server answers at %s: start one with `ollama serve`, or check the address: %w", c.base.Host, err), true}
	case isStatus && status.StatusCode == http.StatusNotFound:
		return c.missing()
	case isStatus && status.StatusCode == http.StatusServiceUnavailable:
		return &fault{c.server("is overloaded"), fmt.Errorf("the server at %s is overloaded: lower the %s's parallel calls or raise the server's OLLAMA_MAX_QUEUE: %w", c.base.Host, c.config.Name, err), true}
	case strings.Contains(message, "exceeds the context length"):
		return fmt.Errorf("the prompt does not fit into the context of model %s: %w", c.config.Model, err)
	case strings.Contains(message, "does not support"):
		return fmt.Errorf("model %s cannot answer: %w", c.config.Model, err)
	case isStatus && status.StatusCode < http.StatusInternalServerError:
		return &fault{c.server("rejected the request"), fmt.Errorf("the server at %s rejected the request: %w", c.base.Host, err), false}
	}
	if _, redirected := errors.AsType[*url.Error](err); redirected && strings.Contains(message, "it redirects to") {
		return &fault{c.server("redirects to another"), fmt.Errorf("failed to reach %s: %w", c.base.Host, err), false}
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return &fault{c.server("was not found"), fmt.Errorf("failed to find the server %s: check the address: %w", c.base.Host, err), false}
	}
	// A reset, an end in mid-stream, an error inside the stream, a dead runner: a
	// restarting server causes all of them. The error quotes a line that is not JSON
	// unchanged. If that is the beginning of a message, the model's words are in it.
	said := fmt.Sprintf("%.300s", strings.ToValidUTF8(err.Error(), "\uFFFD"))
	if strings.HasPrefix(said, "{") {
		said = "its answer broke off"
	}
	return &fault{c.server("failed"), fmt.Errorf("the server at %s failed: %s", c.base.Host, said), true}
}

func (c *Client) missing() *fault {
	return &fault{c.server("has no model " + c.config.Model),
		fmt.Errorf("the server at %s has no model %s: get it with `ollama pull %s`, or choose one from `ollama list`", c.base.Host, c.config.Model, c.config.Model), false}
}
