package karmada

import (
	"io"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
)

// Kinds returns all kinds of cases.
func (v Version) Kinds() []live.Kind {
	return []live.Kind{
		{Name: "schedule", Run: v.schedule},
		{Name: "filters", Run: v.filters},
		{Name: "general", Run: general},
		{Name: "weights", Run: v.weights},
		{Name: "nodes", Run: nodes},
		{Name: "modeling", Run: grades},
		{Name: "validate", Run: validate},
		{Name: "standardize", Run: standardize},
	}
}

// Case runs case number n of a seed. A panic of berth is a mismatch.
func (v Version) Case(seed, n uint64) (kind string, o live.Outcome) {
	return live.Case(v.Kinds(), seed, n)
}

// Command is the command compare for a version; see [live.Command].
func (v Version) Command(args []string, w io.Writer) int { return live.Command(v.Kinds(), args, w) }
