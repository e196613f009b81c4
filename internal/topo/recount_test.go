package topo

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// These functions recompute the answers of the tables from the objects alone.

// check compares all answers of a fork's tables about the wanted pods.
func (m *model) check(f *fork) {
	m.Helper()
	for i, pod := range m.pods {
		p, err := f.snap.NewPodInfo(pod)
		m.must(err)
		m.checkServices(f, p)
		m.checkAffinity(f, fmt.Sprint(i, " ", pod.Name, " affinity"), p)
		m.checkHard(f, fmt.Sprint(i, " ", pod.Name, " hard"), p)
		m.checkSoft(f, fmt.Sprint(i, " ", pod.Name, " soft"), p)
	}
	checkTables(m, Of(f.snap))
}

func selects(s *api.LabelSelector, labels map[string]string) bool {
	if s == nil {
		return false
	}
	for key, value := range s.MatchLabels {
		if got, ok := labels[key]; !ok || got != value {
			return false
		}
	}
	for _, e := range s.MatchExpressions {
		got, ok := labels[e.Key]
		named := ok && slices.Contains(e.Values, got)
		met := map[api.LabelSelectorOperator]bool{
			api.LabelSelectorOpIn: named, api.LabelSelectorOpNotIn: !named,
			api.LabelSelectorOpExists: ok, api.LabelSelectorOpDoesNotExist: !ok,
		}
		if !met[e.Operator] {
			return false
		}
	}
	return true
}

// matches reports whether a term of a pod in the namespace owner selects the pod.
func matches(s *framework.Snapshot, owner string, t *api.PodAffinityTerm, p *api.Pod) bool {
	var labels map[string]string
	n := framework.Lookup[api.Namespace](s, p.Namespace)
	if n != nil {
		labels = n.Labels
	}
	in := slices.Contains(t.Namespaces, p.Namespace) || len(t.Namespaces) == 0 && t.NamespaceSelector == nil && owner == p.Namespace
	return (in || selects(t.NamespaceSelector, labels)) && selects(t.LabelSelector, p.Labels)
}

// sum adds up over the pods on nodes in the same domain as n, or on n alone if the
// key is "".
func sum(s *framework.Snapshot, n *framework.NodeInfo, key string, of func(m *framework.NodeInfo, p *api.Pod) int64) (total int64) {
	domain, ok := n.Node.Labels[key]
	for _, m := range s.All() {
		other, has := m.Node.Labels[key]
		if key == "" && m != n || key != "" && (!ok || !has || other != domain) {
			continue
		}
		for _, p := range m.Pods {
			total += of(m, p.Pod)
		}
	}
	return total
}

type weightedTerm struct {
	term   api.PodAffinityTerm
	weight int64
}

// terms returns a pod's terms of the four kinds.
func terms(p *api.Pod) (near, away, likes []weightedTerm) {
	a := p.Spec.Affinity
	if a == nil {
		return nil, nil, nil
	}
	if a.PodAffinity != nil {
		for _, t := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			near = append(near, weightedTerm{t, 1})
		}
		for _, t := range a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			likes = append(likes, weightedTerm{t.PodAffinityTerm, int64(t.Weight)})
		}
	}
	if a.PodAntiAffinity != nil {
		for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			away = append(away, weightedTerm{t, 1})
		}
		for _, t := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			likes = append(likes, weightedTerm{t.PodAffinityTerm, -int64(t.Weight)})
		}
	}
	return near, away, likes
}

func (m *model) checkServices(f *fork, p *framework.PodInfo) {
	m.Helper()
	var want []*api.Service
	for _, o := range framework.List[api.Service](f.snap) {
		if o.Namespace == p.Pod.Namespace && o.Spec.Selector != nil && selects(&api.LabelSelector{MatchLabels: o.Spec.Selector}, p.Pod.Labels) {
			want = append(want, o)
		}
	}
	if got := ServicesOf(f.snap, p); !slices.Equal(got, want) {
		m.Fatalf("%d services of %s, want %d", len(got), p.Pod.Name, len(want))
	}
	objects := len(framework.List[api.Service](f.snap)) + len(framework.List[api.ReplicaSet](f.snap)) + len(framework.List[api.StatefulSet](f.snap))
	objects += len(framework.List[api.Deployment](f.snap))
	if got := noWorkloads(f.snap); got != (objects == 0) {
		m.Fatalf("no workloads = %t with %d objects", got, objects)
	}
}

