package whatif

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// Bounds of the search for the fewest pods: questions to the filters, and sets that are
// looked at.
const (
	maxRemovalChecks = 300
	maxRemovalSets   = 100_000
)

// A removal finds the fewest pods whose removal makes a node feasible.
//
// It removes all of them first. A pod is needed if it alone, put back, makes the node
// infeasible: every answer has these. Of the others, the most important are put back as
// long as the node stays feasible, which is an answer, but perhaps not the smallest. Then
// all smaller sets are tried, the smallest first, as far as the bounds allow. Sets that
// leave too little of a resource are not asked about.
type removal struct {
	x    *whyNot
	s    *framework.Snapshot
	f    *scheduling.Filtering
	pod  *framework.PodInfo
	pods []running // the least important first
	gone []bool

	mark   framework.Mark // of the snapshot with all pods
	holds  []bool         // the pods that hold claims: to remove one changes these, which has no way back but the mark
	behind bool           // the snapshot does not have what gone says

	size int // of what a question to the filters takes

	best   []int // the answer, as places of pods; nil if there is none
	proved bool  // there is no smaller one, if the removal of more pods never harms
	checks int
	sets   int

	rest  []int       // places of the pods that are not needed
	alike []bool      // whether a pod of rest is as good as the one before it
	short []shortfall // by resource
}

// A shortfall is how much of a resource must become free, and what each pod of rest gives.
type shortfall struct {
	need int64
	give []int64
	most []int64 // the largest of give up to each place
}

// feasible asks the filters with the pods that are not gone.
func (r *removal) feasible() (bool, error) {
	r.checks++
	if err := r.x.spend(r.size); err != nil {
		return false, err
	}
	if err := r.follow(); err != nil {
		return false, err
	}
	if err := r.f.Rebind(); err != nil {
		return false, err
	}
	v, err := r.f.Node(r.s.Node(r.x.node.Name))
	return v.Status.IsSuccess(), err
}

// set removes a pod, or puts it back; from one that holds claims on, with the next question to the filters.
func (r *removal) set(i int, gone bool) error {
	if r.gone[i] == gone {
		return nil
	}
	r.gone[i] = gone
	r.behind = r.behind || r.holds[i]
	q := r.pods[i]
	switch {
	case r.behind:
		return nil
	case gone:
		return r.s.RemovePod(q.pod, q.node)
	}
	return r.s.AddPod(q.pod, q.node)
}

// follow removes the pods that are gone anew if the snapshot is behind.
func (r *removal) follow() error {
	if !r.behind {
		return nil
	}
	r.behind = false
	r.s.Rollback(r.mark)
	r.mark = r.s.Begin()
	for i, q := range r.pods {
		if !r.gone[i] {
			continue
		}
		if err := r.x.spend(stepsOf(q.pod)); err != nil {
			return err
		}
		if err := r.x.planner.release(r.s, q.pod, q.node); err != nil {
			return err
		}
	}
	return nil
}

// only removes these pods and puts back all others.
func (r *removal) only(places []int) error {
	for i := range r.pods {
		if err := r.set(i, slices.Contains(places, i)); err != nil {
			return err
		}
	}
	return nil
}

// find sets best and proved.
func (r *removal) find() error {
	var all []int
	for i := range r.pods {
		all = append(all, i)
	}
	if err := r.only(all); err != nil {
		return err
	}
	if ok, err := r.feasible(); !ok || err != nil {
		return err
	}
	needed, err := r.needed()
	if err != nil {
		return err
	}
	if err := r.only(needed); err != nil {
		return err
	}
	switch ok, err := r.feasible(); {
	case err != nil:
		return err
	case ok:
		r.best, r.proved = needed, true
		return nil
	}
	if err := r.measure(); err != nil {
		return err
	}
	if r.best, err = r.putBack(needed); err != nil {
		return err
	}
	r.checks = 0
	for size := r.fewest(); len(needed)+size < len(r.best); size++ {
		found, err := r.search(needed, nil, size, len(r.rest), false)
		switch {
		case err != nil:
			return err
		case found != nil:
			r.best, r.proved = found, true
			return nil
		case r.spent():
			return nil
		}
	}
	r.proved = true
	return nil
}

// spent reports whether a bound of the search is reached.
func (r *removal) spent() bool { return r.checks >= maxRemovalChecks || r.sets >= maxRemovalSets }

// needed finds the pods that every answer removes; rest are the others.
func (r *removal) needed() (needed []int, err error) {
	for i := range r.pods {
		if err := r.set(i, false); err != nil {
			return nil, err
		}
		ok, err := r.feasible()
		if err != nil {
			return nil, err
		}
		if err := r.set(i, true); err != nil {
			return nil, err
		}
		if ok {
			r.rest = append(r.rest, i)
		} else {
			needed = append(needed, i)
		}
	}
	return needed, nil
}

