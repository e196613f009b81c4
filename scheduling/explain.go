package scheduling

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// An Explanation says, as data, why a pod goes to its node, or to none. Its JSON
// form is stable.
type Explanation struct {
	// Pod is "namespace/name".
	Pod string `json:"pod"`
	// Profile is the profile's name, Number the decision's number.
	Profile string `json:"profile"`
	Number  uint64 `json:"number"`
	// Chosen is the node that the pod goes to, "" for none.
	Chosen string `json:"chosen,omitempty"`
	// Error is the text of the error if there is no node.
	Error string `json:"error,omitempty"`
	// Gates are the scheduling gates of the pod, which waits until all are removed. The
	// rest of the explanation is as without them.
	Gates []string `json:"gates,omitempty"`
	// TiedNodes lists the nodes with the highest total, in the snapshot's order. TieRule
	// names the rule that chose among them.
	TiedNodes []string `json:"tiedNodes,omitempty"`
	TieRule   string   `json:"tieRule"`
	// Evaluated and Feasible count nodes, as in [Decision].
	Evaluated int `json:"evaluated"`
	Feasible  int `json:"feasible"`
	// Unscored is set if a single feasible node made scoring needless.
	Unscored bool `json:"unscored,omitempty"`
	// Nodes holds every node of the snapshot, in its order.
	Nodes []NodeExplanation `json:"nodes"`
}

// Verdicts of a [NodeExplanation].
const (
	VerdictFeasible = "feasible"
	VerdictRejected = "rejected"
	VerdictExcluded = "excluded"  // by a PreFilter, before any filter was asked
	VerdictSampled  = "unvisited" // enough feasible nodes had been found before, or an error ended the search
)

