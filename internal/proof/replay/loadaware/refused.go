package loadaware

import (
	"maps"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// The library rejects a pod with a negative request. No API server admits such a
// pod, but some recorded cases have one. The replay adds the pod without the
// request, and estimates it as written.

// refused reports whether the case holds such a pod.
func refused(c *Case) bool {
	for _, p := range c.pods() {
		if hasNegative(p) {
			return true
		}
	}
	return false
}

// pods lists every pod of the case.
func (c *Case) pods() []*api.Pod {
	pods := append([]*api.Pod{c.Pod}, c.Pods...)
	for _, list := range [...][]Reservation{c.Reserve, c.Unreserve} {
		for _, r := range list {
			pods = append(pods, r.Pod)
		}
	}
	for _, e := range c.Events {
		if e.Pod != nil {
			pods = append(pods, e.Pod)
		}
	}
	return pods
}

func hasNegative(p *api.Pod) bool {
	for i := range p.Spec.Containers {
		for _, q := range p.Spec.Containers[i].Resources.Requests {
			if q.Sign() < 0 {
				return true
			}
		}
	}
	return false
}

// info returns the pod in a form that the snapshot accepts.
func (r *replay) info(p *api.Pod) (*framework.PodInfo, error) {
	if hasNegative(p) {
		p = withoutNegative(p)
	}
	return r.snapshot.NewPodInfo(p)
}

func withoutNegative(p *api.Pod) *api.Pod {
	c := *p
	c.Spec.Containers = append([]api.Container(nil), p.Spec.Containers...)
	for i := range c.Spec.Containers {
		requests := maps.Clone(c.Spec.Containers[i].Resources.Requests)
		maps.DeleteFunc(requests, func(_ resource.Name, q resource.Quantity) bool { return q.Sign() < 0 })
		c.Spec.Containers[i].Resources.Requests = requests
	}
	return &c
}

// asWritten estimates the pods of a case as they were written.
type asWritten struct {
	*estimator.DefaultEstimator
	c *Case
}

func (e asWritten) EstimatePod(p *api.Pod) (map[resource.Name]int64, error) {
	for _, written := range e.c.pods() {
		if written.UID == p.UID && hasNegative(written) {
			return e.DefaultEstimator.EstimatePod(written)
		}
	}
	return e.DefaultEstimator.EstimatePod(p)
}
