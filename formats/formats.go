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
// Nothing here scores a text, asks a judge or reads a file: package httpapi
// serves these formats, and cmd/toxscreen writes some of them. The functions keep no
// state and are safe for concurrent use.
package formats
