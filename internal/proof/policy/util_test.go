package policy

import (
	"slices"
	"strings"
)

// contains reports whether names holds name.
func contains(names []string, name string) bool { return slices.Contains(names, name) }

// list writes names as the end of a sentence.
func list(names []string) string {
	switch len(names) {
	case 0:
		return "no other rule"
	case 1:
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
