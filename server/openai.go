package server

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/toxscreen/toxscreen/formats"
	"github.com/toxscreen/toxscreen/internal/plainjson"
)

// openAI is OpenAI's moderations API, with the list of models, by which programs check
// an address and a key.
var openAI = api{
	name: "openai", fail: failOpenAI, routes: (*Server).openAIRoutes,
	paths: []string{"/v1/moderations", "/v1/models"},
}

func (s *Server) openAIRoutes() []route {
	models := formats.NewOpenAIModels(s.screener.Info().Version, time.Now())
	return []route{
		{pattern: "POST /v1/moderations", handle: s.moderate},
		{pattern: "GET /v1/models", handle: func(w http.ResponseWriter, _ *http.Request) error {
			writeJSON(w, http.StatusOK, models)
			return nil
		}},
		{pattern: "GET /v1/models/{model}", handle: func(w http.ResponseWriter, r *http.Request) error {
			if r.PathValue("model") != models.Data[0].ID {
				return fail(notFound, "failed to describe the model: this server has only %s", models.Data[0].ID)
			}
			writeJSON(w, http.StatusOK, models.Data[0])
			return nil
		}},
	}
}

func failOpenAI(w http.ResponseWriter, r *http.Request, f *failure) {
	kind, param, name := "invalid_request_error", "", ""
	wrong, isField := errors.AsType[*plainjson.FieldError](f.cause)
	switch {
	case f.code == wrongKey:
		name = "invalid_api_key"
	case f.code == wrongLanguage, f.code == unsupported:
		param, name = "input", string(f.code)
	case f.code == notFound && r.PathValue("model") != "":
		param, name = "model", "model_not_found"
	case f.code == notFound:
		name = "unknown_url"
	case f.retry > 0:
		kind, name = "requests", "rate_limit_exceeded"
	case f.status() >= http.StatusInternalServerError:
		kind = "server_error"
	case isField:
		param = wrong.Field
	case f.code == invalidRequest, f.code == tooLong, f.code == tooManyTexts:
		param = "input"
	}
	writeJSON(w, f.status(), formats.NewOpenAIError(f.message, kind, param, name))
}

func (s *Server) moderate(w http.ResponseWriter, r *http.Request) error {
	data, err := s.body(w, r, s.config.MaxBody)
	if err != nil {
		return err
	}
	if err := checkDepth(data); err != nil {
		return err
	}
	in, err := formats.ReadOpenAI(data)
	if err != nil {
		return &failure{code: invalidRequest, message: err.Error(), cause: err}
	}
	if err := s.checkImages(in.Images); err != nil {
		return err
	}
	if len(in.Texts) == 0 {
		return fail(unsupported, "failed to read input: it has no text, and images are not measured")
	}
	results, err := s.decisions(r.Context(), w.Header(), in.Texts, request{})
	if err != nil {
		return err
	}
	out := formats.OpenAIModeration{ID: "modr-" + rand.Text(), Model: cmp.Or(s.screener.Info().Version, in.Model)}
	for _, result := range results {
		one := formats.ToOpenAI(result)
		if len(in.Images) > 0 {
			one.Own.NotMeasured = append(one.Own.NotMeasured, formats.Images)
		}
		showNotMeasured(w.Header(), one.Own.NotMeasured) // the same for all results
		out.Results = append(out.Results, one)
	}
	writeJSON(w, http.StatusOK, out)
	return nil
}
