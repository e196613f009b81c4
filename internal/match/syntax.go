package match

import (
	"fmt"
	"strings"

	"github.com/berth-sched/berth/internal/qualified"
)

// The texts of the Kubernetes API for malformed labels. The regular expressions are
// only part of the texts; the checks in package qualified are by hand.
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
		if len(prefix) > qualified.MaxDomain {
			problems = append(problems, "prefix part "+tooLong(qualified.MaxDomain))
		}
		if !qualified.IsDomain(prefix) {
			problems = append(problems, "prefix part "+prefixForm)
		}
	}
	if name == "" {
		problems = append(problems, "name part must be non-empty")
	} else if len(name) > qualified.MaxLocal {
		problems = append(problems, "name part "+tooLong(qualified.MaxLocal))
	}
	if !qualified.IsLocal(name) {
		problems = append(problems, "name part "+labelKeyForm)
	}
	return problems
}

// LabelValueProblems returns, in upstream's words, the problems of a label value.
func LabelValueProblems(value string) []string {
	var problems []string
	if len(value) > qualified.MaxLocal {
		problems = append(problems, tooLong(qualified.MaxLocal))
	}
	if value != "" && !qualified.IsLocal(value) {
		problems = append(problems, labelValueForm)
	}
	return problems
}
