package devices

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
)

// filterTimeout makes the real search give up early, so that a case whose search takes
// exponential time can be left out.
const filterTimeout = `{
  "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
  "profiles": [{"pluginConfig": [{"name": "DynamicResources", "args": {"filterTimeout": "300ms"}}]}]
}`

// Plugin compares the whole plugin on random clusters with series of pods: PreEnqueue,
// PreFilter, Filter with what each node would give, PostFilter, Score, NormalizeScore,
// Reserve, Unreserve and what PreBind writes. If only is not negative, only the case of
// that number is run.
func Plugin(seed uint64, cases int, only int64) (Count, error) {
	var n Count
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	real, err := rival.New(ctx, rival.Options{Config: filterTimeout, Percentage: 100, Parallelism: 1})
	if err != nil {
		return n, err
	}
	for i := range cases {
		if only >= 0 && int64(i) != only {
			continue
		}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		c := NewCase(r, fmt.Sprintf("dynamicresources-%d-%d", seed, i))
		if chance(r, 3) {
			widen(r, c)
		}
		if err := comparePlugin(&n, real, c, r); err != nil {
			return n, fmt.Errorf("%s: %w", c.ID, err)
		}
		n.Cases++
	}
	return n, nil
}

// comparePlugin asks both sides about one case.
func comparePlugin(n *Count, real *rival.Scheduler, c *golden.DeviceCase, r *rand.Rand) error {
	err := real.AnswerDevices(c, func(_ int, passed []string) (node, then string) {
		return passed[r.IntN(len(passed))], pick(r, "", "", "unreserve", "bind", "bind", "bind", "bind", "none")
	})
	if errors.Is(err, rival.ErrTimedOut) {
		n.Endless++
		return nil
	}
	if err != nil {
		return err
	}
	for i := range c.Steps {
		n.note(&c.Steps[i])
	}
	differences := golden.CheckDevices(c)
	for _, d := range differences {
		if strings.Contains(d, "timed out trying to allocate") {
			n.Endless++
			return nil
		}
	}
	if len(differences) > 0 {
		n.Differences = append(n.Differences, c.ID+": "+strings.Join(differences, "\n  "))
	}
	return nil
}

// note counts how the questions of a step ended.
func (n *Count) note(s *golden.DeviceStep) {
	if s.Pod == nil {
		return
	}
	if s.Expect.PreFilter != nil && s.Expect.PreFilter.Code != "Skip" {
		n.Turned++
	}
	for _, e := range s.Expect.Nodes {
		n.Questions++
		switch {
		case e.Filter == nil:
			n.Granted++
		case e.Filter.Code == "Error":
			n.Errors++
		}
	}
	if len(s.Expect.PostFilter) > 0 && (s.Expect.PostFilter[0].Freed != "" || s.Expect.PostFilter[0].Deleted != "") {
		n.Freed++
	}
	if len(s.Expect.PostFilter) > 1 {
		n.Random++
	}
	if len(s.Expect.Bound) > 0 {
		n.Bound++
	}
}
