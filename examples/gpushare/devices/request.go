package devices

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// MilliPerGPU is how many thousandths a whole GPU has.
const MilliPerGPU = 1000

// A Request is what a pod asks of GPUs. The zero Request asks for none.
type Request struct {
	// Count is the number of GPUs, at most [MaxGPUs].
	Count int64
	// Milli is how many thousandths of each GPU the pod asks for, from 1 to
	// [MilliPerGPU]; 0 if Count is 0.
	Milli int64
	// Models are the accepted models, separated by "|"; "" accepts all.
	Models string
}

// IsShare reports whether the request is for a part of one GPU.
func (r Request) IsShare() bool { return r.Count == 1 && r.Milli < MilliPerGPU }

// Total is the sum over all GPUs of the request, in thousandths.
func (r Request) Total() int64 { return r.Count * r.Milli }

// Accepts reports whether a GPU of the model will do.
func (r Request) Accepts(model string) bool {
	if r.Models == "" {
		return true
	}
	for m := range strings.SplitSeq(r.Models, "|") {
		if m == model {
			return true
		}
	}
	return false
}

// String formats the request for people, such as "460 thousandths of a GPU".
func (r Request) String() string {
	var b strings.Builder
	switch {
	case r.Count == 0:
		return "no GPU"
	case r.IsShare():
		fmt.Fprintf(&b, "%d thousandths of a GPU", r.Milli)
	case r.Milli == MilliPerGPU:
		fmt.Fprintf(&b, "%d GPUs", r.Count)
	default:
		fmt.Fprintf(&b, "%d thousandths of each of %d GPUs", r.Milli, r.Count)
	}
	if r.Models != "" {
		fmt.Fprintf(&b, " of %s", r.Models)
	}
	return b.String()
}

// A Demand is what formulas know of a pod.
type Demand struct {
	// CPU is in thousandths.
	CPU int64
	// GPU is what the pod asks of GPUs.
	GPU Request
}

// names are the names that pods and nodes use.
type names struct {
	count, milli, models, index string        // annotations of pods
	gpu, gpuCount, gpuMilli     resource.Name // resources
	model                       string        // label of nodes
}

func namesOf(vendor string) names {
	return names{
		count: vendor + "/gpu-count", milli: vendor + "/gpu-milli", models: vendor + "/gpu-card-model", index: vendor + "/gpu-index",
		gpu: resource.Name(vendor + "/gpu"), gpuCount: resource.Name(vendor + "/gpu-count"), gpuMilli: resource.Name(vendor + "/gpu-milli"),
		model: vendor + "/gpu-card-model",
	}
}

// wanted is what a pod says of GPUs.
type wanted struct {
	Request
	err   error // why the request cannot be read
	given Set   // the GPUs that the pod has on the node that it is bound to
	on    string
}

// givenOn returns the GPUs that the pod names and has, because it is bound to the node.
func (w *wanted) givenOn(n *framework.NodeInfo, r *room) Set {
	if w.given == 0 || w.on != n.Name() || w.given>>r.gpus != 0 {
		return 0
	}
	return w.given
}

// fits reports whether so many GPUs of the node have enough left, among them those that the
// pod has there.
func (w *wanted) fits(n *framework.NodeInfo, r *room) bool {
	return r.fits(&w.Request) && (w.given == 0 || r.spares(w.givenOn(n, r), w.Milli))
}

func (n *names) wantedBy(p *framework.PodInfo) *wanted {
	w := new(wanted)
	if w.Request, w.err = n.request(p.Pod); w.err != nil {
		w.Request = Request{}
	}
	if w.err != nil || len(p.Pod.Annotations) == 0 {
		return w
	}
	if text, ok := p.Pod.Annotations[n.index]; ok {
		w.given, w.err = parseSet(text)
		if w.err == nil && int64(w.given.Len()) != w.Count {
			w.err = fmt.Errorf("%d GPUs, but the pod asks for %d", w.given.Len(), w.Count)
		}
		if w.err != nil {
			w.given, w.err = 0, invalid(p.Pod, "metadata.annotations["+n.index+"]", text, w.err)
		}
		if w.on = p.Pod.Spec.NodeName; w.on == "" {
			w.given = 0 // a pending pod has none, whatever it says
		}
	}
	return w
}