// A NodeExplanation is one node's part of an [Explanation].
type NodeExplanation struct {
	Node    string `json:"node"`
	Verdict string `json:"verdict"`
	// Plugin, Code and Reasons say which plugin rejected the node, and why.
	Plugin  string   `json:"plugin,omitempty"`
	Code    string   `json:"code,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// Rejections lists every plugin that rejects the node; only ExplainAll fills it.
	Rejections []NodeRejection `json:"rejections,omitempty"`
	// Scores holds a feasible node's scores in the order of the profile, without the
	// plugins that skipped the pod.
	Scores []ScoreExplanation `json:"scores,omitempty"`
	// Total is the sum of the weighted scores. Rank is the node's place by total, 1
	// for the highest; nodes with equal totals share a rank. Rank is 0 for nodes
	// without scores.
	Total int64 `json:"total"`
	Rank  int   `json:"rank,omitempty"`
	// Reserved says what the pod would get of a feasible node besides what the node
	// counts, as [Decision].Reserved.
	Reserved string `json:"reserved,omitempty"`
}

// A ScoreExplanation is one plugin's score of one node.
type ScoreExplanation struct {
	Plugin     string `json:"plugin"`
	Raw        int64  `json:"raw"`
	Normalized int64  `json:"normalized"`
	Weight     int64  `json:"weight"`
	Weighted   int64  `json:"weighted"`
}

// Explain takes the reference path for the scheduler's next decision and keeps every
// answer. It changes nothing. Schedule for the same pod and snapshot then chooses
// the same node, if extenders give the same answers again.
func (s *Scheduler) Explain(snap *framework.Snapshot, pod *framework.PodInfo) *Explanation {
	if s == nil {
		_, err := s.accept(snap, pod)
		return &Explanation{Error: err.Error(), Nodes: []NodeExplanation{}}
	}
	return s.explain(snap, pod, s.number, s.start)
}

// ExplainDecision is Explain for a decision already made. The snapshot must be as it
// was then: a fork made before, or the same snapshot if the pod has not been counted
// yet.
func (s *Scheduler) ExplainDecision(snap *framework.Snapshot, pod *framework.PodInfo, d Decision) *Explanation {
	if s == nil {
		return s.Explain(snap, pod)
	}
	return s.explain(snap, pod, d.Number, d.start)
}

func (s *Scheduler) explain(snap *framework.Snapshot, pod *framework.PodInfo, number uint64, start int) *Explanation {
	pod, err := s.accept(snap, pod)
	if err != nil {
		return &Explanation{Profile: s.profile.Name, Number: number, Error: err.Error(), TieRule: s.profile.TieRule.String(), Nodes: []NodeExplanation{}}
	}
	r := referencePath{plugins: &s.plugins, workers: 1}
	r.extended.ctx, r.extended.replay = context.Background(), &s.reference.extended.answer
	d, err := s.decide(&r, snap, pod, number, start)
	e := &Explanation{
		Pod: pod.Pod.Key(), Gates: pod.Gates(), Profile: s.profile.Name, Number: number, Chosen: d.Node, TieRule: d.TieRule.String(),
		Evaluated: d.Evaluated, Feasible: d.Feasible, Unscored: err == nil && d.Feasible == 1,
		Nodes: make([]NodeExplanation, snap.Len()),
	}
	if err != nil {
		e.Error = err.Error()
	}
	places := make(map[string]int, len(e.Nodes))
	for i, node := range snap.All() {
		e.Nodes[i] = NodeExplanation{Node: node.Name(), Verdict: VerdictSampled}
		places[node.Name()] = i
		if i < len(r.verdicts) {
			r.explainVerdict(r.verdicts[i], &e.Nodes[i])
		}
	}
	if len(s.plugins.details) > 0 {
		for _, node := range r.feasible {
			n := &e.Nodes[places[node.Name()]]
			text, err := s.plugins.reserves(snap, pod, s.partsIn(snap, pod), node)
			if n.Reserved = text; err != nil {
				n.Reserved = err.Error()
			}
		}
	}
	var plugin *PluginError
	if e.Unscored || errors.As(err, &plugin) || len(r.totals) == 0 {
		return e
	}
	for k, node := range r.feasible {
		r.explainScores(k, &e.Nodes[places[node.Name()]])
	}
	for _, k := range r.tied {
		e.TiedNodes = append(e.TiedNodes, r.feasible[k].Name())
	}
	slices.SortFunc(e.TiedNodes, func(a, b string) int { return cmp.Compare(places[a], places[b]) })
	e.rank()
	return e
}

func (r *referencePath) explainVerdict(v verdict, n *NodeExplanation) {
	switch v.filter {
	case passed:
		n.Verdict = VerdictFeasible
		return
	case unvisited:
		return
	case excluded:
		n.Verdict, n.Plugin = VerdictExcluded, r.bound.rejectedBy
		if v.status = r.bound.rejected; v.status.IsSuccess() {
			v.status = r.bound.absent
		}
	default:
		n.Verdict, n.Plugin = VerdictRejected, r.plugins.filterName(v.filter)
	}
	n.Code, n.Reasons = v.status.Code().String(), v.status.Reasons()
}

func (r *referencePath) explainScores(k int, n *NodeExplanation) {
	n.Total = r.totals[k]
	for i := range r.raw {
		b := &r.bound.scorers[i]
		n.Scores = append(n.Scores, ScoreExplanation{
			Plugin: r.plugins.scorers[b.At].name, Raw: r.raw[i][k], Normalized: r.norm[i][k],
			Weight: b.Weight, Weighted: r.norm[i][k] * b.Weight,
		})
	}
	for i, scores := range r.extended.scores {
		if scores == nil || !scores[k].given {
			continue
		}
		e, score := &r.plugins.extenders[i], scores[k].score
		n.Scores = append(n.Scores, ScoreExplanation{
			Plugin: e.Name, Raw: score, Normalized: resource.SatMul(score, framework.MaxNodeScore/maxExtenderScore),
			Weight: e.Weight, Weighted: e.weighted(score),
		})
	}
}

// rank numbers the scored nodes by total.
func (e *Explanation) rank() {
	var scored []*NodeExplanation
	for i := range e.Nodes {
		if e.Nodes[i].Verdict == VerdictFeasible {
			scored = append(scored, &e.Nodes[i])
		}
	}
	slices.SortStableFunc(scored, func(a, b *NodeExplanation) int { return cmp.Compare(b.Total, a.Total) })
	for i, n := range scored {
		if i > 0 && n.Total == scored[i-1].Total {
			n.Rank = scored[i-1].Rank
		} else {
			n.Rank = i + 1
		}
	}
}
