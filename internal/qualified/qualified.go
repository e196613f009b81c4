// Package qualified has the syntax of qualified names. Names of resources and keys of
// labels and taints are such names: a local name, with a domain and a slash before it or
// without.
package qualified

// The maximum lengths, in bytes, of the two parts of a qualified name.
const (
	MaxDomain = 253
	MaxLocal  = 63
)

// IsLocal reports whether s consists of letters, digits, hyphens, underscores and dots,
// and begins and ends with a letter or a digit. The caller checks its length.
func IsLocal(s string) bool {
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

// IsDomain reports whether s consists of DNS labels joined by dots: lower-case letters,
// digits and inner hyphens. The caller checks its length; a label has no limit of its own
// here.
func IsDomain(s string) bool {
	before := byte('.') // the byte before s[i]; a label may not begin or end with a hyphen
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case c == '-' && before != '.':
		case c == '.' && before != '.' && before != '-':
		default:
			return false
		}
		before = c
	}
	return before != '.' && before != '-'
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
