package scoring

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// NodeAffinity scores how well a node meets the pod's preferences: the sum of the
// weights of the preferred node affinity terms that match it. Normalizing gives the
// node with the largest sum 100 and the others a proportional score. Terms of weight
// 0 and empty terms do not count; a pod with a malformed term fails.
//
// Source: kube-scheduler 1.37, plugin NodeAffinity.
type NodeAffinity struct {
	// AddedAffinity is preferred in addition to each pod's own preferences; only its
	// preferred terms are read here. nil adds nothing. It must not change while the
	// plugin is in use.
	AddedAffinity *api.NodeAffinity
}

// Name returns "NodeAffinity".
func (NodeAffinity) Name() string { return "NodeAffinity" }

// Validate reports malformed terms in AddedAffinity.
func (p NodeAffinity) Validate() error {
	if _, err := match.NewPreferredNodes(p.added()); err != nil {
		return fmt.Errorf("NodeAffinity: addedAffinity.preferredDuringSchedulingIgnoredDuringExecution: %w", err)
	}
	return nil
}

// Scope declares that a score reads the pod's choice of nodes and the node; without
// preferences it reads no node.
func (p NodeAffinity) Scope(pod *framework.PodInfo) framework.Scope {
	s := framework.Scope{Pod: framework.FieldNodeChoice}
	if len(p.added()) > 0 || match.PreferredNodesOf(pod).Present {
		s.Reads = framework.ReadsNode
	}
	return s
}

// PreScore skips pods without preferences, and fails pods with malformed ones.
func (p NodeAffinity) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	preference := match.PreferredNodesOf(c.Pod)
	if preference.Err != nil {
		return nil, framework.AsStatus(preference.Err)
	}
	added := p.added()
	if len(added) == 0 && !preference.Present {
		return nil, framework.SkipStatus()
	}
	a := framework.Scratch[nodeAffinity](c)
	a.preference = &preference.PreferredNodes
	if !a.compiledFrom(added) {
		terms, err := match.NewPreferredNodes(added)
		if err != nil {
			return nil, framework.AsStatus(p.Validate())
		}
		a.source, a.added = added, terms
	}
	return a, framework.Status{}
}

// NormalizeScore implements [DefaultNormalizeScore].
func (NodeAffinity) NormalizeScore(raw, _, largest int64) int64 {
	return DefaultNormalizeScore(raw, largest, false)
}

func (p NodeAffinity) added() []api.PreferredSchedulingTerm {
	if p.AddedAffinity == nil {
		return nil
	}
	return p.AddedAffinity.PreferredDuringSchedulingIgnoredDuringExecution
}

// nodeAffinity is the bound scorer. It keeps the compiled added terms from cycle to
// cycle.
type nodeAffinity struct {
	preference *match.PreferredNodes
	source     []api.PreferredSchedulingTerm // what added was compiled from
	added      match.PreferredNodes
}

func (a *nodeAffinity) compiledFrom(terms []api.PreferredSchedulingTerm) bool {
	return len(a.source) == len(terms) && (len(terms) == 0 || &a.source[0] == &terms[0])
}

func (a *nodeAffinity) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return a.added.Score(node.Node) + a.preference.Score(node.Node)
}
