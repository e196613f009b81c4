package simulate

import (
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// series follows what pods request.
type series struct {
	used    map[resource.Name]int64
	most    map[resource.Name]float64
	at      map[resource.Name]time.Time
	busiest float64 // the greatest share of any resource
	pods    int
	cpu     int64 // sum of the requests of CPU and memory of all pods that ever ran
	memory  int64
	ran     int64
	samples samples

	nodesSince time.Time // when nodes last changed, zero once that has been looked at
}

// look looks at the shares after nodes have changed, once that state has lasted.
func (s *series) look(w *world) {
	if at := s.nodesSince; !at.IsZero() && w.clock.Now().After(at) {
		s.nodesSince = time.Time{}
		for name := range s.used {
			s.compare(name, at, w)
		}
	}
}

// compare notes the share of a resource that is in use since a time, if it is the greatest so far.
func (s *series) compare(name resource.Name, since time.Time, w *world) {
	total := w.total()[name]
	if total == 0 {
		return
	}
	now := float64(s.used[name]) / float64(total)
	if now > s.most[name] {
		s.most[name], s.at[name] = now, since
	}
	if now > s.busiest {
		s.busiest, w.busiest = now, nil // look again when the pod is there
	}
}

// add counts a pod that begins to run (times 1) or ends (times -1).
func (s *series) add(p *api.Pod, times int64, w *world) {
	if s.used == nil {
		s.used, s.most, s.at = map[resource.Name]int64{}, map[resource.Name]float64{}, map[resource.Name]time.Time{}
	}
	s.look(w)
	requests := api.PodRequests(p, api.RequestOptions{PodLevel: true})
	s.pods += int(times)
	if times > 0 {
		s.cpu = resource.SatAdd(s.cpu, amount(resource.CPU, requests[resource.CPU]))
		s.memory = resource.SatAdd(s.memory, amount(resource.Memory, requests[resource.Memory]))
		s.ran++
	}
	for name, q := range requests {
		s.used[name] = resource.SatAdd(s.used[name], times*amount(name, q))
		if times > 0 {
			s.compare(name, w.clock.Now(), w)
		}
	}
}

func amount(name resource.Name, q resource.Quantity) int64 {
	if name == resource.CPU {
		return q.MilliValue()
	}
	return q.Value()
}

// peaks lists cpu, memory, and the other resources that pods requested.
func (s *series) peaks(w *world) []Peak {
	s.look(w)
	list := []Peak{}
	schema := w.driver.Snapshot().Schema()
	for i := range schema.Len() {
		name := schema.Name(i)
		most, some := s.most[name]
		if !some && i != resource.IndexCPU && i != resource.IndexMemory || w.total()[name] == 0 {
			continue
		}
		p := Peak{Resource: name, Utilization: most}
		if most > 0 {
			p.At = seconds(s.at[name].Sub(w.begin))
		}
		list = append(list, p)
	}
	return list
}

// total is what all nodes have.
func (w *world) total() map[resource.Name]int64 {
	if w.allocatable == nil {
		w.allocatable = map[resource.Name]int64{}
		for _, n := range w.nodes {
			for name, q := range n.node.Status.Allocatable {
				w.allocatable[name] = resource.SatAdd(w.allocatable[name], amount(name, q))
			}
		}
	}
	return w.allocatable
}

// sample records the cluster as it is.
func (w *world) sample() {
	x := Sample{At: seconds(w.now()), Waiting: w.waiting, Running: w.series.pods, Queue: w.driver.QueueLength()}
	meanCPU, meanMemory := w.series.cpu/max(1, w.series.ran), w.series.memory/max(1, w.series.ran)
	var cpu, memory, usedCPU, usedMemory, fragmented float64
	for _, n := range w.driver.Snapshot().All() {
		x.Nodes++
		hasCPU, hasMemory := n.Allocatable.At(resource.IndexCPU), n.Allocatable.At(resource.IndexMemory)
		freeCPU, freeMemory := hasCPU-n.Requested.At(resource.IndexCPU), hasMemory-n.Requested.At(resource.IndexMemory)
		cpu, memory = cpu+float64(hasCPU), memory+float64(hasMemory)
		usedCPU, usedMemory = usedCPU+float64(hasCPU-freeCPU), usedMemory+float64(hasMemory-freeMemory)
		if freeCPU < meanCPU || freeMemory < meanMemory {
			fragmented += float64(max(0, freeCPU))
		}
	}
	x.CPU, x.Memory, x.Fragmented = share(usedCPU, cpu), share(usedMemory, memory), share(fragmented, cpu)
	w.series.samples.add(x, samplesMost)
}
