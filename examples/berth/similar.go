package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/internal/errtext"
)

// choose says which names there are, after a name that is not among them: those like it,
// or the first few.
func choose(name string, names []string) string {
	const most = 3
	if len(names) == 0 {
		return "there are none"
	}
	var near []string
	for _, n := range names {
		if alike(name, n) {
			near = append(near, n)
		}
	}
	if len(near) > 0 {
		slices.SortStableFunc(near, func(a, b string) int { return errtext.Distance(name, a) - errtext.Distance(name, b) })
		return "did you mean " + strings.Join(near[:min(len(near), most)], " or ") + "?"
	}
	list := slices.SortedFunc(slices.Values(names), compareNames)
	if rest := len(list) - most; rest > 1 {
		return fmt.Sprintf("there are %s and %d more", strings.Join(list[:most], ", "), rest)
	}
	return "there are " + strings.Join(list, ", ")
}

// alike reports whether one name may be meant by the other: they differ in case, one is a
// part of the other, or one or two letters have to change.
func alike(a, b string) bool {
	const least = 3
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) < least {
		return a == b
	}
	return strings.Contains(b, a) || errtext.Distance(a, b) <= min(2, len(a)/least)
}

// checkNodes refuses names of nodes that are not in the cluster.
func (s *session) checkNodes(flag string, names ...string) error {
	for _, name := range names {
		if s.snapshot.Node(name) != nil {
			continue
		}
		var all []string
		for _, n := range s.snapshot.All() {
			all = append(all, n.Name())
		}
		return fmt.Errorf("%snode %q: there is no such node in %s; %s", flag, name, s.cluster.Title, choose(name, all))
	}
	return nil
}
