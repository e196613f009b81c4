package frameworktest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
)

// A fact is something that a plugin may read and must not change.
type fact struct{ pod, node, what, text string }

// checkMutation asks everything there is to ask, and compares all that the
// plugin has seen before and after.
func (k *kit) checkMutation() *Failure {
	before := k.facts(k.snapshot)
	for _, p := range k.pods {
		a := k.ask(new(framework.Cycle), k.snapshot, p, nil)
		if f := k.checkHandedOver(a); f != nil {
			return f
		}
		if k.scoper != nil {
			k.calling = "Scope"
			k.scoper.Scope(p)
		}
	}
	k.pod, k.node = nil, ""
	return k.sameFacts(before, k.facts(k.snapshot), "afterwards")
}

// checkHandedOver looks at the slices of nodes that a plugin is given.
func (k *kit) checkHandedOver(a *answers) *Failure {
	if len(a.feasible) == 0 {
		return nil
	}
	moved := func(what string, nodes []*framework.NodeInfo) *Failure {
		for i, n := range nodes {
			if n != a.feasible[i] {
				k.node = a.feasible[i].Name()
				name := "nil"
				if n != nil {
					name = n.Name()
				}
				return k.fail(fmt.Sprintf("place %d of the nodes given to %s, afterwards", i, what), name, k.node)
			}
		}
		return nil
	}
	if k.preScore != nil {
		nodes := slices.Clone(a.feasible)
		k.calling = "PreScore"
		k.preScore.PreScore(k.newCycle(), nodes)
		if f := moved("PreScore", nodes); f != nil {
			return f
		}
	}
	if _, byNodes := k.normalizers(a.scorer); byNodes != nil && a.raw != nil {
		nodes := slices.Clone(a.feasible)
		k.calling = "NormalizeScores"
		byNodes.NormalizeScores(nodes, slices.Clone(a.raw))
		if f := moved("NormalizeScores", nodes); f != nil {
			return f
		}
	}
	if batch, ok := a.scorer.(incremental.BatchScorer); ok {
		nodes := slices.Clone(a.feasible)
		k.calling = "ScoreNodes"
		batch.ScoreNodes(k.pod, nodes, make([]int64, len(nodes)))
		if f := moved("ScoreNodes", nodes); f != nil {
			return f
		}
	}
	if keyer, ok := a.scorer.(incremental.NodeKeyer); ok {
		k.calling = "AppendNodeKey"
		for _, n := range a.feasible {
			keyer.AppendNodeKey(nil, k.pod, n)
		}
	}
	return nil
}

// newCycle returns a cycle for the pod at which the kit is.
func (k *kit) newCycle() *framework.Cycle {
	c := new(framework.Cycle)
	c.Reset(k.pod, k.snapshot, k.seed, ^k.seed)
	if k.preFilter != nil {
		c.Runner().At = slotPreFilter
		k.calling = "PreFilter"
		k.preFilter.PreFilter(c)
	}
	c.Runner().At = slotPreScore
	return c
}

// facts lists all that plugins can see, generations and versions apart.
func (k *kit) facts(s *framework.Snapshot) []fact {
	facts := []fact{
		{"", "", "order of nodes", fmt.Sprint(s.Slots())},
		{"", "", "time", s.Now().String()},
		{"", "", "set of nodes", fmt.Sprint(s.NodeSet())},
	}
	facts = append(facts, objectFacts(s)...)
	all := slices.Clone(k.pods)
	for _, n := range s.All() {
		var pods, nominated []string
		for _, p := range n.Pods {
			pods = append(pods, p.Pod.Key())
		}
		all = append(all, n.Pods...)
		for _, p := range n.Nominated {
			nominated = append(nominated, p.Pod.Key())
		}
		ports := slices.Clone(n.UsedPorts)
		slices.SortFunc(ports, func(a, b api.HostPort) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		facts = append(facts,
			fact{"", n.Name(), "pods", fmt.Sprint(pods)},
			fact{"", n.Name(), "node object", jsonText(n.Node)},
			fact{"", n.Name(), "allocatable", fmt.Sprint(n.Allocatable, n.AllowedPods)},
			fact{"", n.Name(), "requested", vectorText(n.Requested) + fmt.Sprint(n.NonZeroRequested)},
			fact{"", n.Name(), "nominated pods", fmt.Sprint(nominated)},
			fact{"", n.Name(), "ports", fmt.Sprint(ports)},
		)
	}
	for _, p := range all {
		facts = append(facts, podFacts(p)...)
	}
	return facts
}

func podFacts(p *framework.PodInfo) []fact {
	key := p.Pod.Key()
	return []fact{
		{key, "", "pod object", jsonText(p.Pod)},
		{key, "", "requests", fmt.Sprint(p.Requests, p.UsedRequests, p.UsedNonZero, p.ScoredRequests)},
		{key, "", "host ports", fmt.Sprint(p.HostPorts, p.Priority)},
	}
}

// vectorText leaves trailing zeros out: a vector may grow.
func vectorText(v []int64) string {
	for len(v) > 0 && v[len(v)-1] == 0 {
		v = v[:len(v)-1]
	}
	return fmt.Sprint(v)
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// sameFacts compares two lists of facts.
func (k *kit) sameFacts(before, after []fact, when string) *Failure {
	for i, want := range before {
		if i >= len(after) {
			return k.fail("number of things to see, "+when, fmt.Sprint(len(after)), fmt.Sprint(len(before)))
		}
		if got := after[i]; got != want {
			f := k.fail(want.what+", "+when, "", "")
			if want.pod != "" {
				f.Pod = want.pod
			}
			if want.node != "" {
				f.Node = want.node
			}
			f.Got, f.Want = difference(got.text, want.text)
			return f
		}
	}
	return nil
}

// difference cuts two texts to where they differ.
func difference(a, b string) (string, string) {
	const before, after = 30, 60
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string {
		from, to := max(0, i-before), min(len(s), i+after)
		text := s[from:to]
		if from > 0 {
			text = "..." + text
		}
		if to < len(s) {
			text += "..."
		}
		return text
	}
	return cut(a), cut(b)
}
