package scheduling

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// Most pods are read like the pod before them, so most plugins need not be asked for their
// scope: the reading is guessed, and so is the class. A guess is checked before it is used.

// isFixed reports whether the plugin need not be asked about pods that have exactly these
// parts.
func isFixed(s framework.Scoper, parts podParts) bool {
	x, ok := s.(incremental.VaryingScoper)
	return ok && parts.has&x.ScopeVaries() == 0
}

// A guess is how pods with the same parts were read last.
type guess struct {
	parts  podParts
	class  *class // of the last one
	sure   bool   // the last two were read in the same way
	scopes []knownScope
}

// A knownScope is what a plugin said that concerns such pods and may vary.
type knownScope struct {
	of    *scope
	scope framework.Scope
}

// guessesMost bounds how many combinations of parts are remembered.
const guessesMost = 8

// guesses are at most one for each combination of parts.
type guesses struct {
	list    []guess
	spelled *reading // how the pod was read whose key is known, nil if it is not
}

// of returns the guess for pods with the parts, nil if there is none.
func (g *guesses) of(parts podParts) *guess {
	for i := range g.list {
		if g.list[i].parts == parts {
			return &g.list[i]
		}
	}
	return nil
}

// forget makes sure that no class is guessed that was found before.
func (g *guesses) forget() {
	clear(g.list)
	g.list = g.list[:0]
}

// guessed returns the class of the cycle's pod, if the pod is read as was guessed and its
// class is known; otherwise nil.
//
// A pod that is equal to one of the class in the fields that were read is read in the same
// way by plugins whose scope is fixed. All others are asked.
func (f *incrementalPath) guessed(c *framework.Cycle, parts podParts) *class {
	g := f.guesses.of(parts)
	if g == nil || !g.sure || !g.holds(c.Pod) {
		return nil
	}
	f.findKey(c, parts, g.class.reading)
	f.guesses.spelled = g.class.reading
	if len(f.key) == 0 {
		return nil
	}
	if g.class.text == string(f.key) {
		return g.class
	}
	for k := f.classes[string(f.key)]; k != nil; k = k.next {
		if k.reading == g.class.reading {
			g.class = k
			return k
		}
	}
	return nil
}

// holds reports whether plugins whose scope may vary have the guessed scopes for the pod. A
// panic of one is left to who asks all plugins.
func (g *guess) holds(pod *framework.PodInfo) (all bool) {
	returned := false
	defer func() {
		if !returned { // recover is not free
			_ = recover()
			all = false
		}
	}()
	all = true
	for i := range g.scopes {
		if x := &g.scopes[i]; x.of.ask(pod) != x.scope {
			all = false
			break
		}
	}
	returned = true
	return all
}

// learn notes the class that was found for a pod without a guess.
func (f *incrementalPath) learn(pod *framework.PodInfo, parts podParts, k *class) {
	g := f.guesses.of(parts)
	if g == nil {
		if len(f.guesses.list) >= guessesMost {
			f.guesses.forget()
		}
		f.guesses.list = append(f.guesses.list, guess{parts: parts, class: k})
		return
	}
	again := g.class.reading == k.reading
	g.class = k
	switch {
	case !again:
		g.sure = false
	case !g.sure:
		g.sure, g.scopes = true, f.s.plugins.varying(g.scopes[:0], pod, parts)
	}
}

// varying appends the scopes for a pod of the plugins whose scope may vary.
func (t *plugins) varying(to []knownScope, pod *framework.PodInfo, parts podParts) []knownScope {
	for _, list := range [2][]listedScope{t.filterScopes, t.scorerScopes} {
		for i := range list {
			if s := &list[i]; s.counts && s.concern.in(parts) && !isFixed(s.Scoper, parts) {
				to = append(to, knownScope{&s.scope, s.of(pod)})
			}
		}
	}
	return to
}
