package estimator

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A podReport is what a metric says of a pod that exists.
type podReport struct {
	usage    resource.List
	prod     bool // the pod that exists is
	inWindow [bothClasses]bool
}

// podReports are those of one metric, as rules up to 1.6 see them: only pods
// that exist count, and the last report of a name does.
type podReports struct {
	list   []podReport
	byPod  []int32 // place in list for each pod of the account, or unreported
	byName map[podName]int32
}

// of reads the account's metric. The result is valid until the next call.
func (s *podReports) of(l *Ledger, load *Load, n *framework.NodeInfo, a *account) *podReports {
	s.list, s.byPod = s.list[:0], s.byPod[:0]
	reports := a.metric.Status.PodsMetric
	if a.simple {
		for i := range a.pods {
			if !a.matches.reported(i) {
				s.byPod = append(s.byPod, unreported)
				continue
			}
			s.byPod = append(s.byPod, int32(len(s.list)))
			usage := reports[a.matches.places[i]].PodUsage.ResourceList
			s.list = append(s.list, podReport{usage: usage, prod: load.Pod(a.pods[i].pod).Prod})
		}
		return s
	}
	if s.byName == nil {
		s.byName = make(map[podName]int32, len(reports))
	}
	clear(s.byName)
	for _, r := range reports {
		if r == nil {
			continue
		}
		name := podName{r.Namespace, r.Name}
		if i, ok := s.byName[name]; ok {
			s.list[i].usage = r.PodUsage.ResourceList
			continue
		}
		if p, _ := l.census.lookup(name, n.Slot()); p != nil {
			s.byName[name] = int32(len(s.list))
			s.list = append(s.list, podReport{usage: r.PodUsage.ResourceList, prod: load.Pod(p).Prod})
		}
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

// ofPod returns the report of pod i, nil if there is none.
func (s *podReports) ofPod(i int) *podReport {
	if s.byPod[i] == unreported {
		return nil
	}
	return &s.list[s.byPod[i]]
}
