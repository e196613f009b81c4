package main

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// identity is what makes a difference the same one in a smaller item: the plugin
// or point, what of it differs, of which pod or node, and the words that only
// one side says. Numbers and lists may become others as the item shrinks.
func identity(difference string) string {
	first, _, _ := strings.Cut(difference, "\n")
	subject, values, ok := strings.Cut(first, " = ")
	if !ok {
		return withoutStep(first)
	}
	got, want, _ := strings.Cut(values, ", want ")
	ours, theirs := words(got), words(want)
	return withoutStep(subject) + " = " + lacking(ours, theirs) + ", want " + lacking(theirs, ours)
}

func identities(differences []string) map[string]bool {
	set := map[string]bool{}
	for _, d := range differences {
		set[identity(d)] = true
	}
	return set
}

// withoutStep leaves out the number of the step, which shrinks too.
func withoutStep(text string) string {
	before, after, ok := strings.Cut(text, ": step ")
	if !ok {
		return text
	}
	_, after, _ = strings.Cut(after, ": ")
	return before + ": " + after
}

// words are those of a text that have no digits, as names and values have.
func words(text string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !strings.ContainsFunc(word, unicode.IsDigit) {
			set[word] = true
		}
	}
	return set
}

// lacking lists the words of a that b does not have.
func lacking(a, b map[string]bool) string {
	list := slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(word string) bool { return b[word] })
	return strings.Join(list, " ")
}
