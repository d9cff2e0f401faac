package pii_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/pii"
)

// prose returns n bytes or a little more of plain sentences, a few of which have numbers.
func prose(n int) string {
	sentences := []string{
		"The ferry left the harbour at dawn, and nobody on board had slept more than a few hours. ",
		"She asked the gardener whether the roses would survive another winter on the north side. ",
		"In 1987 the village had 412 inhabitants; today there are fewer than 90 of them. ",
		"A committee of five will read the proposals and answer before the end of the month. ",
		"He paid 12.50 for two tickets, kept the receipt, and forgot the change on the counter. ",
		"Most of the instruments were tuned by ear, which takes patience and a quiet room. ",
		"\"We should have brought the other map,\" said the guide, folding the one they had. ",
		"The library opens at 9:30 on weekdays, and its reading room is on the second floor. ",
		"Version 2.4.1 of the program reads files of up to 2,048 lines without complaint. ",
		"Later that week the well-known baker sold out of bread before ten o'clock.\n\n",
	}
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(sentences[i%len(sentences)])
		if i%40 == 39 {
			fmt.Fprintf(&b, "Write to reader%d@example.org or call (415) 555-0%03d about it. ", i, i%1000)
		}
	}
	return b.String()
}

func BenchmarkFind(b *testing.B) {
	finder, err := pii.New(pii.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, text string }{
		{"prose", prose(50_000)},
		{"words", strings.Repeat("plain words without any numbers in them ", 1250)},
		{"disguised", prose(50_000) + "é１"},
		{"digits", strings.Repeat("7", 1<<20)},
		{"short numbers", strings.Repeat("1 2 34 567 ", 1<<20/11)},
		{"phone-like", strings.Repeat("415 555 2671 ", 1<<20/13)},
		{"nine digits", strings.Repeat("021000021 ", 1<<20/10)},
		{"dots", strings.Repeat(".", 1<<20)},
		{"dotted", strings.Repeat("a.", 1<<19)},
		{"at", strings.Repeat("@", 1<<20)},
		{"local", strings.Repeat("a@", 1<<19)},
		{"letters", strings.Repeat("a", 1<<20)},
		{"schemes", strings.Repeat("http://", 1<<20/7)},
		{"colons", strings.Repeat("1:", 1<<19)},
		{"keys", strings.Repeat("-----BEGIN PRIVATE KEY-----", 1<<20/27)},
		{"passwords", strings.Repeat("password=", 1<<20/9)},
		{"plus", strings.Repeat("+4", 1<<19)},
		{"parentheses", strings.Repeat("(415)", 1<<20/5)},
		{"rows", strings.Repeat("a,1234567,c,d\n", 1<<20/14)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := finder.Find(context.Background(), c.text); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(c.text))*1000, "us/kB")
		})
	}
}
