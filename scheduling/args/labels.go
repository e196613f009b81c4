package args

import (
	"strconv"
	"strings"
)

// The grammar of label keys and values, and of the prefix of a key, as the
// messages quote it.
const (
	namePattern  = `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
	valuePattern = `(` + namePattern + `)?`
	labelPattern = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	dnsPattern   = labelPattern + `(\.` + labelPattern + `)*`
)

const (
	nameMessage  = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '" + namePattern + "')"
	valueMessage = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '" + valuePattern + "')"
	dnsMessage   = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '" + dnsPattern + "')"
)

const (
	maxName   = 63  // bytes of a label value, and of a label key after its prefix
	maxPrefix = 253 // bytes of the prefix of a label key
)

// QualifiedName returns what keeps s from being a qualified name, the form of
// label keys and resource names: a name of at most 63 letters, digits, '-', '_'
// and '.', after an optional DNS subdomain and a slash. The texts are upstream's;
// none means that s is fine.
func QualifiedName(s string) []string {
	prefix, name, slash := strings.Cut(s, "/")
	if !slash {
		name = s
	}
	if strings.Contains(name, "/") {
		return []string{"a valid label key " + nameMessage + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	}
	var msgs []string
	if slash {
		switch {
		case prefix == "":
			msgs = append(msgs, "prefix part must be non-empty")
		default:
			if len(prefix) > maxPrefix {
				msgs = append(msgs, "prefix part "+tooLong(maxPrefix))
			}
			if !isSubdomain(prefix) {
				msgs = append(msgs, "prefix part "+dnsMessage)
			}
		}
	}
	switch {
	case name == "":
		msgs = append(msgs, "name part must be non-empty")
	case len(name) > maxName:
		msgs = append(msgs, "name part "+tooLong(maxName))
	}
	if !isName(name) {
		msgs = append(msgs, "name part "+nameMessage)
	}
	return msgs
}

// labelValue returns what keeps s from being the value of a label.
func labelValue(s string) []string {
	var msgs []string
	if len(s) > maxName {
		msgs = append(msgs, tooLong(maxName))
	}
	if s != "" && !isName(s) {
		msgs = append(msgs, valueMessage)
	}
	return msgs
}

// isName reports whether s matches namePattern.
func isName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '-' || c == '_' || c == '.':
			if i == 0 || i == len(s)-1 {
				return false
			}
		default:
			return false
		}
	}
	return s != ""
}

// isSubdomain reports whether s matches dnsPattern.
func isSubdomain(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		for i := range len(label) {
			switch c := label[i]; {
			case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			case c == '-' && i != 0 && i != len(label)-1:
			default:
				return false
			}
		}
		if label == "" {
			return false
		}
	}
	return true
}

func tooLong(limit int) string {
	return "must be no more than " + strconv.Itoa(limit) + " bytes"
}

// labelName returns one error for each thing that keeps s from being a qualified
// name.
func labelName(field, s string) []FieldError {
	var errs []FieldError
	for _, msg := range QualifiedName(s) {
		errs = append(errs, Invalid(field, s, msg))
	}
	return errs
}