// measure finds what the pods of rest have in common, and how much they must free of what the node
// is rejected for, while none of them is gone.
func (r *removal) measure() error {
	r.alike = make([]bool, len(r.rest))
	for k := 1; k < len(r.rest); k++ {
		a, b := r.pods[r.rest[k-1]], r.pods[r.rest[k]]
		r.alike[k] = a.node == b.node && a.pod.Priority == b.pod.Priority && a.pod.Pod.Namespace == b.pod.Pod.Namespace && holdAlike(a.pod, b.pod) &&
			reflect.DeepEqual(a.pod.Pod.Labels, b.pod.Pod.Labels) && reflect.DeepEqual(a.pod.Pod.Spec, b.pod.Pod.Spec)
	}
	n := r.s.Node(r.x.node.Name)
	short, err := r.shortOf(n)
	if err != nil {
		return err
	}
	add := func(need int64, give func(*framework.PodInfo) int64) {
		if need <= 0 {
			return
		}
		x := shortfall{need: need}
		largest := int64(0)
		for _, i := range r.rest {
			amount := int64(0)
			if q := r.pods[i]; q.node == n.Name() {
				amount = give(q.pod)
			}
			largest = max(largest, amount)
			x.give, x.most = append(x.give, amount), append(x.most, largest)
		}
		r.short = append(r.short, x)
	}
	for i := range r.s.Schema().Len() {
		if want := r.pod.Requests.At(i); want > 0 && short[r.s.Schema().Name(i)] {
			add(resource.SatSub(want, n.Allocatable.At(i)-n.Requested.At(i)), func(p *framework.PodInfo) int64 { return p.Fresh().UsedRequests.At(i) })
		}
	}
	if short[resource.Pods] {
		add(int64(len(n.Pods))+1-n.AllowedPods, func(*framework.PodInfo) int64 { return 1 })
	}
	return nil
}

// holdAlike reports whether two pods of equal specs hold the same: a pod that is resized holds what its status says,
// and claims and volumes differ.
func holdAlike(a, b *framework.PodInfo) bool {
	return slices.Equal(a.Fresh().UsedRequests, b.Fresh().UsedRequests) && !holdsClaims(a)
}

// shortOf returns the resources for which NodeResourcesFit rejects the node. What it ignores, or leaves to
// other plugins, may be short without harm.
func (r *removal) shortOf(n *framework.NodeInfo) (short map[resource.Name]bool, err error) {
	if !r.x.sched.CountsResources() {
		return nil, nil
	}
	list, err := r.f.Rejections(n)
	return scheduling.Shortages(list), err
}

// putBack puts back the most important pods as long as the node stays feasible.
func (r *removal) putBack(needed []int) ([]int, error) {
	if err := r.only(slices.Concat(needed, r.rest)); err != nil {
		return nil, err
	}
	gone := slices.Clone(needed)
	for _, i := range slices.Backward(r.rest) {
		if err := r.set(i, false); err != nil {
			return nil, err
		}
		ok, err := r.feasible()
		if err != nil {
			return nil, err
		}
		if !ok {
			if err := r.set(i, true); err != nil {
				return nil, err
			}
			gone = append(gone, i)
		}
	}
	return gone, nil
}

// fewest is the least number of pods of rest that free enough of every resource.
func (r *removal) fewest() int {
	least := 1
	for _, x := range r.short {
		give := slices.SortedFunc(slices.Values(x.give), func(a, b int64) int { return cmp.Compare(b, a) })
		sum, k := int64(0), 0
		for ; k < len(give) && sum < x.need; k++ {
			sum += give[k]
		}
		least = max(least, k)
	}
	return least
}

// search finds a set of so many pods among the first of rest to remove beside those that
// are needed and taken; of several, the one whose most important pod is least important. It
// is nil if there is none, or if a bound is reached. If last is set, the last of the first
// is one of them.
func (r *removal) search(needed, taken []int, size, among int, last bool) ([]int, error) {
	if size == 0 {
		set := slices.Clone(needed)
		for _, k := range taken {
			set = append(set, r.rest[k])
		}
		if err := r.only(set); err != nil {
			return nil, err
		}
		if ok, err := r.feasible(); !ok || err != nil {
			return nil, err
		}
		return set, nil
	}
	first := size - 1
	if last {
		first = max(first, among-1)
	}
	for k := first; k < among; k++ {
		if r.sets++; r.spent() {
			return nil, nil
		}
		// Of pods that are alike, the first ones are taken.
		next := append(slices.Clone(taken), k)
		if r.alike[k] && size == 1 || !r.mayDo(next, size-1) {
			continue
		}
		if found, err := r.search(needed, next, size-1, k, r.alike[k]); found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// mayDo reports whether the pods that are taken, with so many more before the last of them,
// may free enough.
func (r *removal) mayDo(taken []int, more int) bool {
	last := taken[len(taken)-1]
	for _, x := range r.short {
		sum := int64(0)
		for _, k := range taken {
			sum += x.give[k]
		}
		if more > 0 {
			sum += int64(more) * x.most[last-1]
		}
		if sum < x.need {
			return false
		}
	}
	return true
}
