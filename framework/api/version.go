package api

import "strings"

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
		if c := text[i]; c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return text != ""
}

// hasLeadingZero reports whether text is a number with a 0 too many.
func hasLeadingZero(text string) bool {
	return len(text) > 1 && text[0] == '0' && strings.Trim(text, "0123456789") == ""
}
