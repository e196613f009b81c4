package main

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// identity returns the part of a difference that stays the same in a smaller item:
// the plugin or point, the kind of answer, the pod or node, and the words that only
// one side has. Numbers and lists may change as the item shrinks.
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

// withoutStep omits the number of the step, which shrinks too.
func withoutStep(text string) string {
	before, after, ok := strings.Cut(text, ": step ")
	if !ok {
		return text
	}
	_, after, _ = strings.Cut(after, ": ")
	return before + ": " + after
}

// words returns the words of a text that have no digits. Names and values have some.
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
