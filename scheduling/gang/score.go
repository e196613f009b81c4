package gang

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scoring"
)

// A PlacementScorer ranks a domain for a group; larger is better. It must give the same
// answer for the same input.
type PlacementScorer interface {
	// Name returns the name under which configuration knows the plugin.
	Name() string
	// ScorePlacement scores a domain in which the group fits.
	ScorePlacement(p Proposal) int64
}

// A PlacementNormalizer maps the raw scores of all domains in which the group fits to
// the range from 0 to 100, in place.
type PlacementNormalizer interface {
	NormalizePlacements(scores []int64)
}

// A Proposal is what a placement scorer sees: the snapshot as it was before the trial,
// the domain, and the pods that fit there.
type Proposal struct {
	Snapshot *framework.Snapshot
	Group    *Group
	Slots    []int // of the domain's nodes
	Pods     []*framework.PodInfo
}

// A WeightedScore is a placement scorer and the factor of its normalized scores.
type WeightedScore struct {
	Scorer PlacementScorer
	// Weight multiplies the scores; 0 means 1.
	Weight int64
}

// PlacementScores returns the placement scores of kube-scheduler 1.37: NodeResourcesFit
// and PodGroupPodsCount, each with weight 1.
func PlacementScores() []WeightedScore {
	return []WeightedScore{{Scorer: NodeResourcesFit{}}, {Scorer: PodGroupPodsCount{}}}
}

// PodGroupPodsCount prefers domains that take more pods of the group: the members that
// stand, in percent of the largest number.
//
// Source: kube-scheduler 1.37, plugin PodGroupPodsCount.
type PodGroupPodsCount struct{}

// Name returns "PodGroupPodsCount".
func (PodGroupPodsCount) Name() string { return "PodGroupPodsCount" }

// ScorePlacement counts the members that are present and the pods that fit.
func (PodGroupPodsCount) ScorePlacement(p Proposal) int64 {
	return int64(len(p.Group.Present) + len(p.Pods))
}

// NormalizePlacements makes the scores percents of the largest.
func (PodGroupPodsCount) NormalizePlacements(scores []int64) {
	var largest int64
	for _, s := range scores {
		largest = max(largest, s)
	}
	for i, s := range scores {
		if largest > 0 {
			scores[i] = s * framework.MaxNodeScore / largest
		}
	}
}

// NodeResourcesFit prefers domains that are fuller with the group. For each resource it
// takes the sum over the domain's nodes in percent of what they can give, and of these
// the mean by weight. It never prefers empty domains, whatever strategy the scorer of
// nodes has.
//
// A container without a CPU or memory request counts as 100 milli-CPU or 200 MiB. A node
// takes no part for a resource that it does not have, nor for an extended resource that
// no pod of the group asks for.
//
// Source: kube-scheduler 1.37, plugin NodeResourcesFit, ScorePlacement.
//
// Differs: sums beyond int64.
// Original: kube-scheduler's wrap around.
// Here: they saturate.
// Why: a wrapped number helps nobody.
//
// Differs: extended resources with a device class behind them.
// Original: kube-scheduler counts the devices of nodes that lack the resource.
// Here: such nodes take no part.
// Why: the devices of a domain are not summed.
type NodeResourcesFit struct {
	// Resources take part; if empty, cpu and memory do with weight 1.
	Resources []scoring.ResourceSpec
}

// Name returns "NodeResourcesFit".
func (NodeResourcesFit) Name() string { return "NodeResourcesFit" }

// ScorePlacement returns the mean of the parts that are in use with the group.
func (f NodeResourcesFit) ScorePlacement(p Proposal) int64 {
	resources := f.Resources
	if len(resources) == 0 {
		resources = []scoring.ResourceSpec{{Name: resource.CPU, Weight: 1}, {Name: resource.Memory, Weight: 1}}
	}
	var sum, weights int64
	for _, r := range resources {
		i, ok := p.Snapshot.Schema().Index(r.Name)
		if !ok {
			continue
		}
		if score, ok := utilization(p, i); ok {
			weight := r.Weight
			if weight == 0 {
				weight = 1
			}
			sum, weights = resource.SatAdd(sum, score*weight), weights+weight
		}
	}
	if weights == 0 {
		return 0
	}
	return sum / weights
}

// utilization is how many percent of a resource of the domain are in use with the pods;
// false if no node takes part.
func utilization(p Proposal, i int) (percent int64, ok bool) {
	var asked int64
	for _, pod := range p.Pods {
		asked = resource.SatAdd(asked, pod.ScoredRequests.At(i))
	}
	if i > resource.IndexEphemeralStorage && asked == 0 {
		return 0, false
	}
	var allocatable, used int64
	for _, slot := range p.Slots {
		n := p.Snapshot.AtSlot(slot)
		has := n.Allocatable.At(i)
		if has == 0 {
			continue
		}
		allocatable = resource.SatAdd(allocatable, has)
		switch i {
		case resource.IndexCPU, resource.IndexMemory:
			used = resource.SatAdd(used, n.NonZeroRequested[i])
		default:
			used = resource.SatAdd(used, n.Requested.At(i))
		}
	}
	if allocatable == 0 {
		return 0, false
	}
	return resource.SatMul(min(resource.SatAdd(asked, used), allocatable), framework.MaxNodeScore) / allocatable, true
}

// score fills in the scores and totals of the trials that succeeded.
func (r *Rules) score(snap *framework.Snapshot, g *Group, trials []*Trial) error {
	scorers := r.Scores
	if scorers == nil {
		scorers = PlacementScores()
	}
	raw, norm := make([]int64, len(trials)), make([]int64, len(trials))
	for _, s := range scorers {
		var name string
		if err := errtext.Guard(fmt.Sprintf("placement scorer %T", s.Scorer), func() error {
			name = s.Scorer.Name()
			for i, t := range trials {
				raw[i] = s.Scorer.ScorePlacement(t.proposal(snap, g))
			}
			copy(norm, raw)
			if n, ok := s.Scorer.(PlacementNormalizer); ok {
				n.NormalizePlacements(norm)
			}
			return nil
		}); err != nil {
			return err
		}
		weight := max(s.Weight, 1)
		for i, t := range trials {
			if norm[i] < framework.MinNodeScore || norm[i] > framework.MaxNodeScore {
				return fmt.Errorf("plugin %q returns an invalid score %d for placement %q, it should in the range of [0, 100] after normalizing", name, norm[i], t.Name())
			}
			t.Scores = append(t.Scores, Score{name, raw[i], norm[i] * weight})
			t.Total += norm[i] * weight
		}
	}
	return nil
}

// proposal is what a scorer is shown of the trial.
func (t *Trial) proposal(snap *framework.Snapshot, g *Group) Proposal {
	p := Proposal{Snapshot: snap, Group: g, Slots: t.domain.slots}
	if len(t.Placed) == 0 && t.Pods > 0 { // counts gave the answer, for equal pods
		p.Pods = g.Pods[:t.Pods]
	}
	for _, at := range t.Placed {
		p.Pods = append(p.Pods, g.Pods[at.index])
	}
	return p
}
