package gang

import (
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// search looks for places by depth first search over (pod, node), in the order of the
// pods, until it finds some, has seen everything, or has taken all its steps. Only one
// order is tried, so it proves nothing about pods for which the order matters. The pods
// stand afterwards if the trial succeeded.
func (a *attempt) search(c *candidate) error {
	s := searcher{attempt: a, t: c.trial, d: c.d, skips: len(a.g.Pods) - a.g.need(), step: max(1, a.g.slice())}
	s.homes = make([][]home, len(a.g.Topology))
	for l := c.d.depth(); l < len(a.g.Topology); l++ { // at coarser levels all pods have one home
		if size := a.g.Topology[l].Slice; size > 0 {
			s.homes[l] = make([]home, len(a.g.Pods)/size)
		}
	}
	s.t.Left = nil
	found, err := s.from(0, 0)
	if err != nil {
		return err
	}
	s.t.Pods = max(s.t.Pods, len(s.t.Placed))
	if found {
		s.t.Succeeded, s.t.Pods = true, len(s.t.Placed)
		return nil
	}
	s.t.searched = !a.gaveUp && !s.refused && !a.orderMatters()
	return nil
}

// cut takes back what was placed where counts said, but for the first pods. None of them was nominated.
func (a *attempt) cut(t *Trial, first int) error {
	for i := len(t.Placed) - 1; i >= first; i-- {
		p := t.Placed[i]
		if err := a.sched.Release(a.snap, a.g.Pods[p.index], p.Node); err != nil {
			return err
		}
		t.Placed = t.Placed[:i]
	}
	return nil
}

type searcher struct {
	*attempt
	t       *Trial
	d       *domain
	skips   int      // how many pods may be left out
	step    int      // how many are left out together: a slice of the coarsest level with slices
	homes   [][]home // by level and slice
	refused bool     // a Reserve plugin has refused a pod, and need not say so in every order
}

// home is the domain of a slice, while some of its pods stand.
type home struct {
	d    *domain
	pods int
}

// from places the pods from number i on; the first may not go to a node before the place
// least in the domain.
func (s *searcher) from(i, least int) (bool, error) {
	if i == len(s.g.Pods) || s.rules.Exact && len(s.t.Placed) >= s.g.need() {
		return true, nil
	}
	pod := s.g.Pods[i]
	f, err := s.sched.Filtering(s.snap, pod)
	if err != nil {
		return false, err
	}
	for k := least; k < len(s.d.slots); k++ {
		if s.steps >= s.rules.Search {
			s.gaveUp = true
			return false, nil
		}
		s.steps++
		found, err := s.on(f, i, k)
		if found || err != nil || s.gaveUp {
			return found, err
		}
	}
	if i%s.step == 0 && s.skips >= s.step {
		s.skips -= s.step
		found, err := s.from(i+s.step, 0)
		if found || err != nil {
			return found, err
		}
		s.skips += s.step
	}
	return false, nil
}

// on places pod i on the node at place k of the domain, and the pods after it.
func (s *searcher) on(f *scheduling.Filtering, i, k int) (bool, error) {
	n := s.snap.AtSlot(s.d.slots[k])
	if !s.enter(i, n) {
		return false, nil
	}
	v, err := f.Node(n)
	if err != nil || !v.Status.IsSuccess() {
		s.leave(i)
		return false, err
	}
	mark := s.snap.Begin()
	if err := f.Place(s.g.Pods[i], n); err != nil {
		s.snap.Rollback(mark)
		s.leave(i)
		var fit *scheduling.FitError
		if !errors.As(err, &fit) {
			return false, fmt.Errorf("failed to schedule other pod from a pod group: %w", err)
		}
		s.refused = true
		return false, nil
	}
	s.snap.ClearNominations(s.g.Pods[i])
	s.t.Placed = append(s.t.Placed, Placement{s.g.Pods[i].Pod.Key(), n.Name(), 0, i})
	least := 0
	if i+1 < len(s.g.Pods) && s.sameSlice(i) && s.alike(i, i+1) {
		least = k
	}
	found, err := s.from(i+1, least)
	if found && err == nil {
		s.snap.Commit(mark)
		return true, nil
	}
	s.snap.Rollback(mark)
	s.t.Pods = max(s.t.Pods, len(s.t.Placed))
	s.t.Placed = s.t.Placed[:len(s.t.Placed)-1]
	s.leave(i)
	return false, err
}

// enter reports whether the slices of pod i may be on the node, and notes the pod there.
func (s *searcher) enter(i int, n *framework.NodeInfo) bool {
	for l := range s.homes {
		if s.homes[l] == nil {
			continue
		}
		h := &s.homes[l][i/s.g.Topology[l].Slice]
		d := s.root.of(n, s.keys, l+1)
		if d == nil || h.pods > 0 && h.d != d {
			s.leaveUntil(i, l)
			return false
		}
		h.d = d
		h.pods++
	}
	return true
}

func (s *searcher) leave(i int) { s.leaveUntil(i, len(s.homes)) }

func (s *searcher) leaveUntil(i, level int) {
	for l := range s.homes[:level] {
		if s.homes[l] != nil {
			s.homes[l][i/s.g.Topology[l].Slice].pods--
		}
	}
}

// sameSlice reports whether pod i and the next one are in the same slices.
func (s *searcher) sameSlice(i int) bool {
	for l := range s.homes {
		if size := s.g.Topology[l].Slice; s.homes[l] != nil && i/size != (i+1)/size {
			return false
		}
	}
	return true
}
