package models

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toxscreen/toxscreen"
	"github.com/toxscreen/toxscreen/classifier"
	"github.com/toxscreen/toxscreen/internal/plural"
)

// jigsaw maps the label names of models trained on the data of Jigsaw's
// competitions: those of Detoxify's original model and toxic-bert (2018), and
// those of its unbiased and multilingual models (2019, 2020).
var jigsaw = map[string]toxscreen.Attribute{
	"toxic": toxscreen.Toxicity, "toxicity": toxscreen.Toxicity,
	"severe_toxic": toxscreen.SevereToxicity, "severe_toxicity": toxscreen.SevereToxicity,
	"obscene": toxscreen.Profanity,
	"threat":  toxscreen.Threat,
	"insult":  toxscreen.Insult,

	"identity_hate": toxscreen.IdentityAttack, "identity_attack": toxscreen.IdentityAttack,
	"sexual_explicit": toxscreen.SexuallyExplicit,
}

// jigsawIdentities are columns of the unbiased models that say whom a text is
// about, not what it does to them.
var jigsawIdentities = []string{
	"male", "female", "homosexual_gay_or_lesbian", "christian", "jewish", "muslim", "black", "white",
	"psychiatric_or_mental_illness",
}

// notToxic are the names of the other label in binary models.
var notToxic = []string{"non_toxic", "not_toxic", "nontoxic", "neutral", "normal", "clean", "safe"}

// plain returns a label in the spelling of the tables above.
func plain(label string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(strings.TrimSpace(label)))
}

// recognise returns the map of a known label set and its activation. A set is
// known only if all labels belong to it.
func recognise(labels []string) (attributes map[string]toxscreen.Attribute, activation classifier.Activation, ok bool) {
	attributes = map[string]toxscreen.Attribute{}
	others := 0
	for _, label := range labels {
		name := plain(label)
		if a, ok := jigsaw[name]; ok {
			attributes[label] = a
		} else if slices.Contains(notToxic, name) {
			others++
		} else if !slices.Contains(jigsawIdentities, name) {
			return nil, "", false
		}
	}
	hasToxicity := slices.Contains(slices.Collect(maps.Values(attributes)), toxscreen.Toxicity)
	switch {
	case !hasToxicity:
		return nil, "", false
	case others == 0:
		return attributes, classifier.Sigmoid, true
	case others == 1 && len(labels) == 2:
		return attributes, classifier.Softmax, true
	}
	return nil, "", false
}

// labelsOf returns the labels of a model with their attributes: as the caller
// maps them, else as a known label set maps them. activation is that of the
// known set, or empty.
func labelsOf(names []string, given map[string]toxscreen.Attribute) (labels []classifier.Label, activation classifier.Activation, err error) {
	attributes := given
	if len(given) == 0 {
		var known bool
		if attributes, activation, known = recognise(names); !known {
			return nil, "", fmt.Errorf("its labels are not a known set: %s; see its model card for what they mean and map those that are attributes of toxscreen, as in %s=%s",
				strings.Join(names, ", "), likeliest(names), toxscreen.Toxicity)
		}
	}
	for _, label := range slices.Sorted(maps.Keys(attributes)) {
		if !slices.Contains(names, label) {
			return nil, "", fmt.Errorf("%q is mapped to %s, but is not one of the model's labels: %s", label, attributes[label], strings.Join(names, ", "))
		}
	}
	for _, name := range names {
		label := classifier.Label{Name: name}
		if a, ok := attributes[name]; ok {
			label.Attribute = &a
		}
		labels = append(labels, label)
	}
	return labels, activation, nil
}

// likeliest returns the label for an example of a map: one whose name suggests
// toxicity, else the last, since most binary models have the harmless label
// first.
func likeliest(names []string) string {
	for _, word := range []string{"toxic", "hate", "offensive", "abus", "harm"} {
		for _, name := range names {
			if low := plain(name); strings.HasPrefix(low, word) {
				return name
			}
		}
	}
	return names[len(names)-1]
}

// activationOf decides how the logits of a model become probabilities: by the
// caller's choice, else by config.json, else by the known label set, else by the
// number of labels if that decides: a single label is independent, and two labels
// with one mapped exclude each other.
func activationOf(asked, known classifier.Activation, problemType string, labels []classifier.Label) (classifier.Activation, error) {
	mapped := 0
	for _, l := range labels {
		if l.Attribute != nil {
			mapped++
		}
	}
	switch {
	case asked != "":
		return asked, nil
	case problemType == "multi_label_classification":
		return classifier.Sigmoid, nil
	case problemType == "single_label_classification" && len(labels) > 1 && known != classifier.Sigmoid:
		return classifier.Softmax, nil
	case problemType == "" && known != "":
		return known, nil
	case problemType == "" && len(labels) == 1:
		return classifier.Sigmoid, nil
	case problemType == "" && len(labels) == 2 && mapped == 1:
		return classifier.Softmax, nil
	}
	return "", fmt.Errorf("config.json has the problem_type %q with %s, of which %s mapped: that does not determine how logits become probabilities; choose softmax if the labels exclude each other, sigmoid if not", problemType, plural.Count(len(labels), "label", "labels"), plural.Count(mapped, "is", "are"))
}
