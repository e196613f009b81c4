package oracle

import (
	"math/big"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A LoadPod is a pod on a node, as load-aware rules see it.
type LoadPod struct {
	Namespace, Name string
	Prod            bool
	Estimate        map[resource.Name]int64
	Placed          time.Time
	Deadline        time.Time // until when it is estimated in any case; zero: not
}

// A LoadStatistic chooses a use of a node: "" the average, else a kind over a
// period, 0 for the longest.
type LoadStatistic struct {
	Kind     api.AggregationType
	Duration time.Duration
}

// Load18 adds up what a node uses by the rules of Koordinator 1.8, of one
// resource: of prod pods alone, with the system's if system is set, or of the
// whole by a statistic. false means that nothing is known.
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

// LoadLegacy adds up what a node uses by the rules of Koordinator 1.4 to 1.6,
// as scores see it: of one resource, of prod pods alone or of the whole by the
// statistic base. score is the score's own statistic, without which all pods
// are estimated. exists tells of each name that a pod has whether that pod is
// prod. longestOnly chooses the longest period even where it lacks the kind.
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

// LegacyStatistic returns the node's use by a statistic, by the rules of
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