func (m *model) checkAffinity(f *fork, what string, p *framework.PodInfo) {
	m.Helper()
	s, pod := f.snap, p.Pod
	a := Of(s).Affinity(p)
	near, away, likes := terms(pod)
	if a == nil {
		a = &Affinity{tables: Of(s)}
		m.promised(f, what, nil, nil)
		m.promised(f, what+" score", nil, nil)
	}
	all := func(q *api.Pod) bool {
		for i := range near {
			if !matches(s, pod.Namespace, &near[i].term, q) {
				return false
			}
		}
		return len(near) > 0
	}
	if a.Self != all(pod) {
		m.Fatalf("%s: Self = %t, want %t", what, a.Self, !a.Self)
	}
	filter, score := func(n *framework.NodeInfo) string {
		attracted := true
		for _, c := range a.Attract {
			attracted = attracted && c.At(n) > 0
		}
		labels := !slices.ContainsFunc(a.Attract, func(c Count) bool { return c.Domain(n) < 0 })
		first := !slices.ContainsFunc(a.Attract, func(c Count) bool { return c.Total() > 0 })
		repelled := slices.ContainsFunc(a.Repel, func(c Count) bool { return c.At(n) > 0 })
		barred := slices.ContainsFunc(a.Barred, func(c Count) bool { return c.At(n) > 0 })
		if a.Others != nil {
			barred = a.Others.Bars(n)
		}
		return fmt.Sprint(labels && (attracted || a.Self && first), repelled, barred)
	}, func(n *framework.NodeInfo) string {
		var likes, demand int64
		for i := range a.Prefer {
			likes += a.Prefer[i].Weight * a.Prefer[i].At(n)
		}
		for _, c := range a.Demand {
			demand += c.At(n)
		}
		if a.Others != nil {
			only := a.Others.Preference(n, 0)
			likes, demand = likes+only, a.Others.Preference(n, 1)-only
		}
		return fmt.Sprint(likes, demand)
	}
	for _, n := range s.All() {
		attracted, labels, first := true, true, true
		for i := range near {
			key := near[i].term.TopologyKey
			_, ok := n.Node.Labels[key]
			labels = labels && ok
			one := func(_ *framework.NodeInfo, q *api.Pod) int64 { return number(all(q)) }
			attracted = attracted && sum(s, n, key, one) > 0
			for _, o := range s.All() {
				first = first && sum(s, o, key, one) == 0
			}
		}
		repelled, barred := false, false
		for i := range away {
			repelled = repelled || sum(s, n, away[i].term.TopologyKey, func(_ *framework.NodeInfo, q *api.Pod) int64 {
				return number(matches(s, pod.Namespace, &away[i].term, q))
			}) > 0
		}
		var like, demand int64
		for i := range likes {
			like += likes[i].weight * sum(s, n, likes[i].term.TopologyKey, func(_ *framework.NodeInfo, q *api.Pod) int64 {
				return number(matches(s, pod.Namespace, &likes[i].term, q))
			})
		}
		for _, o := range s.All() {
			for _, q := range o.Pods {
				theirNear, theirAway, theirLikes := terms(q.Pod)
				reaches := func(t *weightedTerm) bool {
					x, ok := n.Node.Labels[t.term.TopologyKey]
					y, has := o.Node.Labels[t.term.TopologyKey]
					return ok && has && x == y && matches(s, q.Pod.Namespace, &t.term, pod)
				}
				for i := range theirNear {
					demand += number(reaches(&theirNear[i]))
				}
				for i := range theirAway {
					barred = barred || reaches(&theirAway[i])
				}
				for i := range theirLikes {
					like += theirLikes[i].weight * number(reaches(&theirLikes[i]))
				}
			}
		}
		if got, want := filter(n), fmt.Sprint(labels && (attracted || all(pod) && first), repelled, barred); got != want {
			m.Fatalf("%s: attracted, repelled, barred on %s = %s, want %s", what, n.Name(), got, want)
		}
		if got, want := score(n), fmt.Sprint(like, demand); got != want {
			m.Fatalf("%s: likes, demand on %s = %s, want %s", what, n.Name(), got, want)
		}
	}
	if a.traits == nil {
		return
	}
	m.promised(f, what, &tracker{a.FilterVersion(), a.FilterChanged, a.AppendFilterState, a.AppendOrigin, a.FilterChangedFrom}, filter)
	m.promised(f, what+" score", &tracker{
		a.ScoreVersion(true),
		func(since uint64, dirty func(int)) bool { return a.ScoreChanged(true, since, dirty) },
		func(b []byte) []byte { return a.AppendScoreState(b, true) },
		a.AppendOrigin,
		func(state []byte, dirty func(int)) bool { return a.ScoreChangedFrom(true, state, dirty) },
	}, score)
	m.grouped(f, what, a.FilterGroups(), filter)
	m.grouped(f, what+" score", a.ScoreGroups(true), score)
}

