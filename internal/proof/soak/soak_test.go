//go:build full

package soak_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/scheduling"

	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/internal/proof/soak"
	"pgregory.net/rapid"
)

func TestPathsAgree(t *testing.T) {
	steps := effort.Of(4_000, 30_000)
	if testing.Short() {
		steps = 6_000
	}
	res, err := soak.Run(steps, 9, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Err(); err != nil {
		t.Error(err)
	}
	t.Log(&res)
	if effort.Full() && !testing.Short() { // a short history need not reach everything
		covers(t, res)
	}
}

// covers demands that everything happened that the two paths are compared in.
func covers(t *testing.T, res soak.Result) {
	t.Helper()
	c := res.Preemption
	for name, n := range map[string]int{
		"pods placed": res.Placed, "unschedulable pods": res.Unschedulable,
		"attempts to make room": c.Attempts, "preemptions": c.Preemptions, "evictions": c.Evictions,
		"victims that lingered": c.Lingering, "violations of a budget": c.Violations, "waits for victims": c.Waits,
		"pods that may not preempt": c.Never, "nominations": c.Nominations, "nominations cleared": c.ClearedNominations,
		"nominated pods placed": c.Claimed, "decisions beside nominated pods": c.Beside,
		"samples": res.Reached.Samples, "samples for pods nominated elsewhere": res.Reached.SamplesElsewhere, "hits beside nominated pods": res.Reached.Beside,
		"hits with extenders": res.Reached.Extended, "pods that share GPUs": res.Reached.Shares, "such beside nominated pods": res.Reached.SharesBeside, "pods of daemon sets": res.Reached.Daemons, "hits within a set": res.Reached.Within, "pods with named nodes within a set": res.Reached.NamedWithin, "pods with volumes": res.Reached.Volumes, "pods with claims of their own": res.Reached.OwnClaims,
		"devices given": res.Given.All, "devices given with admin access": res.Given.Admin, "partitions given": res.Given.Partitions, "shares given": res.Given.Shares,
		"devices given on the network": res.Given.Network, "devices given by requests for all": res.Given.Whole, "devices looked for elsewhere": res.Given.Checked, "lost nodes that come back": res.Reached.Found,
		"pods with constraints or terms": res.Reached.Neighbours, "turns to a fork": res.Reached.Forks, "forks that copy answers": res.Reached.Copies, "times": res.Reached.Timed,
		"ties by Random": res.Reached.Ties[scheduling.Random], "ties by Reservoir": res.Reached.Ties[scheduling.Reservoir],
		"ties by Heap": res.Reached.Ties[scheduling.Heap], "ties by First": res.Reached.Ties[scheduling.First],
		"ties by ByName": res.Reached.Ties[scheduling.ByName], "ties by Custom": res.Reached.Ties[scheduling.Custom],
	} {
		if n == 0 {
			t.Errorf("%s: none: the history tests too little", name)
		}
	}
}

// words makes random numbers of what rapid draws, so that a history that fails
// becomes a short one.
type words struct{ t *rapid.T }

func (w *words) Uint64() uint64 { return rapid.Uint64().Draw(w.t, "word") }

// TestStateMachine lets rapid choose the steps. A history begins with some that
// fill the cluster. Rarer things happen in TestPathsAgree, whose steps are always the same.
func TestStateMachine(t *testing.T) {
	var res soak.Result
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"pods placed": 1, "attempts to make room": 1, "evictions": 1, "nominations": 1}, func(t *rapid.T) {
		seed, begin := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(0, 300).Draw(t, "steps before")
		h, err := soak.Begin(seed, begin, &res)
		if err != nil {
			t.Fatal(err)
		}
		w := &words{t}
		h.Draw(w)
		steps := map[string]func(*rapid.T){"": func(t *rapid.T) {
			if err := res.Wrong(); err != nil {
				res = soak.Result{}
				t.Fatal(err)
			}
		}}
		h.Each(func(name string, share int, do func() error) {
			for i := range 1 + share/5 {
				steps[fmt.Sprint(name, " ", i)] = func(t *rapid.T) {
					w.t = t
					if err := do(); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
		t.Repeat(steps)
		p := res.Preemption
		seen["pods placed"], seen["attempts to make room"], seen["evictions"], seen["nominations"] = res.Placed, p.Attempts, p.Evictions, p.Nominations
	})
}
