package estimator

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A podReport is a report about an existing pod.
type podReport struct {
	usage    *api.ResourceMap
	prod     bool // the existing pod is prod
	inWindow [bothClasses]bool
}

// podReports are the reports of one metric by the rules up to 1.6: only existing
// pods count, and the last report of a name wins.
type podReports struct {
	list   []podReport
	byPod  []int32 // index in list for each pod of the account, or unreported
	byName map[podName]int32
	sums   usageSums
}

// of reads the account's metric. With strangers, it includes reports of existing
// pods outside the account. The result is valid until the next call.
func (s *podReports) of(l *Ledger, q *quantitySums, n *framework.NodeInfo, a *account, strangers bool) *podReports {
	s.list, s.byPod = s.list[:0], s.byPod[:0]
	reports := a.metric.Status.PodsMetric
	if s.byName == nil {
		s.byName = map[podName]int32{}
	}
	clear(s.byName)
	if !a.simple {
		for _, r := range reports {
			s.add(l, q.load, n, r)
		}
		for _, name := range a.matches.names {
			i, ok := s.byName[name]
			if !ok {
				i = unreported
			}
			s.byPod = append(s.byPod, i)
		}
		return s
	}
	for i, place := range a.matches.places {
		if place < 0 {
			s.byPod = append(s.byPod, unreported)
			continue
		}
		s.byPod = append(s.byPod, int32(len(s.list)))
		s.list = append(s.list, podReport{usage: &reports[place].PodUsage, prod: q.prod[i]})
	}
	if strangers {
		for _, k := range l.matcher.strangers {
			s.add(l, q.load, n, reports[k])
		}
	}
	return s
}

// add adds a report if the pod of that name exists.
func (s *podReports) add(l *Ledger, load *Load, n *framework.NodeInfo, r *api.PodMetricInfo) {
	if r == nil {
		return
	}
	name := podName{r.Namespace, r.Name}
	if i, ok := s.byName[name]; ok {
		s.list[i].usage = &r.PodUsage
		return
	}
	if p, _ := l.census.lookup(l.snapshot, name, n.Slot()); p != nil {
		s.byName[name] = int32(len(s.list))
		s.list = append(s.list, podReport{usage: &r.PodUsage, prod: load.Pod(p).Prod})
	}
}

// ofPod returns the report of pod i, or nil.
func (s *podReports) ofPod(i int) *podReport {
	if s.byPod[i] == unreported {
		return nil
	}
	return &s.list[s.byPod[i]]
}

// usageSums are sums of usage over groups of reports, by resource.
type usageSums struct {
	prod                   []resource.Sum // of prod pods
	replaced, prodReplaced []resource.Sum // of reports about pods in their window, by class
	some                   bool           // replaced has any entry
}

func (u *usageSums) reset(n int) {
	u.prod, u.replaced, u.prodReplaced = resized(u.prod, n), resized(u.replaced, n), resized(u.prodReplaced, n)
	u.some = false
}

// add adds up the reports; it includes sums of prod pods only if forProd is set.
func (u *usageSums) add(names []resource.Name, reports *podReports, forProd bool) {
	for i := range reports.list {
		report := &reports.list[i]
		prod := forProd && report.prod
		if !prod && !report.inWindow[wholeClass] {
			continue
		}
		for r, name := range names {
			use := report.usage.Quantity(name)
			if prod {
				u.prod[r].Add(use)
			}
			if report.inWindow[wholeClass] {
				u.replaced[r].Add(use)
			}
			if prod && report.inWindow[prodClass] {
				u.prodReplaced[r].Add(use)
			}
		}
		u.some = u.some || report.inWindow[wholeClass]
	}
}