func number(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// systemHard are default constraints for pods without constraints.
var systemHard = []api.TopologySpreadConstraint{
	{TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.DoNotSchedule, MaxSkew: 1},
	{TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.ScheduleAnyway, MaxSkew: 1},
	{TopologyKey: api.LabelHostname, WhenUnsatisfiable: api.ScheduleAnyway, MaxSkew: 1},
}

// constraints returns the pod's constraints with the action, or the default ones.
func constraints(f *fork, p *api.Pod, action api.UnsatisfiableConstraintAction) (list []api.TopologySpreadConstraint) {
	source := p.Spec.TopologySpreadConstraints
	if len(source) == 0 {
		merged := map[string]string{}
		for _, o := range framework.List[api.Service](f.snap) {
			if o.Namespace == p.Namespace && o.Spec.Selector != nil && selects(&api.LabelSelector{MatchLabels: o.Spec.Selector}, p.Labels) {
				maps.Copy(merged, o.Spec.Selector)
			}
		}
		if len(merged) == 0 {
			return nil
		}
		for _, c := range systemHard {
			c.LabelSelector = &api.LabelSelector{MatchLabels: merged}
			source = append(source, c)
		}
	}
	for _, c := range source {
		if c.WhenUnsatisfiable == action {
			list = append(list, c)
		}
	}
	return list
}

// counts reports whether pods on the node count for a constraint.
func counts(list []api.TopologySpreadConstraint, c *api.TopologySpreadConstraint, n *api.Node, p *api.Pod, strict bool) bool {
	for i := range list {
		if _, ok := n.Labels[list[i].TopologyKey]; strict && !ok {
			return false
		}
	}
	if !selects(&api.LabelSelector{MatchLabels: p.Spec.NodeSelector}, n.Labels) {
		return false
	}
	return c.NodeTaintsPolicy == nil || len(n.Spec.Taints) == 0 || len(p.Spec.Tolerations) > 0
}

func counted(c *api.TopologySpreadConstraint, p, q *api.Pod) int64 {
	if c.LabelSelector != nil && len(c.LabelSelector.MatchLabels)+len(c.LabelSelector.MatchExpressions) == 0 {
		return 0
	}
	return number(q.Namespace == p.Namespace && q.DeletionTimestamp == nil && selects(c.LabelSelector, q.Labels))
}

func (m *model) checkHard(f *fork, what string, p *framework.PodInfo) {
	m.Helper()
	s, pod := f.snap, p.Pod
	rules := HardRules(p)
	if !rules.Own {
		rules = DefaultsOf(s, p, systemHard, api.DoNotSchedule)
	}
	list := constraints(f, pod, api.DoNotSchedule)
	if len(rules.List) != len(list) {
		m.Fatalf("%s: %d rules, want %d", what, len(rules.List), len(list))
	}
	if len(list) == 0 {
		m.promised(f, what, nil, nil)
		return
	}
	spread := Of(s).Hard(p, rules)
	for i := range list {
		c := &list[i]
		domains := map[string]int64{}
		for _, n := range s.All() {
			if domain := n.Node.Labels[c.TopologyKey]; counts(list, c, n.Node, pod, true) {
				domains[domain] += 0
				for _, q := range n.Pods {
					domains[domain] += counted(c, pod, q.Pod)
				}
			}
		}
		least := func(except string) int64 {
			n := int64(math.MaxInt32)
			for domain, count := range domains {
				if domain != except {
					n = min(n, count)
				}
			}
			return n
		}
		count := spread.Counts[i]
		if got, want := count.Least(), least("none of them"); got != want || count.Domains() != len(domains) {
			m.Fatalf("%s: rule %d: Least() = %d of %d domains, want %d of %d", what, i, got, count.Domains(), want, len(domains))
		}
		for _, n := range s.All() {
			domain, ok := n.Node.Labels[c.TopologyKey]
			if got := count.At(n); count.Domain(n) < 0 == ok || got != domains[domain] && ok {
				m.Fatalf("%s: rule %d: At(%s) = %d, want %d", what, i, n.Name(), got, domains[domain])
			}
			if got, want := count.Counts(n), counts(list, c, n.Node, pod, true); got != want {
				m.Fatalf("%s: rule %d: Counts(%s) = %t, want %t", what, i, n.Name(), got, want)
			}
			if !ok {
				continue
			}
			if got, want := count.LeastExcept(count.Domain(n)), least(domain); got != want {
				m.Fatalf("%s: rule %d: LeastExcept(%s) = %d, want %d", what, i, n.Name(), got, want)
			}
		}
	}
	answer := func(n *framework.NodeInfo) (text string) {
		for _, c := range spread.Counts {
			text += fmt.Sprint(c.Domain(n) < 0, c.At(n)-c.Least(), c.Domains(), " ")
		}
		return text
	}
	m.promised(f, what, &tracker{spread.HardVersion(), spread.HardChanged, spread.AppendHardState, spread.AppendHardOrigin, spread.HardChangedFrom}, answer)
	m.grouped(f, what, spread.HardGroups(), answer)
}

func (m *model) checkSoft(f *fork, what string, p *framework.PodInfo) {
	m.Helper()
	s, pod := f.snap, p.Pod
	list := constraints(f, pod, api.ScheduleAnyway)
	for _, strict := range []bool{true, false} {
		what := fmt.Sprint(what, " strict ", strict)
		rules := SoftRules(p)
		if !rules.Own {
			rules = DefaultsOf(s, p, systemHard, api.ScheduleAnyway)
		}
		if len(rules.List) != len(list) {
			m.Fatalf("%s: %d rules, want %d", what, len(rules.List), len(list))
		}
		if len(list) == 0 {
			m.promised(f, what, nil, nil)
			continue
		}
		spread := Of(s).Soft(p, rules, strict)
		for _, n := range s.All() {
			ignored := false
			for i := range list {
				c := &list[i]
				key := c.TopologyKey
				domain, ok := n.Node.Labels[key]
				ignored = ignored || strict && !ok
				if spread.Has(i, n) != ok {
					m.Fatalf("%s: Has(%d, %s) = %t, want %t", what, i, n.Name(), !ok, ok)
				}
				var want int64
				for _, o := range s.All() {
					other, has := o.Node.Labels[key]
					same := ok && (has || !strict) && other == domain
					if key == api.LabelHostname {
						same = o == n
					}
					if !same || key != api.LabelHostname && !counts(list, c, o.Node, pod, strict) {
						continue
					}
					for _, q := range o.Pods {
						want += counted(c, pod, q.Pod)
					}
				}
				if got := spread.Counts[i].At(n); ok && got != want {
					m.Fatalf("%s: rule %d: At(%s) = %d, want %d", what, i, n.Name(), got, want)
				}
			}
			if spread.Ignores(n) != ignored {
				m.Fatalf("%s: Ignores(%s) = %t, want %t", what, n.Name(), !ignored, ignored)
			}
		}
		m.checkSizes(f, what, spread, list)
	}
}

// checkSizes checks the results that depend on the number of domains.
func (m *model) checkSizes(f *fork, what string, spread *Spread, list []api.TopologySpreadConstraint) {
	m.Helper()
	sizes := make([]int, len(list))
	for i := range sizes {
		sizes[i] = m.serial % 3
	}
	answer := func(n *framework.NodeInfo) (text string) {
		for i, c := range spread.Counts {
			text += fmt.Sprint(spread.Has(i, n), c.At(n), sizes[i], " ")
		}
		return text
	}
	version := spread.Sized(sizes)
	m.promised(f, what, &tracker{
		version,
		func(since uint64, dirty func(int)) bool { return spread.SoftChanged(since, version, dirty) },
		func(b []byte) []byte { return spread.AppendSoftState(b, version) },
		func(b []byte) []byte { return spread.AppendSoftOrigin(b, version) },
		func(state []byte, dirty func(int)) bool { return spread.SoftChangedFrom(state, version, dirty) },
	}, answer)
	g := spread.SoftGroups()
	if !g.Prepared {
		m.grouped(f, what, g, answer)
		return
	}
	m.grouped(f, what+" prepared", g, func(n *framework.NodeInfo) string {
		text := fmt.Sprint(spread.Ignores(n), " ")
		for i := range list {
			if list[i].TopologyKey != api.LabelHostname {
				text += fmt.Sprint(spread.Place(i, n), " ")
			}
		}
		return text
	})
}
