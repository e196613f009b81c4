package api

import "strings"

// isLabelKey reports whether text may be the key of a label or a taint: a name that may have a
// domain and a slash before it.
func isLabelKey(text string) bool {
	domain, name, has := strings.Cut(text, "/")
	if !has {
		return isLabelName(text)
	}
	return isDomain(domain) && isLabelName(name)
}

// isLabelName reports whether text may be the name in the key of a label, or a value that is
// not empty.
func isLabelName(text string) bool {
	return len(text) <= 63 && isEdged(text, func(c byte) bool { return isAlphanumeric(c) || c == '-' || c == '_' || c == '.' })
}

// isDomain reports whether text is a domain in lower case.
func isDomain(text string) bool {
	for label := range strings.SplitSeq(text, ".") {
		if !isEdged(label, func(c byte) bool { return isAlphanumeric(c) && !isUpper(c) || c == '-' }) {
			return false
		}
	}
	return len(text) <= 253
}

// isEdged reports whether all bytes are allowed, and the first and the last are letters or
// digits.
func isEdged(text string, allowed func(c byte) bool) bool {
	for i := range len(text) {
		if !allowed(text[i]) {
			return false
		}
	}
	return text != "" && isAlphanumeric(text[0]) && isAlphanumeric(text[len(text)-1])
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlphanumeric(c byte) bool { return isDigit(c) || isUpper(c) || 'a' <= c && c <= 'z' }

// isSemanticVersion reports whether text is a version of semver.org 2.0.0.
func isSemanticVersion(text string) bool {
	text, build, hasBuild := strings.Cut(text, "+")
	text, pre, hasPre := strings.Cut(text, "-")
	numbers := 0
	for n := range strings.SplitSeq(text, ".") {
		if !isIdentifier(n) || strings.Trim(n, "0123456789") != "" || hasLeadingZero(n) {
			return false
		}
		numbers++
	}
	if hasPre {
		for x := range strings.SplitSeq(pre, ".") {
			if !isIdentifier(x) || hasLeadingZero(x) {
				return false
			}
		}
	}
	if hasBuild {
		for x := range strings.SplitSeq(build, ".") {
			if !isIdentifier(x) {
				return false
			}
		}
	}
	return numbers == 3
}

// isIdentifier reports whether text may stand between the dots of a semantic version.
func isIdentifier(text string) bool {
	for i := range len(text) {
		if c := text[i]; !isAlphanumeric(c) && c != '-' {
			return false
		}
	}
	return text != ""
}

// hasLeadingZero reports whether text is a number with a 0 too many.
func hasLeadingZero(text string) bool {
	return len(text) > 1 && text[0] == '0' && strings.Trim(text, "0123456789") == ""
}
