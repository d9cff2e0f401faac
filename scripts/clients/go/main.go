// Command go asks the Perspective API through Google's client library for Go.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"google.golang.org/api/commentanalyzer/v1alpha1"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
)

func main() {
	if err := run(context.Background(), os.Getenv("SERVER"), os.Getenv("KEY")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server, key string) error {
	// docs: begin
	service, err := commentanalyzer.NewService(ctx, option.WithAPIKey(key), option.WithEndpoint(server))
	if err != nil {
		return err
	}
	answer, err := service.Comments.Analyze(&commentanalyzer.AnalyzeCommentRequest{
		Comment:             &commentanalyzer.TextEntry{Text: "You are a stupid idiot. Have a nice day."},
		RequestedAttributes: map[string]commentanalyzer.AttributeParameters{"TOXICITY": {}},
		SpanAnnotations:     true,
	}).Context(ctx).Do()
	if err != nil {
		return err
	}
	toxicity := answer.AttributeScores["TOXICITY"]
	if toxicity.SummaryScore.Value < 0.7 {
		return fmt.Errorf("an insult scores only %v", toxicity.SummaryScore.Value)
	}
	// docs: end

	spans := toxicity.SpanScores
	if len(spans) != 2 || spans[0].Begin != 0 || spans[0].End != 24 || spans[1].Begin != 24 || spans[1].End != 40 {
		return fmt.Errorf("the spans are not the two sentences: %+v", spans)
	}
	if spans[0].Score.Value <= spans[1].Score.Value {
		return fmt.Errorf("the friendly sentence scores higher: %v and %v", spans[0].Score.Value, spans[1].Score.Value)
	}

	for _, c := range []struct {
		why, want string
		request   *commentanalyzer.AnalyzeCommentRequest
	}{
		{"a language that is not supported", "Attribute TOXICITY does not support request languages: fi", &commentanalyzer.AnalyzeCommentRequest{
			Comment: &commentanalyzer.TextEntry{Text: "Hyvää päivää"}, Languages: []string{"fi"},
		}},
		{"no text", "Comment must be non-empty.", &commentanalyzer.AnalyzeCommentRequest{Comment: &commentanalyzer.TextEntry{}}},
	} {
		c.request.RequestedAttributes = map[string]commentanalyzer.AttributeParameters{"TOXICITY": {}}
		_, err := service.Comments.Analyze(c.request).Context(ctx).Do()
		if refused, ok := errors.AsType[*googleapi.Error](err); !ok || refused.Code != 400 || refused.Message != c.want {
			return fmt.Errorf("%s: got %w, want %s", c.why, err, c.want)
		}
	}
	// docs: begin
	_, err = service.Comments.Analyze(&commentanalyzer.AnalyzeCommentRequest{
		Comment:             &commentanalyzer.TextEntry{Text: "Tänään on todella kaunis ilma ja lähdemme kävelylle puistoon."},
		RequestedAttributes: map[string]commentanalyzer.AttributeParameters{"TOXICITY": {}},
	}).Context(ctx).Do()
	if err == nil || !strings.Contains(err.Error(), "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE") {
		return fmt.Errorf("a language that is not supported: %w", err)
	}
	// docs: end

	suggested, err := service.Comments.Suggestscore(&commentanalyzer.SuggestCommentScoreRequest{
		Comment:         &commentanalyzer.TextEntry{Text: "You are a stupid idiot."},
		AttributeScores: map[string]commentanalyzer.AttributeScores{"TOXICITY": {SummaryScore: &commentanalyzer.Score{Value: 1}}},
		ClientToken:     "moderator-7",
	}).Context(ctx).Do()
	if err != nil {
		return err
	}
	if suggested.ClientToken != "moderator-7" {
		return fmt.Errorf("the token came back as %q", suggested.ClientToken)
	}

	stranger, err := commentanalyzer.NewService(ctx, option.WithAPIKey("wrong"), option.WithEndpoint(server))
	if err != nil {
		return err
	}
	_, err = stranger.Comments.Analyze(&commentanalyzer.AnalyzeCommentRequest{Comment: &commentanalyzer.TextEntry{Text: "Hello"}}).Context(ctx).Do()
	if err == nil || !strings.Contains(err.Error(), "API key not valid") {
		return fmt.Errorf("a wrong key: %w", err)
	}
	return nil
}
