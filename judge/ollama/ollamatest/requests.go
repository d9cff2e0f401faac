//go:build unix

package ollamatest

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/ollama/ollama/api"
)

// Requests records the requests for a model at a [Proxy]. While calls are in
// progress, use [Requests.Counts] instead of the fields.
type Requests struct {
	Asked []api.ChatRequest
	Loads []api.ChatRequest // requests for one token, which load the model

	mu sync.Mutex
}

// Plan is a plan that records the requests, and applies the faults of another plan
// to those that do not load the model; nil means no faults.
func (r *Requests) Plan(t testing.TB, faults func(Call) Fault) func(Call) Fault {
	return func(call Call) Fault {
		var request api.ChatRequest
		if err := json.Unmarshal(call.Body, &request); err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if request.Options["num_predict"] == 1.0 {
			r.Loads = append(r.Loads, request)
			return nil
		}
		r.Asked = append(r.Asked, request)
		if faults == nil {
			return nil
		}
		return faults(call)
	}
}

// Counts returns how often the model was asked, and how often it was loaded.
func (r *Requests) Counts() (asked, loads int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.Asked), len(r.Loads)
}
