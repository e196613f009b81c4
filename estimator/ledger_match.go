package estimator

import "github.com/berth-sched/berth/framework"

// podName is how a metric names a pod.
type podName struct{ namespace, name string }

func nameOf(p *framework.Pod) podName { return podName{p.Namespace, p.Name} }

// findReport looks up what the metric says of the pod.
func (p *placement) findReport(m *framework.NodeMetric) {
	p.report, p.reportedProd = unreported, false
	if m == nil {
		return
	}
	pod := p.pod.Pod
	for i, r := range m.Status.PodsMetric {
		if r != nil && r.Name == pod.Name && r.Namespace == pod.Namespace && len(r.PodUsage.ResourceList) > 0 {
			p.report = int32(i)
			p.reportedProd = p.reportedProd || r.Priority == string(PriorityProd)
		}
	}
}

// matching finds the reports of all pods of an account at once. Between two
// metrics of a node little changes, so a pod is looked for first where it was
// reported last; if that explains the whole metric, nothing else is needed.
// Otherwise the metric is indexed by name.
type matching struct {
	explained []bool
	index     map[podName]reported
}

type reported struct {
	place int32
	prod  bool
}

// strangers is how many reports of unknown pods are compared one by one before
// an index pays.
const strangers = 4

func (m *matching) run(a *account) {
	if a.metric == nil {
		for i := range a.pods {
			a.pods[i].findReport(nil)
		}
		return
	}
	reports := a.metric.Status.PodsMetric
	if !m.runInPlace(a, reports) {
		m.runIndexed(a, reports)
	}
}

// runInPlace reports whether every pod was found where it was last, once, and
// no other report is about one of them.
func (m *matching) runInPlace(a *account, reports []*framework.PodMetricInfo) bool {
	if len(reports) < len(a.pods) || len(reports) > len(a.pods)+strangers {
		return false
	}
	m.explained = append(m.explained[:0], make([]bool, len(reports))...)
	for i := range a.pods {
		p := &a.pods[i]
		if uint(p.report) >= uint(len(reports)) || m.explained[p.report] {
			return false
		}
		r, pod := reports[p.report], p.pod.Pod
		if r == nil || r.Name != pod.Name || r.Namespace != pod.Namespace || len(r.PodUsage.ResourceList) == 0 {
			return false
		}
		m.explained[p.report] = true
		p.reportedProd = r.Priority == string(PriorityProd)
	}
	if len(reports) == len(a.pods) {
		return true
	}
	for k, r := range reports {
		if m.explained[k] || r == nil {
			continue
		}
		for i := range a.pods {
			if pod := a.pods[i].pod.Pod; r.Name == pod.Name && r.Namespace == pod.Namespace {
				return false
			}
		}
	}
	return true
}

func (m *matching) runIndexed(a *account, reports []*framework.PodMetricInfo) {
	if m.index == nil {
		m.index = make(map[podName]reported, len(reports))
	}
	clear(m.index)
	for k, r := range reports {
		if r == nil || len(r.PodUsage.ResourceList) == 0 {
			continue
		}
		name := podName{r.Namespace, r.Name}
		m.index[name] = reported{int32(k), r.Priority == string(PriorityProd) || m.index[name].prod}
	}
	for i := range a.pods {
		p := &a.pods[i]
		p.report, p.reportedProd = unreported, false
		if r, ok := m.index[nameOf(p.pod.Pod)]; ok {
			p.report, p.reportedProd = r.place, r.prod
		}
	}
}
