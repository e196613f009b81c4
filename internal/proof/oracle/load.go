package oracle

import (
	"math/big"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A LoadPod is a pod on a node, with the data that load-aware rules read.
type LoadPod struct {
	Namespace, Name string
	Prod            bool
	Estimate        map[resource.Name]int64
	Placed          time.Time
	Deadline        time.Time // always estimated until then; zero: no such time
}

// A LoadStatistic selects a usage figure of a node: "" is the average. Any other
// kind is over a period, and period 0 means the longest.
type LoadStatistic struct {
	Kind     api.AggregationType
	Duration time.Duration
}

// Load18 adds up a node's usage of one resource by the rules of Koordinator 1.8: of
// prod pods alone, plus the system's if system is set, or of the whole node by a
// statistic. It returns false if nothing is known.
func Load18(name resource.Name, m *api.NodeMetric, updated time.Time, pods []LoadPod, s LoadStatistic, prod, system bool) (*big.Int, bool) {
	if m == nil || m.Status.NodeMetric == nil {
		return nil, false
	}
	info := m.Status.NodeMetric
	interval := 60 * time.Second
	if p := m.Spec.CollectPolicy; p != nil && p.ReportIntervalSeconds != nil {
		interval = time.Duration(*p.ReportIntervalSeconds) * time.Second
	}
	total := new(big.Int)
	add := func(x int64) { total.Add(total, number(x)) }
	if prod && system {
		add(amount(info.SystemUsage.List(), name))
	}
	base, found := load18Base(info, s)
	if !prod && found {
		add(amount(base, name))
	}
	for _, p := range pods {
		var usage resource.List
		reportedProd := false
		for _, r := range m.Status.PodsMetric {
			if r != nil && r.Namespace == p.Namespace && r.Name == p.Name && !r.PodUsage.IsZero() {
				usage = r.PodUsage.List()
				reportedProd = reportedProd || r.Priority == "koord-prod"
			}
		}
		estimate := number(p.Estimate[name])
		over := func(usage resource.List) {
			if x := minus(estimate, number(amount(usage, name))); x.Sign() > 0 {
				total.Add(total, x)
			}
		}
		young := usage == nil || updated.Add(-interval).Before(p.Placed) || !p.Deadline.IsZero() && p.Deadline.After(updated)
		switch {
		case !prod && !found:
			total.Add(total, estimate)
		case !prod && young:
			over(usage)
		case prod && p.Prod && reportedProd:
			add(amount(usage, name))
			if young {
				over(usage)
			}
		case prod && p.Prod:
			over(nil)
		}
	}
	return total, true
}

func load18Base(info *api.NodeMetricInfo, s LoadStatistic) (base resource.List, found bool) {
	if s.Kind == "" {
		return info.NodeUsage.List(), true
	}
	d := s.Duration
	if d == 0 {
		for _, a := range info.AggregatedNodeUsages {
			if !a.Usage[s.Kind].IsZero() && a.Duration.Duration > d {
				d = a.Duration.Duration
			}
		}
		base, found = info.NodeUsage.List(), true
	}
	for _, a := range info.AggregatedNodeUsages {
		if list := a.Usage[s.Kind].List(); a.Duration.Duration == d && len(list) > 0 {
			base, found = list, true
		}
	}
	return base, found
}

// LoadLegacy adds up a node's usage of one resource by the rules of Koordinator 1.4
// to 1.6, as scores see it. It counts prod pods alone, or the whole node by the
// statistic base. score is the score's own statistic; without it, all pods are
// estimated. exists has the names of all existing pods, and whether each is prod.
// longestOnly chooses the longest period even if it lacks the kind.
func LoadLegacy(
	name resource.Name, m *api.NodeMetric, pods []LoadPod, exists map[string]bool,
	base, score LoadStatistic, prod, longestOnly bool,
) *big.Int {
	var updated time.Time
	if t := m.Status.UpdateTime; t != nil {
		updated = *t
	}
	interval := 60 * time.Second
	if p := m.Spec.CollectPolicy; p != nil && p.ReportIntervalSeconds != nil {
		interval = time.Duration(*p.ReportIntervalSeconds) * time.Second
	}
	usages := map[string]resource.List{}
	for _, r := range m.Status.PodsMetric {
		if r == nil {
			continue
		}
		key := r.Namespace + "/" + r.Name
		if isProd, ok := exists[key]; ok && (isProd || !prod) {
			usages[key] = r.PodUsage.List()
		}
	}
	_, scored := LegacyStatistic(m.Status.NodeMetric, score, longestOnly)
	total := new(big.Int)
	replaced := map[string]bool{}
	for _, p := range pods {
		if prod && !p.Prod {
			continue
		}
		key := p.Namespace + "/" + p.Name
		usage, ok := usages[key]
		before := p.Placed.Before(updated) && updated.Sub(p.Placed) < interval
		if len(usage) > 0 && !p.Placed.After(updated) && !before && (scored || score.Kind == "") {
			continue
		}
		estimate, named := p.Estimate[name]
		if q, has := usage[name]; has && named {
			list := resource.List{name: q}
			estimate = max(estimate, amount(list, name))
		}
		total.Add(total, number(estimate))
		if ok {
			replaced[key] = true
		}
	}
	left, gone := resource.Quantity{}, resource.Quantity{}
	for key, usage := range usages {
		if replaced[key] {
			gone = gone.Add(usage[name])
		} else {
			left = left.Add(usage[name])
		}
	}
	if prod {
		return total.Add(total, number(amount(resource.List{name: left}, name)))
	}
	list, _ := LegacyStatistic(m.Status.NodeMetric, base, longestOnly)
	q, ok := list[name]
	if !ok {
		return total
	}
	if q.Cmp(gone) >= 0 {
		q = q.Sub(gone)
	}
	return total.Add(total, number(amount(resource.List{name: q}, name)))
}

// LegacyStatistic returns the node's usage by a statistic, by the rules of
// Koordinator 1.4 to 1.6.
func LegacyStatistic(info *api.NodeMetricInfo, s LoadStatistic, longestOnly bool) (resource.List, bool) {
	if info == nil {
		return nil, false
	}
	if s.Kind == "" {
		return info.NodeUsage.List(), true
	}
	if len(info.AggregatedNodeUsages) == 0 {
		return nil, false
	}
	if s.Duration != 0 {
		for _, a := range info.AggregatedNodeUsages {
			if list := a.Usage[s.Kind].List(); a.Duration.Duration == s.Duration && len(list) > 0 {
				return list, true
			}
		}
		return nil, false
	}
	best, longest := -1, time.Duration(0)
	for i, a := range info.AggregatedNodeUsages {
		if a.Duration.Duration > longest && (longestOnly || !a.Usage[s.Kind].IsZero()) {
			best, longest = i, a.Duration.Duration
		}
	}
	list := info.NodeUsage.List()
	switch {
	case best >= 0:
		list = info.AggregatedNodeUsages[best].Usage[s.Kind].List()
	case longestOnly:
		list = info.AggregatedNodeUsages[0].Usage[s.Kind].List()
	}
	return list, len(list) > 0
}
