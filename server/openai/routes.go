package openai

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"github.com/toxscreen/toxscreen/internal/plainjson"
	"github.com/toxscreen/toxscreen/server"
)

// Format returns the format: moderations, and the list of models, by which programs check
// an address and a key.
func Format() server.Format {
	since := time.Now()
	return server.Format{
		Name: "openai",
		Routes: []server.Route{
			{Pattern: "POST /v1/moderations", Handle: moderate},
			{Pattern: "GET /v1/models", Handle: func(c *server.Call) error {
				c.Send(http.StatusOK, newModels(c.Model().Version, since))
				return nil
			}},
			{Pattern: "GET /v1/models/{model}", Handle: func(c *server.Call) error {
				only := newModels(c.Model().Version, since).Data[0]
				if c.Request.PathValue("model") != only.ID {
					return server.Fail(server.NotFound, "failed to describe the model: this server has only %s", only.ID)
				}
				c.Send(http.StatusOK, only)
				return nil
			}},
		},
		Paths: []string{"/v1/moderations", "/v1/models"},
		Fail:  fail,
	}
}

func fail(c *server.Call, f *server.Failure) {
	kind, param, name := "invalid_request_error", "", ""
	wrong, isField := errors.AsType[*plainjson.FieldError](f.Cause)
	switch {
	case f.Code == server.WrongKey:
		name = "invalid_api_key"
	case f.Code == server.WrongLanguage, f.Code == server.Unsupported:
		param, name = "input", string(f.Code)
	case f.Code == server.NotFound && c.Request.PathValue("model") != "":
		param, name = "model", "model_not_found"
	case f.Code == server.NotFound:
		name = "unknown_url"
	case f.Retry > 0:
		kind, name = "requests", "rate_limit_exceeded"
	case f.Status() >= http.StatusInternalServerError:
		kind = "server_error"
	case isField:
		param = wrong.Field
	case f.Code == server.InvalidRequest, f.Code == server.TooLong, f.Code == server.TooManyTexts:
		param = "input"
	}
	c.Send(f.Status(), newError(f.Message, kind, param, name))
}

func moderate(c *server.Call) error {
	data, err := c.JSON()
	if err != nil {
		return err
	}
	in, err := Read(data)
	if err != nil {
		return &server.Failure{Code: server.InvalidRequest, Message: err.Error(), Cause: err}
	}
	if err := c.CheckImages(in.Images); err != nil {
		return err
	}
	if len(in.Texts) == 0 {
		return server.Fail(server.Unsupported, "failed to read input: it has no text, and images are not measured")
	}
	results, err := c.Decide(c.Request.Context(), in.Texts, server.Text{})
	if err != nil {
		return err
	}
	out := Moderation{ID: "modr-" + rand.Text(), Model: cmp.Or(c.Model().Version, in.Model)}
	for _, result := range results {
		one := ToResult(result)
		if len(in.Images) > 0 {
			one.Own.NotMeasured = append(one.Own.NotMeasured, server.Images)
		}
		server.ShowNotMeasured(c.Header(), one.Own.NotMeasured) // the same for all results
		out.Results = append(out.Results, one)
	}
	c.Send(http.StatusOK, out)
	return nil
}
