package match

import (
	"strings"
	"testing"
)

func TestLabelKeyProblems(t *testing.T) {
	tests := []struct {
		name, key string
		want      string // the beginning of the joined problems
	}{
		{"name", "a_B.c-1", ""},
		{"prefix", "x-1.example.com/a", ""},
		{"upper-case prefix", "X.io/a", "prefix part a lowercase RFC 1123 subdomain"},
		{"empty", "", "name part must be non-empty; name part must consist of"},
		{"no prefix", "/a", "prefix part must be non-empty"},
		{"no name", "x.io/", "name part must be non-empty; name part must consist of"},
		{"two slashes", "a/b/c", "a valid label key must consist of alphanumeric characters"},
		{"long name", strings.Repeat("k", 64), "name part must be no more than 63 bytes"},
		{"long prefix", strings.Repeat("p", 254) + "/k", "prefix part must be no more than 253 bytes"},
		{"longest", strings.Repeat("p", 253) + "/" + strings.Repeat("k", 63), ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Join(LabelKeyProblems(test.key), "; ")
			if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
				t.Errorf("LabelKeyProblems(%q) = %q, want %q...", test.key, got, test.want)
			}
		})
	}
}
