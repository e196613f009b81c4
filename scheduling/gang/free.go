package gang

import (
	"fmt"
	"math"
	"slices"

	"github.com/berth-sched/berth/resource"
)

// free is what the nodes of a domain have left together: places for pods, and CPU, memory
// and storage.
type free struct {
	places  int64
	amounts resource.Vector
}

// freeIn sums up what a domain has left.
func (a *attempt) freeIn(d *domain) (f free) {
	for _, slot := range d.slots {
		n := a.snap.AtSlot(slot)
		f.places = resource.SatAdd(f.places, max(0, n.AllowedPods-int64(len(n.Pods))))
		for i := range resource.IndexEphemeralStorage + 1 {
			if x := n.Allocatable.At(i) - n.Requested.At(i); x > 0 {
				f.amounts = f.amounts.With(i, resource.SatAdd(f.amounts.At(i), x))
			}
		}
	}
	return f
}

// bound proves that the group cannot stand in the domain, if it can: the minimum asks for
// more CPU, memory, storage or places than are free.
func (a *attempt) bound(d *domain) string {
	if !a.sched.CountsResources() {
		return ""
	}
	need, f := a.g.need(), a.freeIn(d)
	if f.places < int64(need) {
		return fmt.Sprintf("has places for %d of %d pods", f.places, need)
	}
	asked := make([]int64, len(a.g.Pods))
	for i := range resource.IndexEphemeralStorage + 1 {
		for k, p := range a.g.Pods {
			asked[k] = p.Requests.At(i)
		}
		slices.Sort(asked)
		var sum int64
		for _, x := range asked[:need] {
			sum = resource.SatAdd(sum, x)
		}
		if sum > f.amounts.At(i) {
			return fmt.Sprintf("has %d of %d %s", f.amounts.At(i), sum, a.snap.Schema().Name(i))
		}
	}
	return ""
}

// gangsIn bounds how many gangs of all pods of the group the domain takes.
func (a *attempt) gangsIn(d *domain) int {
	f := a.freeIn(d)
	gangs := f.places / int64(len(a.g.Pods))
	for i := range resource.IndexEphemeralStorage + 1 {
		var asked int64
		for _, p := range a.g.Pods {
			asked = resource.SatAdd(asked, p.Requests.At(i))
		}
		if asked > 0 {
			gangs = min(gangs, f.amounts.At(i)/asked)
		}
	}
	return int(min(gangs, math.MaxInt32))
}

// meanOf is what a pod asks for on average, rounded up.
func meanOf(g *Group) (mean resource.Vector) {
	for _, p := range g.Pods {
		mean = mean.Add(p.Requests)
	}
	n := max(1, int64(len(g.Pods)))
	for i := range mean {
		mean[i] = (mean[i] + n - 1) / n
	}
	return mean
}

// estimate guesses how many pods of the mean size of the group a domain takes. It only
// decides what is tried first.
func (a *attempt) estimate(d *domain) (sum int) {
	for _, slot := range d.slots {
		n := a.snap.AtSlot(slot)
		fits := max(0, n.AllowedPods-int64(len(n.Pods)))
		for i, x := range a.mean {
			if x > 0 {
				fits = min(fits, max(0, n.Allocatable.At(i)-n.Requested.At(i))/x)
			}
		}
		sum += int(min(fits, countMost))
	}
	return sum
}
