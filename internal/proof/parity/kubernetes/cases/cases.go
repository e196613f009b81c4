package cases

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/berth-sched/berth/internal/proof/golden"
)

// Block is how many neighbouring numbers share a configuration.
const Block = 16

// family describes its cases: the share, in percent, of objects that concern each
// subject.
type family struct {
	name string
	// The ranges of the number of nodes, and of pods on them.
	nodes, pods [2]int

	resources, taints, choice, ports, names, images int
	spread, interpod, volumes, priorities, features int

	config func(*dice) json.RawMessage // nil: the default one
	make   func(*generator)            // fills the case; nil: with the shares above
}

// families lists all families, the mixed one last.
var families = []family{
	{name: "fit", nodes: [2]int{1, 12}, pods: [2]int{0, 30}, resources: 90, priorities: 10, config: (*dice).fitConfig},
	{name: "balanced", nodes: [2]int{1, 12}, pods: [2]int{0, 30}, resources: 90, config: (*dice).balancedConfig},
	{name: "taint", nodes: [2]int{1, 12}, pods: [2]int{0, 6}, taints: 80},
	{name: "nodeaffinity", nodes: [2]int{1, 14}, pods: [2]int{0, 8}, choice: 90, config: (*dice).nodeAffinityConfig},
	{name: "ports", nodes: [2]int{1, 10}, pods: [2]int{0, 25}, ports: 80},
	{name: "name", nodes: [2]int{1, 10}, pods: [2]int{0, 8}, names: 80, choice: 15},
	{name: "image", nodes: [2]int{1, 14}, pods: [2]int{0, 5}, images: 90},
	{name: "spread", nodes: [2]int{1, 16}, pods: [2]int{0, 45}, spread: 85, taints: 15, choice: 15, priorities: 8, config: (*dice).spreadConfig},
	{name: "interpod", nodes: [2]int{1, 14}, pods: [2]int{0, 35}, interpod: 75, priorities: 8, config: (*dice).interpodConfig},
	{name: "features", nodes: [2]int{1, 12}, pods: [2]int{0, 6}, features: 85, taints: 10},
	{name: "volumes", nodes: [2]int{1, 10}, pods: [2]int{0, 16}, volumes: 85, priorities: 25, config: (*dice).volumesConfig},
	{name: "preemption", nodes: [2]int{1, 8}, pods: [2]int{4, 50}, priorities: 95, resources: 40, ports: 8, spread: 6, interpod: 6, taints: 5, config: (*dice).preemptionConfig},
	{name: "victims", make: (*generator).victims, config: (*dice).preemptionConfig},
	{name: "budgets", make: (*generator).budgeted, config: (*dice).preemptionConfig},
	{name: "unblock", make: (*generator).unblock, config: (*dice).preemptionConfig},
	{
		name: "mixed", nodes: [2]int{1, 20}, pods: [2]int{0, 40}, resources: 40, taints: 25, choice: 30, ports: 20, names: 3,
		images: 30, spread: 30, interpod: 25, volumes: 15, priorities: 50, features: 8, config: (*dice).mixedConfig,
	},
}

// Families returns the names of all families.
func Families() []string {
	var names []string
	for _, f := range families {
		names = append(names, f.name)
	}
	return names
}

// Generate makes the case of that number. It panics if the family does not exist.
func Generate(name string, seed, number uint64) *golden.Case {
	for _, f := range families {
		if f.name == name {
			return generate(f, seed, number)
		}
	}
	panic(fmt.Sprintf("cases: no family %q", name))
}

func generate(f family, seed, number uint64) *golden.Case {
	c := &golden.Case{ID: fmt.Sprintf("%s-%d-%d", f.name, seed, number), Family: f.name}
	if f.config != nil {
		if d := newDice(f.name, seed, number/Block|1<<63); d.chance(70) {
			c.Config = f.config(d)
		}
	}
	g := &generator{dice: newDice(f.name, seed, number), family: f, c: c}
	if f.make != nil {
		f.make(g)
	} else {
		g.cluster()
	}
	return c
}

// dice is a random source.
type dice struct{ *rand.Rand }

func newDice(family string, seed, number uint64) *dice {
	h := fnv.New64a()
	h.Write([]byte(family))
	return &dice{rand.New(rand.NewPCG(seed^h.Sum64(), number))}
}

// chance is true in percent of the cases.
func (d *dice) chance(percent int) bool { return d.IntN(100) < percent }

// between returns a number from lo to hi.
func (d *dice) between(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

// pick returns one of the values.
func pick[T any](d *dice, list ...T) T { return list[d.IntN(len(list))] }

// some returns up to most of the values, each at most once, in random order.
func some[T any](d *dice, most int, list ...T) []T {
	var out []T
	for _, i := range d.Perm(len(list))[:d.IntN(min(most, len(list))+1)] {
		out = append(out, list[i])
	}
	return out
}
