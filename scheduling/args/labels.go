package args

import "github.com/berth-sched/berth/internal/match"

// QualifiedName returns what keeps s from being a qualified name, the form of
// label keys and resource names: a name of at most 63 letters, digits, '-', '_'
// and '.', after an optional DNS subdomain and a slash. The texts are upstream's;
// none means that s is fine.
func QualifiedName(s string) []string { return match.LabelKeyProblems(s) }

// labelName returns one error for each thing that keeps s from being a qualified
// name.
func labelName(field, s string) []FieldError {
	var errs []FieldError
	for _, msg := range QualifiedName(s) {
		errs = append(errs, Invalid(field, s, msg))
	}
	return errs
}
