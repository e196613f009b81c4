package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/berth-sched/berth/scheduling/workload"
)

// An Autoscaler adds nodes when pods fit nowhere, and removes those of its nodes that
// are idle. Which nodes it adds is the answer of whatif.NodesNeeded, with the profile of the
// pods. If pods of several profiles wait, it adds the nodes for those of one before it looks
// again.
//
// If a node came for a pod, and the pod still waits, the next node for it is not ordered at
// once: the autoscaler waits for the time between two looks, and twice as long after each
// further node. So a run ends although no node helps.
type Autoscaler struct {
	// Types are the nodes that it may add. Max bounds how many of a type there are at a
	// time; 0 means no bound. The autoscaler counts with the pods that the DaemonSets of the
	// run make on a new node. With Config.NoControllers nobody makes them: let them come with
	// the nodes, by whatif.NodeType.WithDaemons.
	Types []whatif.NodeType
	// Every is the time between two looks; 0 means 10 s.
	Every time.Duration
	// Delay is the time from the order of a node until it is there.
	Delay time.Duration
	// IdleAfter is how long a node of its own must run no pods, but those of DaemonSets,
	// until it goes; 0 means 10 minutes, a negative time never.
	IdleAfter time.Duration
}

func (a *Autoscaler) check() error {
	switch {
	case a == nil:
		return nil
	case a.Every < 0:
		return &api.InvalidError{Object: "autoscaler", Field: "every", Value: a.Every.String(), Err: errors.New("must not be negative")}
	case a.Delay < 0:
		return &api.InvalidError{Object: "autoscaler", Field: "delay", Value: a.Delay.String(), Err: errors.New("must not be negative")}
	}
	for i := range a.Types {
		if a.Types[i].Node == nil {
			return &api.InvalidError{Object: fmt.Sprintf("autoscaler.types[%d]", i), Field: "node", Err: errors.New("is nil")}
		}
	}
	return nil
}

// names reports whether a node of the autoscaler may have the name.
func (a *Autoscaler) names(node string) bool {
	i := strings.LastIndexByte(node, '-')
	if a == nil || i < 0 {
		return false
	}
	if n, err := strconv.Atoi(node[i+1:]); err != nil || n < 0 || strconv.Itoa(n) != node[i+1:] {
		return false
	}
	return slices.ContainsFunc(a.Types, func(t whatif.NodeType) bool { return t.Name == node[:i] })
}

// lookEvery is the time between two looks if the configuration does not say.
const lookEvery = 10 * time.Second

// maxOrder bounds the pods that one look of the autoscaler orders nodes for.
const maxOrder = 1000

// scaler is the state of the autoscaler.
type scaler struct {
	nodes   map[string]string // type by name of a node that it added
	ordered int
	serial  map[string]int
	helped  map[*life]help    // pods that wait, and that it has looked at
	full    []whatif.NodeType // the types with the pods of DaemonSets; nil: to be made
}

// A help is what was done for a pod that waits.
type help struct {
	orders int       // how often nodes were ordered for it
	next   time.Time // when more may be ordered
	seen   time.Time // when the last look at it was
	at     state     // then
}

// A state is what a look at a pod depends on, but for the time. While it stands, looking at the
// pod again is in vain, unless plugins read the time: so it is looked at again after lookAgain.
type state struct {
	nodes, objects uint64
	own            int // nodes of the autoscaler
}

// lookAgain is how long a pod that no node helps waits for the next look if nothing changes, as
// long as it waits for its next attempt then.
const lookAgain = 5 * time.Minute

func (s *scaler) state(snap *framework.Snapshot) state {
	return state{snap.Version(), snap.Objects(), len(s.nodes)}
}

// look orders nodes for pods that fit nowhere, and removes idle nodes.
func (s *scaler) look(w *world) {
	a := w.config.Autoscaler
	if s.ordered == 0 && len(w.stuck) > 0 {
		if err := s.order(w); err != nil {
			w.fail(fmt.Errorf("autoscaler: %w", err))
		}
	}
	idleAfter := cmp.Or(a.IdleAfter, 10*time.Minute)
	if idleAfter < 0 || s.ordered > 0 {
		return
	}
	removed := false
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		n := w.nodes[name]
		if n != nil && !n.busy() && w.clock.Now().Sub(n.idle) >= idleAfter {
			if err := w.deleteNode(name); err != nil {
				w.fail(err)
				return
			}
			removed = true
		}
		if w.nodes[name] == nil {
			delete(s.nodes, name)
		}
	}
	if removed {
		w.reconcile()
	}
}

// busy reports whether a pod runs there that does not belong to the node.
func (n *nodeState) busy() bool {
	for l := range n.pods {
		if !workload.BelongsToNode(l.pod) {
			return true
		}
	}
	return false
}

// order asks which nodes the pods need, and lets them come.
func (s *scaler) order(w *world) error {
	s.forget(w)
	here := s.state(w.driver.Snapshot())
	for _, pods := range s.groups(w, here) {
		if err := s.orderFor(w, pods, here); err != nil || s.ordered > 0 {
			return err
		}
	}
	return nil
}

// forget forgets pods that no longer wait.
func (s *scaler) forget(w *world) {
	for l := range s.helped {
		if !w.stuck[l] {
			delete(s.helped, l)
		}
	}
}

