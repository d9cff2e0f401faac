package scan

import "testing"

// Patterns read digits and letters of any style as ASCII, and nothing that is not ASCII but
// letters.
func TestFold(t *testing.T) {
	for text, want := range map[string]string{
		"plain, naïve, Köln, Москва, 東京":   "plain, naïve, Köln, Москва, 東京",
		"１２ ３４ ＡＢｃ＠ｄ．ｅ":                    "12 34 ABc@d.e",
		"٠١٢٣٤٥٦٧٨٩ ०१२३४५६७८९ ๐๑๒๓๔๕๖๗๘๙": "0123456789 0123456789 0123456789",
		"𝟎𝟗 𝟘𝟡 𝟢𝟫 𝟬𝟵 𝟶𝟿 𝐀𝒃 ①⑨":             "09 09 09 09 09 Ab 19",
		"1\u20282\u20293\u0085":            "1\n2\n3\n",
		"a\u200db\ufe0fc":                  "abc",
		"1–2—3":                            "1-2-3",
		"· € £ ☎ ©":                        ". $ $ \" \"",
		"\xff1\xc3":                        "\xff1\xc3",
	} {
		if got := Fold(text).Text; got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}

// Each part of the folded text leads back to the characters that it came from.
func TestFoldOriginal(t *testing.T) {
	text := "é\u200d１2\u200d３ x\u200d"
	f := Fold(text)
	if f.Text != "é123 x" {
		t.Fatalf("%q", f.Text)
	}
	for part, want := range map[[2]int]string{
		{0, 2}: "é", {2, 3}: "１", {2, 5}: "１2\u200d３", {3, 4}: "2", {4, 6}: "３ ", {6, 7}: "x", {0, 7}: "é\u200d１2\u200d３ x",
	} {
		if start, end := f.Original(part[0], part[1]); text[start:end] != want {
			t.Errorf("%q came from %q, want %q", f.Text[part[0]:part[1]], text[start:end], want)
		}
	}
}
