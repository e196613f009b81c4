package match

import (
	"fmt"
	"strings"
)

// The maximum lengths, in bytes, of parts of labels.
const (
	maxLabelPart   = 63
	maxLabelPrefix = 253
)

// The texts of the Kubernetes API for malformed labels. The regular expressions are
// only part of the texts; the checks here are by hand.
const (
	labelCharacters = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
	labelKeyForm    = labelCharacters + " (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	labelValueForm  = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
		" (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	prefixForm = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character" +
		" (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)

func tooLong(limit int) string { return fmt.Sprintf("must be no more than %d bytes", limit) }

// LabelKeyProblems returns, in upstream's words, the problems of a label key: a
// name, optionally with a DNS subdomain and a slash before it.
func LabelKeyProblems(key string) []string {
	var problems []string
	prefix, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		name = key
	} else if strings.Contains(name, "/") {
		return []string{"a valid label key " + labelKeyForm + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	}
	if prefixed && prefix == "" {
		problems = append(problems, "prefix part must be non-empty")
	} else if prefixed {
		if len(prefix) > maxLabelPrefix {
			problems = append(problems, "prefix part "+tooLong(maxLabelPrefix))
		}
		if !isSubdomain(prefix) {
			problems = append(problems, "prefix part "+prefixForm)
		}
	}
	if name == "" {
		problems = append(problems, "name part must be non-empty")
	} else if len(name) > maxLabelPart {
		problems = append(problems, "name part "+tooLong(maxLabelPart))
	}
	if !isLabelName(name) {
		problems = append(problems, "name part "+labelKeyForm)
	}
	return problems
}

// LabelValueProblems returns, in upstream's words, the problems of a label value.
func LabelValueProblems(value string) []string {
	var problems []string
	if len(value) > maxLabelPart {
		problems = append(problems, tooLong(maxLabelPart))
	}
	if value != "" && !isLabelName(value) {
		problems = append(problems, labelValueForm)
	}
	return problems
}

// isLabelName reports whether s is not empty, begins and ends with a letter or
// digit, and holds only letters, digits, '-', '_' and '.'.
func isLabelName(s string) bool {
	if s == "" || !isAlphanumeric(s[0]) || !isAlphanumeric(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isAlphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

// isSubdomain reports whether s consists of labels joined by dots: lower-case
// letters, digits and inner hyphens.
func isSubdomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; c != '-' && (!isAlphanumeric(c) || 'A' <= c && c <= 'Z') {
				return false
			}
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
