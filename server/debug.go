package server

import (
	"cmp"
	"net/http"
	"net/http/pprof"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/pii"
)

// metrics are the metrics for Prometheus. Clients choose no label values, so that
// their number is bounded.
type metrics struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec   // by API, status and failure
	seconds   *prometheus.HistogramVec // by API
	texts     *prometheus.CounterVec   // by API
	bytes     *prometheus.CounterVec   // by API
	scores    *prometheus.HistogramVec // by API
	flagged   *prometheus.CounterVec   // by API and attribute
	languages *prometheus.CounterVec   // by language and whether it is foreign
	entities  *prometheus.CounterVec   // by API and type
	judged    *prometheus.CounterVec   // by outcome
}

// newMetrics returns the metrics of a server.
func newMetrics(s *Server) *metrics {
	const space = "toxscreen"
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: space, Name: "requests_total", Help: "Requests that were answered."}, []string{"api", "status", "failure"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: space, Name: "request_seconds", Help: "Time from the headers of a request to the end of its answer.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 16), // to 33 s
		}, []string{"api"}),
		texts: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: space, Name: "texts_total", Help: "Texts in requests to score."}, []string{"api"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: space, Name: "text_bytes_total", Help: "Bytes of the texts in requests to score."}, []string{"api"}),
		scores: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: space, Name: "score", Help: "Scores of texts that were decided, the probability of toxicity, as answered.",
			Buckets: []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1},
		}, []string{"api"}),
		flagged: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: space, Name: "flagged_texts_total", Help: "Texts that were flagged for an attribute, as answered."}, []string{"api", "attribute"}),
		languages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: space, Name: "text_languages_total",
			Help: "Texts that were classified, by the language that they seem to be in, and whether the model does not know it.",
		}, []string{"language", "foreign"}),
		entities: prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: space, Name: "entities_total", Help: "Personal data that was found, as answered."}, []string{"api", "type"}),
		judged:   prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: space, Name: "judged_total", Help: "Texts that the judge was asked about."}, []string{"outcome"}),
	}
	versions := s.screener.Versions()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: space, Name: "build_info", Help: "Always 1, with the versions of toxscreen, the model and the calibration, as results have them, and of Go.",
		ConstLabels: prometheus.Labels{"version": versions.Toxscreen, "model": versions.Model, "calibration": versions.Calibration, "goversion": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(m.requests, m.seconds, m.texts, m.bytes, m.scores, m.flagged, m.languages, m.entities, m.judged, build,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: space, Name: "queue_seconds", Help: "Expected time to classify the texts in the queue."},
			func() float64 { return s.queue.expected(s.queue.waiting.Load()).Seconds() }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: space, Name: "body_bytes", Help: "Bytes of the bodies of requests under way."},
			func() float64 { return float64(s.memory.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: space, Name: "late_verdicts", Help: "Verdicts that are outstanding after their answers."},
			func() float64 { return float64(s.late.outstanding()) }),
		trusted{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// trusted are the metrics of what the judge's verdicts may change.
type trusted struct{ s *Server }

var trustedDesc = prometheus.NewDesc("toxscreen_judge_trusted", "1 if verdicts of the judge may change the score of the attribute, else 0.", []string{"attribute"}, nil)

// Describe implements [prometheus.Collector].
func (trusted) Describe(into chan<- *prometheus.Desc) { into <- trustedDesc }

// Collect implements [prometheus.Collector]. Without a judge there are no metrics.
func (t trusted) Collect(into chan<- prometheus.Metric) {
	if t.s.config.Judge == nil {
		return
	}
	trust, _ := t.s.judgeTrust()
	for _, a := range t.s.screener.Info().Attributes {
		value := 0.0
		if slices.Contains(trust.Attributes, a) {
			value = 1
		}
		into <- prometheus.MustNewConstMetric(trustedDesc, prometheus.GaugeValue, value, a.String())
	}
}

// answered counts a request.
func (m *metrics) answered(c *Call, status int) {
	failed := ""
	if c.failure != nil {
		failed = string(c.failure.Code)
	}
	m.requests.WithLabelValues(c.format.Name, strconv.Itoa(status), failed).Inc()
	m.seconds.WithLabelValues(c.format.Name).Observe(time.Since(c.began).Seconds())
	m.texts.WithLabelValues(c.format.Name).Add(float64(c.texts.Load()))
	m.bytes.WithLabelValues(c.format.Name).Add(float64(c.bytes.Load()))
}

// classified counts the language of a text that was classified. Languages are those
// that the classifier knows, and not what a client writes.
func (m *metrics) classified(found toxscreen.Language) {
	m.languages.WithLabelValues(cmp.Or(found.Code, "unknown"), strconv.FormatBool(found.Foreign)).Inc()
}

// scored counts a result as it is answered: one whose verdict comes later is
// counted with the classifier's scores. Scores that decide nothing are left out.
func (m *metrics) scored(api string, r toxscreen.Result) {
	m.found(api, r.Entities)
	if r.NotDecided != "" {
		return
	}
	m.scores.WithLabelValues(api).Observe(float64(r.Score))
	for a, result := range r.Attributes {
		if result.Flagged {
			m.flagged.WithLabelValues(api, a.String()).Inc()
		}
	}
}

// found counts entities. A type that package pii does not have is a name that a client or a
// setting gave to a recognizer.
func (m *metrics) found(api string, entities []toxscreen.Entity) {
	for _, e := range entities {
		name := string(e.Type)
		if !slices.Contains(pii.Types(), e.Type) {
			name = "other"
		}
		m.entities.WithLabelValues(api, name).Inc()
	}
}

// judged counts the outcome of asking the judge, and sets the judge's state.
func (s *Server) judged(r toxscreen.Result, err error) {
	outcome := "verdict"
	switch {
	case err != nil:
		outcome = "interrupted"
	case !r.Judge.Asked:
		outcome = "not worth it" // known only after the judge's server was asked
	case len(r.Judge.Verdicts) == 0:
		outcome = "none"
	}
	s.metrics.judged.WithLabelValues(outcome).Inc()
	switch outcome {
	case "verdict":
		s.judge.Store(judgeAnswers)
	case "none":
		s.judge.Store(judgeFails)
	}
}

// Debug returns the handler of /metrics and /debug/pprof/. It should listen on
// an address of its own: both tell more about the server than clients need to know.
func (s *Server) Debug() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
