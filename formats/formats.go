// Package formats reads the requests of other systems and translates results and
// verdicts into their answers:
//
//	request, err := formats.ReadOpenAI(body)
//	if err != nil {
//		log.Fatal(err)
//	}
//	var answer formats.OpenAIModeration
//	for _, text := range request.Texts {
//		result, err := screener.Score(ctx, text)
//		if err != nil {
//			log.Fatal(err)
//		}
//		answer.Results = append(answer.Results, formats.ToOpenAI(result))
//	}
//
// Nothing here scores a text, asks a judge or reads a file: package server
// serves these formats, and cmd/toxscreen writes some of them. The functions keep no
// state and are safe for concurrent use.
package formats

// Own is what answers have beside the fields of the system whose format they are in, in
// the field toxscreen.
type Own struct {
	// NotMeasured names what the request asks about and nothing measured, in the words of
	// the format: categories, for which a format may want a number all the same, and
	// parts of the request, such as [Images].
	NotMeasured []string `json:"not_measured"`
}

// Images is the name of the images of a request in [Own].
const Images = "images"