// groups lists the pods that fit nowhere, as far as one look goes, by profile. A pod comes first if
// it was looked at longest ago, and of several the one that arrived first.
func (s *scaler) groups(w *world, here state) (groups [][]*life) {
	now := w.clock.Now()
	due := map[*life]bool{}
	for l := range w.stuck {
		if h := s.helped[l]; !now.Before(h.next) && (h.at != here || now.Sub(h.seen) >= lookAgain) {
			due[l] = true
		}
	}
	list := byArrival(due)
	slices.SortStableFunc(list, func(a, b *life) int { return s.helped[a].seen.Compare(s.helped[b].seen) })
	at := map[string]int{}
	for _, l := range list[:min(len(list), maxOrder)] {
		i, ok := at[l.pod.Spec.SchedulerName]
		if !ok {
			i = len(groups)
			at[l.pod.Spec.SchedulerName] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], l)
	}
	return groups
}

// orderFor orders nodes for pods of one profile.
func (s *scaler) orderFor(w *world, lives []*life, here state) error {
	types := s.types(w.config.Autoscaler.Types)
	if len(types) == 0 {
		return nil
	}
	full, err := s.withDaemons(w)
	if err != nil {
		return err
	}
	snapshot := w.driver.Snapshot()
	var pods []*framework.PodInfo
	for _, l := range lives {
		info, err := snapshot.NewPodInfo(l.pod)
		if err != nil {
			return err
		}
		pods = append(pods, info)
	}
	planner, err := whatif.New(w.profile(lives[0].pod), snapshot)
	if err != nil {
		return err
	}
	needed, err := planner.NodesNeeded(pods, s.types(full)...)
	if err != nil {
		return err
	}
	for _, l := range lives {
		h := s.helped[l]
		h.seen, h.at = w.clock.Now(), here
		s.helped[l] = h
	}
	for i, c := range needed.Counts {
		for range c.Nodes {
			if err := s.comes(w, &types[i]); err != nil {
				return err
			}
		}
	}
	if s.ordered > 0 {
		s.helps(w, needed.Placement.Placed)
	}
	return nil
}

// withDaemons returns the types as the controllers fill their nodes: with the pods of DaemonSets.
func (s *scaler) withDaemons(w *world) ([]whatif.NodeType, error) {
	if s.full != nil {
		return s.full, nil
	}
	var daemons []workload.Workload
	for c := range w.daemons {
		daemons = append(daemons, c.Workload)
	}
	slices.SortFunc(daemons, func(a, b workload.Workload) int { return cmp.Compare(a.Key(), b.Key()) })
	var full []whatif.NodeType
	for _, t := range w.config.Autoscaler.Types {
		t, err := t.WithDaemons(daemons, w.classes)
		if err != nil {
			return nil, err
		}
		full = append(full, t)
	}
	s.full = full
	return full, nil
}

// types are those of the list that there may be more nodes of.
func (s *scaler) types(list []whatif.NodeType) (types []whatif.NodeType) {
	for _, t := range list {
		if t.Max > 0 {
			for _, of := range s.nodes {
				if of == t.Name {
					t.Max--
				}
			}
			if t.Max <= 0 {
				continue
			}
		}
		types = append(types, t)
	}
	return types
}

// helps notes which pods the nodes are for that were ordered just now.
func (s *scaler) helps(w *world, placed []whatif.Placed) {
	a := w.config.Autoscaler
	for _, p := range placed {
		if l := w.pods[p.Pod]; l != nil && w.nodes[p.Node] == nil {
			orders := s.helped[l].orders
			wait := resource.SatMul(int64(cmp.Or(a.Every, lookEvery)), 1<<min(orders, 62)-1)
			h := s.helped[l]
			h.orders, h.next = orders+1, w.clock.Now().Add(a.Delay).Add(time.Duration(wait))
			s.helped[l] = h
		}
	}
}

// profile is the profile that schedules the pod.
func (w *world) profile(p *api.Pod) scheduling.Profile {
	list := w.config.Profiles
	return list[max(0, slices.IndexFunc(list, func(x scheduling.Profile) bool { return x.Name == p.Spec.SchedulerName }))]
}

// comes lets a node of the type come after the delay.
func (s *scaler) comes(w *world, t *whatif.NodeType) error {
	name := ""
	for name == "" || w.nodes[name] != nil {
		name = fmt.Sprintf("%s-%d", t.Name, s.serial[t.Name])
		s.serial[t.Name]++
	}
	o, err := t.Objects(name)
	if err != nil {
		return err
	}
	s.ordered++
	s.nodes[name] = t.Name
	w.expect(w.clock.Now().Add(w.config.Autoscaler.Delay))
	w.clock.AfterFunc(w.config.Autoscaler.Delay, func() {
		for _, p := range o.Pods {
			p.Name = w.freeName(p.Namespace, p.Name, new(int))
		}
		s.ordered--
		w.result.NodesAdded++
		w.last = w.clock.Now()
		if err := w.apply(o); err != nil {
			w.fail(err)
			return
		}
		for _, slice := range o.ResourceSlices {
			w.nodes[name].devices = append(w.nodes[name].devices, slice.Name)
		}
		w.reconcile()
	})
	return nil
}
