package args

import "github.com/berth-sched/berth/internal/match"

// QualifiedName returns why s is not a qualified name, the form of label keys and
// resource names: a name of at most 63 letters, digits, '-', '_' and '.', after an
// optional DNS subdomain and a slash. The texts are upstream's; an empty result
// means that s is valid.
func QualifiedName(s string) []string { return match.LabelKeyProblems(s) }

// labelName returns one error for each reason why s is not a qualified name.
func labelName(field, s string) []FieldError {
	var errs []FieldError
	for _, msg := range QualifiedName(s) {
		errs = append(errs, Invalid(field, s, msg))
	}
	return errs
}
