package scheduling

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/pick"
)

// A NodeVerdict is the answer of a profile's filters for one node.
type NodeVerdict struct {
	// Plugin is the plugin that rejected the node, "" if none did or if the node was
	// left out before filtering.
	Plugin string
	// Status is Success for a feasible node.
	Status framework.Status
}

// FilterNodes asks the PreFilter and Filter plugins about some nodes of the
// snapshot, and counts the pods nominated to them. It makes no decision: it changes
// nothing, keeps nothing, and does not ask extenders. It returns the errors of
// Schedule, and one for a nil node.
func (s *Scheduler) FilterNodes(snap *framework.Snapshot, pod *framework.PodInfo, nodes []*framework.NodeInfo) ([]NodeVerdict, error) {
	if err := checkNodes(nodes); err != nil {
		return nil, err
	}
	f, err := s.Filtering(snap, pod)
	if err != nil {
		return nil, err
	}
	out := make([]NodeVerdict, len(nodes))
	for i, n := range nodes {
		if out[i], err = f.Node(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func checkNodes(nodes []*framework.NodeInfo) error {
	if i := slices.Index(nodes, nil); i >= 0 {
		return &api.InvalidError{Object: fmt.Sprintf("nodes[%d]", i), Err: errors.New("is nil")}
	}
	return nil
}

// allows reports whether the PreFilters that restricted the nodes named this one.
func (b *boundPlugins) allows(node string) bool {
	_, found := slices.BinarySearch(b.nodes, node)
	return found
}

// ScoreNodes returns the totals of some nodes of the snapshot, from 0 to
// [Scheduler.MaxScore], as if they were the feasible ones: scores are normalized
// among them. It makes no decision: it changes nothing, keeps nothing, and does not
// ask filters or extenders. A pod that a PreFilter plugin rejects is still scored.
// It returns the errors of Schedule, and one for a nil node.
func (s *Scheduler) ScoreNodes(snap *framework.Snapshot, pod *framework.PodInfo, nodes []*framework.NodeInfo) ([]int64, error) {
	if err := checkNodes(nodes); err != nil {
		return nil, err
	}
	r, err := s.aside(snap, pod)
	if err != nil {
		return nil, err
	}
	r.plugins = r.plugins.withoutExtenders()
	r.feasible = nodes
	if err := r.score(); err != nil {
		return nil, err
	}
	return r.totals, nil
}

// MaxScore returns the highest total that the profile's plugins can give: 100
// times the sum of the weights.
func (s *Scheduler) MaxScore() int64 {
	var sum int64
	for _, p := range s.plugins.scorers {
		sum += p.weight * framework.MaxNodeScore
	}
	return sum
}

// aside returns a reference path for a question outside the decisions, with its
// PreFilter plugins run.
func (s *Scheduler) aside(snap *framework.Snapshot, pod *framework.PodInfo) (*referencePath, error) {
	r := new(referencePath)
	if err := s.begin(r, snap, pod); err != nil {
		return r, err
	}
	return r, r.plugins.bindFilters(&r.cycle, allOf(r.cycle.Pod), &r.bound, &r.plugins.allFilters)
}

// begin begins a cycle for a question outside the decisions.
func (s *Scheduler) begin(r *referencePath, snap *framework.Snapshot, pod *framework.PodInfo) error {
	pod, err := s.accept(snap, pod)
	if err != nil {
		return err
	}
	r.plugins, r.workers = &s.plugins, 1
	r.cycle.Reset(pod, snap, s.number, pick.Seed(s.profile.Seed, s.number))
	return nil
}

func (t *plugins) withoutExtenders() *plugins {
	c := *t
	c.extenders = nil
	return &c
}