// request reads the annotations, or else the resources, of a pod.
func (n *names) request(p *api.Pod) (r Request, err error) {
	count, counted := p.Annotations[n.count]
	milli, measured := p.Annotations[n.milli]
	if !counted && !measured {
		r.Count, r.Milli, err = n.fromResources(p)
	} else {
		r.Count, r.Milli = 1, MilliPerGPU
		if counted {
			r.Count, err = atMost(p, n.count, count, MaxGPUs)
		}
		if measured && err == nil {
			r.Milli, err = atMost(p, n.milli, milli, MilliPerGPU)
		}
	}
	r.Models = p.Annotations[n.models]
	if err != nil || r.Count == 0 || r.Milli == 0 {
		return Request{}, err
	}
	return r, nil
}

// fromResources reads the extended resources.
func (n *names) fromResources(p *api.Pod) (count, milli int64, err error) {
	if !n.namedBy(p) {
		return 0, 0, nil
	}
	list := api.PodRequests(p, api.RequestOptions{PodLevel: true})
	name := n.gpu
	if _, ok := list[n.gpuCount]; ok {
		name = n.gpuCount
	}
	if count, err = wholeOf(p, list, name, MaxGPUs); err == nil {
		milli, err = wholeOf(p, list, n.gpuMilli, MaxGPUs*MilliPerGPU)
	}
	if other, ok := list[n.gpu]; err == nil && ok && !other.Equal(list[name]) {
		err = invalid(p, requestOf(n.gpu), other.String(), fmt.Errorf("%s is %d", n.gpuCount, count))
	}
	if err != nil || milli == 0 {
		return count, MilliPerGPU, err
	}
	return n.divide(p, count, milli)
}

// divide returns what a pod asks of each GPU. A pod that names no number of GPUs asks for a
// share, or for whole ones.
func (n *names) divide(p *api.Pod, count, milli int64) (gpus, each int64, err error) {
	switch {
	case count == 0 && milli <= MilliPerGPU:
		count = 1
	case count == 0 && milli%MilliPerGPU != 0:
		err = fmt.Errorf("is more than one GPU, and no multiple of %d", MilliPerGPU)
	case count == 0:
		count = milli / MilliPerGPU
	case milli > count*MilliPerGPU:
		err = fmt.Errorf("%d GPUs have only %d", count, count*MilliPerGPU)
	case milli%count != 0:
		err = fmt.Errorf("cannot be divided among %d GPUs", count)
	}
	if err != nil {
		return 0, 0, invalid(p, requestOf(n.gpuMilli), strconv.FormatInt(milli, 10), err)
	}
	return count, milli / count, nil
}

// wholeOf reads a whole number from 0 to limit, the request of a resource.
func wholeOf(p *api.Pod, list resource.List, name resource.Name, limit int64) (int64, error) {
	q := list[name]
	v := q.Value()
	if v < 0 || v > limit || !q.Equal(resource.New(v, resource.DecimalSI)) {
		return 0, invalid(p, requestOf(name), q.String(), fmt.Errorf("want a whole number from 0 to %d", limit))
	}
	return v, nil
}

func requestOf(name resource.Name) string {
	return "spec.containers.resources.requests[" + string(name) + "]"
}

// namedBy reports whether some request of the pod may be for GPUs. It spares most pods the
// sums.
func (n *names) namedBy(p *api.Pod) bool {
	named := func(l resource.List) bool {
		_, whole := l[n.gpu]
		_, counted := l[n.gpuCount]
		_, parts := l[n.gpuMilli]
		return whole || counted || parts
	}
	for _, containers := range [][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			if named(containers[i].Resources.Requests) {
				return true
			}
		}
	}
	return named(p.Spec.Overhead) || p.Spec.Resources != nil && named(p.Spec.Resources.Requests)
}

// atMost reads a whole number from 0 to limit, the value of an annotation.
func atMost(p *api.Pod, annotation, text string, limit int) (int64, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > limit {
		return 0, invalid(p, "metadata.annotations["+annotation+"]", text, fmt.Errorf("want a whole number from 0 to %d", limit))
	}
	return int64(n), nil
}

func invalid(p *api.Pod, field, value string, err error) error {
	return &api.InvalidError{Object: "pod " + p.Key(), Field: field, Value: value, Err: err}
}
