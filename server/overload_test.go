package server_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/server"
)

// Texts have very different lengths and times. At three times its capacity, the
// server rejects nearly all of the surplus at once, and the texts that it admits
// meet the limit. A client that waits for a quarter of a second and is rejected
// then is an error of the estimate. That holds for a model that computes one text
// in each run, and for one that computes many, of which the short ones share runs.
func TestOverloadByTextsOfAllLengthsIsRefusedEarly(t *testing.T) {
	t.Run("a text a run", func(t *testing.T) { overload(t, toxscreen.ModelInfo{Parallel: 2}) })
	t.Run("shared runs", func(t *testing.T) { overload(t, toxscreen.ModelInfo{Parallel: 64, Short: 128}) })
}

// informed is a Classifier with its own ModelInfo.
type informed struct {
	classify
	info toxscreen.ModelInfo
}

func (i informed) Info() toxscreen.ModelInfo { return i.info }

func overload(t *testing.T, info toxscreen.ModelInfo) {
	info.Attributes = words.Info().Attributes
	synctest.Test(t, func(t *testing.T) {
		const most = 250 * time.Millisecond
		random := rand.New(rand.NewPCG(1, 2))
		var lock sync.Mutex
		takes := func(text string) time.Duration { // about as long as a core takes
			lock.Lock()
			defer lock.Unlock()
			return time.Duration(float64(len(text)+200) * 10_000 * (0.7 + 0.6*random.Float64()))
		}
		cores := make(chan struct{}, 2)
		model := informed{info: info, classify: func(ctx context.Context, text string) (toxscreen.Classification, error) {
			cores <- struct{}{}
			time.Sleep(takes(text))
			<-cores
			return words(ctx, text)
		}}
		ask := answering(t, toxscreen.New(model), server.Config{QueueWait: most / 2})
		length := func() int {
			lock.Lock()
			defer lock.Unlock()
			return int(min(1200, 230*math.Exp(1.1*random.NormFloat64())))
		}
		var answered, refused, late []time.Duration
		var clients sync.WaitGroup
		for i := range 10_000 {
			text := strings.Repeat("a", length())
			clients.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond) // in which two cores do a third of a text
				body, err := json.Marshal(map[string]string{"text": text})
				if err != nil {
					t.Error(err)
				}
				r, took := ask(string(body))
				lock.Lock()
				defer lock.Unlock()
				switch r.Status {
				case http.StatusOK:
					answered = append(answered, took)
				case http.StatusTooManyRequests:
					refused = append(refused, took)
				case http.StatusServiceUnavailable:
					late = append(late, took)
				default:
					t.Errorf("status %d", r.Status)
				}
			})
		}
		clients.Wait()
		slices.Sort(answered)
		slices.Sort(refused)
		p99 := answered[len(answered)*99/100]
		t.Logf("%d answered, p99 %s, %d refused at once, %d after they waited", len(answered), p99, len(refused), len(late))
		// In ten seconds two cores can do 3,600 texts, and are never idle.
		if len(answered) < 3400 || p99 > most || len(late) > len(refused)/1000 || refused[len(refused)-1] > 0 {
			t.Errorf("%d answered, p99 %s, %d refused within %s, %d after they waited", len(answered), p99, len(refused), refused[len(refused)-1], len(late))
		}
	})
}
