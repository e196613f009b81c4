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
	"github.com/berth-sched/berth/scheduling/whatif"
)

// An Autoscaler adds nodes when pods fit nowhere, and removes those of its nodes that
// are idle. Which nodes it adds is the answer of whatif.NodesNeeded.
type Autoscaler struct {
	// Types are the nodes that it may add. Max bounds how many of a type there are at a
	// time; 0 means no bound.
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

// maxOrder bounds the pods that one look of the autoscaler orders nodes for.
const maxOrder = 1000

// scaler is the state of the autoscaler.
type scaler struct {
	nodes   map[string]string // type by name of a node that it added
	ordered int
	serial  map[string]int
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

// busy reports whether a pod runs there that is not a DaemonSet's.
func (n *nodeState) busy() bool {
	for l := range n.pods {
		if l.owner == nil || l.owner.Field != "" {
			return true
		}
	}
	return false
}

// order asks which nodes the pods need, and lets them come.
func (s *scaler) order(w *world) error {
	snapshot := w.driver.Snapshot()
	var pods []*framework.PodInfo
	for _, l := range byArrival(w.stuck) {
		if len(pods) == maxOrder {
			break
		}
		info, err := snapshot.NewPodInfo(l.pod)
		if err != nil {
			return err
		}
		pods = append(pods, info)
	}
	planner, err := whatif.New(w.config.Profiles[0], snapshot)
	if err != nil {
		return err
	}
	var types []whatif.NodeType
	for _, t := range w.config.Autoscaler.Types {
		if t.Max > 0 {
			for _, of := range s.nodes {
				if of == t.Name {
					t.Max--
				}
			}
			if t.Max == 0 {
				continue
			}
		}
		types = append(types, t)
	}
	if len(types) == 0 {
		return nil
	}
	needed, err := planner.NodesNeeded(pods, types...)
	if err != nil {
		return err
	}
	for i, c := range needed.Counts {
		for range c.Nodes {
			s.comes(w, &types[i])
		}
	}
	return nil
}

// comes lets a node of the type come after the delay.
func (s *scaler) comes(w *world, t *whatif.NodeType) {
	name := ""
	for name == "" || w.nodes[name] != nil {
		name = fmt.Sprintf("%s-%d", t.Name, s.serial[t.Name])
		s.serial[t.Name]++
	}
	n := api.Clone(t.Node)
	n.Name, n.UID = name, ""
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[api.LabelHostname] = name
	s.ordered++
	s.nodes[name] = t.Name
	w.expect(w.clock.Now().Add(w.config.Autoscaler.Delay))
	w.clock.AfterFunc(w.config.Autoscaler.Delay, func() {
		s.ordered--
		w.result.NodesAdded++
		w.last = w.clock.Now()
		if err := w.apply(&api.Objects{Nodes: []*api.Node{n}}); err != nil {
			w.fail(err)
			return
		}
		for _, pod := range t.Pods {
			own := api.Clone(pod)
			own.Name, own.Spec.NodeName = pod.Name+"-"+name, name
			if err := w.apply(&api.Objects{Pods: []*api.Pod{own}}); err != nil {
				w.fail(err)
				return
			}
		}
		w.reconcile()
	})
}
