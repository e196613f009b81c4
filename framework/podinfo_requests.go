package framework

import (
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// sumRequests does what deriveRequests does for a pod that is alike, without lists: it
// adds up vectors. It reports whether it could: all amounts must be whole in the units
// of the schema, which must know all names, and none may be negative. Pods of a cluster are like that, but for the
// first one with a name that is new. A property test compares the two.
func (i *PodInfo) sumRequests() bool {
	var memory requestSums
	sum, ok := memory.of(i.Pod, i.schema, false)
	if !ok {
		return false
	}
	if len(sum) > fewResources {
		i.UsedRequests = slices.Clone(sum)
	} else {
		i.UsedRequests = i.amounts[:copy(i.amounts[:], sum)]
	}
	i.Requests, i.ScoredRequests = i.UsedRequests, i.UsedRequests
	if !i.Pod.RequestsCPUAndMemory() {
		sum, ok = memory.of(i.Pod, i.schema, true)
		if !ok {
			return false
		}
		i.ScoredRequests = slices.Clone(sum)
	}
	i.UsedNonZero = [2]int64{i.ScoredRequests.At(resource.IndexCPU), i.ScoredRequests.At(resource.IndexMemory)}
	return true
}

// requestSums is memory for the sums of most pods, so that they need no other.
type requestSums struct{ sum, sidecars, peak, one [8]int64 }

// of returns what [api.PodRequests] returns for a pod that is alike, as a vector. With
// nonZero, containers without a request of cpu or memory count as its NonZero says.
func (m *requestSums) of(p *api.Pod, schema *resource.Schema, nonZero bool) (resource.Vector, bool) {
	*m = requestSums{}
	const n = fewResources
	sum, ok := resource.Vector(m.sum[:n]), true
	for i := range p.Spec.Containers {
		if sum, ok = addContainer(sum, &p.Spec.Containers[i], schema, nonZero); !ok {
			return nil, false
		}
	}
	if len(p.Spec.InitContainers) > 0 {
		if sum, ok = m.initialize(sum, p, schema, nonZero); !ok {
			return nil, false
		}
	}
	return schema.Exact(sum, p.Spec.Overhead)
}

// initialize returns the larger of the sum, which sidecars add to, and the peak while
// the init containers run one after another.
func (m *requestSums) initialize(sum resource.Vector, p *api.Pod, schema *resource.Schema, nonZero bool) (resource.Vector, bool) {
	const n = fewResources
	sidecars, peak := resource.Vector(m.sidecars[:n]), resource.Vector(m.peak[:n])
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		m.one = [len(m.one)]int64{}
		one, ok := addContainer(m.one[:n], c, schema, nonZero)
		if !ok {
			return nil, false
		}
		if c.IsSidecar() {
			sum, sidecars = sum.Add(one), sidecars.Add(one)
			peak = raise(peak, sidecars)
		} else {
			peak = raise(peak, one.Add(sidecars))
		}
	}
	return raise(sum, peak), true
}

// addContainer adds the requests of a container to v.
func addContainer(v resource.Vector, c *api.Container, schema *resource.Schema, nonZero bool) (resource.Vector, bool) {
	r := c.Resources.Requests
	v, ok := schema.Exact(v, r)
	if !ok || !nonZero {
		return v, ok
	}
	if _, ok := r[resource.CPU]; !ok {
		v[resource.IndexCPU] = resource.SatAdd(v[resource.IndexCPU], api.DefaultCPURequest)
	}
	if _, ok := r[resource.Memory]; !ok {
		v[resource.IndexMemory] = resource.SatAdd(v[resource.IndexMemory], api.DefaultMemoryRequest)
	}
	return v, true
}

// raise makes every element of v at least that of w.
func raise(v, w resource.Vector) resource.Vector {
	for i, x := range w {
		if x > v.At(i) || i >= len(v) {
			v = v.With(i, x)
		}
	}
	return v
}
