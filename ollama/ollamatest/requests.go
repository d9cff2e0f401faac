//go:build unix

package ollamatest

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/ollama/ollama/api"
)

// Requests keeps what a [Proxy] was asked to ask a model. Who reads the fields
// while calls are under way reads them by [Requests.Counts].
type Requests struct {
	Asked []api.ChatRequest
	Loads []api.ChatRequest // those for one token: they load the model

	mu sync.Mutex
}

// Plan is a plan that keeps the requests, and has those that load nothing meet
// the faults of another plan; nil is none.
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

// Counts returns how often the model was asked something and loaded.
func (r *Requests) Counts() (asked, loads int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.Asked), len(r.Loads)
}
