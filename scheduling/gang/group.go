package gang

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Group is pods that are to be placed together.
type Group struct {
	// Namespace and Name identify the group. Together with the pods' order they give the
	// random words of its decisions.
	Namespace, Name string
	// Pods wait for a place, in the order in which they are tried. They are of one
	// profile, and none of them counts on a node of the snapshot.
	Pods []*framework.PodInfo
	// Min is how many pods must stand, those of Present included; 0 means all.
	Min int
	// Present are the members that count on a node already. Their domains of
	// Required levels are the group's.
	Present []Member
	// Topology restricts where the pods may be, the coarsest level first; empty means
	// anywhere. Levels are refused if they are out of order: a zone above a region, or a
	// level whose every domain holds several of the level above it, if none of those is in
	// two.
	Topology []Level
	// Priority is the priority of the group, for preemption.
	Priority int32
	// Awaits, unless it is empty, says that victims of an earlier preemption are leaving, whatever
	// their conditions: then the group preempts no others. It has the node that each pod of Pods is
	// nominated to meanwhile, "" for none.
	Awaits []string
}

// A Member is a pod of a group and the name of its node.
type Member struct {
	Pod  *framework.PodInfo
	Node string
}

// A Mode says how strictly a group keeps to domains of a level.
type Mode uint8

// The modes. Along a group's levels, from the coarsest on, Required levels come first,
// then Preferred ones, then Counted ones.
const (
	// Required: all pods are in one domain.
	Required Mode = iota
	// Preferred: all pods are in one domain if that leaves out none that fit elsewhere: a
	// domain that takes fewer pods is passed over for one of a coarser level, or for several.
	Preferred
	// Counted: pods may be in any number of domains. The level only guides which.
	Counted
)

var modeNames = [...]string{"Required", "Preferred", "Counted"}

// String returns the mode's name.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// A Level is a label of nodes. Its domains are the nodes of one value each. A value is
// qualified by those of the coarser levels: rack r1 of block A is not rack r1 of block B.
// Nodes that lack the label of a level, whatever its mode, take no pods of the group; a
// refusal says how many there are.
type Level struct {
	// Key is the label.
	Key string
	// Mode says how strictly pods keep to one domain.
	Mode Mode
	// Slice, if above 0, divides the pods in their order into slices of this size, each
	// within one domain of this level. A slice is placed as a whole or not at all.
	Slice int
}

// Key is "namespace/name".
func (g *Group) Key() string {
	if g.Namespace == "" {
		return g.Name
	}
	return g.Namespace + "/" + g.Name
}

// least is how many pods must stand.
func (g *Group) least() int {
	if g.Min == 0 {
		return len(g.Pods) + len(g.Present)
	}
	return g.Min
}

// need is how many of Pods must be placed.
func (g *Group) need() int { return max(0, g.least()-len(g.Present)) }

// labels lists the labels of the levels.
func (g *Group) labels() []string {
	list := make([]string, len(g.Topology))
	for i, l := range g.Topology {
		list[i] = l.Key
	}
	return list
}

// slice is the size of the slices of the coarsest level that has some, 0 if none has. Pods
// are placed in whole slices of it or not at all, and finer slices divide it.
func (g *Group) slice() int {
	for _, l := range g.Topology {
		if l.Slice > 0 {
			return l.Slice
		}
	}
	return 0
}

// hostSlice is how many pods at once a node takes or none of, 1 without slices. It is not ok if slices are of
// domains of several nodes.
func (g *Group) hostSlice() (size int, ok bool) {
	size = 1
	for _, l := range g.Topology {
		switch {
		case l.Slice == 0:
		case l.Key != api.LabelHostname:
			return 0, false
		default:
			size = l.Slice
		}
	}
	return size, true
}

// sliced reports whether some level has slices.
func (g *Group) sliced() bool { return g.slice() > 0 }

// whole is how many of n pods make up whole slices.
func (g *Group) whole(n int) int { return n - n%max(1, g.slice()) }

func (g *Group) invalid(field, value, text string) error {
	return &api.InvalidError{Object: "group " + g.Key(), Field: field, Value: value, Err: errors.New(text)}
}

// check refuses what no attempt may be made for.
func (g *Group) check(snap *framework.Snapshot, rules *Rules) error {
	if err := g.checkUsable(snap, rules); err != nil {
		return err
	}
	if all := len(g.Pods) + len(g.Present); g.Min > all {
		return g.invalid("min", strconv.Itoa(g.Min), fmt.Sprintf("is more than the %d pods of the group", all))
	}
	return g.checkSchedulers()
}

// checkUsable refuses what not even [Placer.Attempt] can report on. It leaves out what
// kube-scheduler finds in a well-formed group.
func (g *Group) checkUsable(snap *framework.Snapshot, rules *Rules) error {
	switch {
	case snap == nil:
		return &api.InvalidError{Object: "snapshot", Err: errors.New("is nil")}
	case g == nil:
		return &api.InvalidError{Object: "group", Err: errors.New("is nil")}
	case g.Min < 0:
		return g.invalid("min", strconv.Itoa(g.Min), "must not be negative")
	case len(g.Awaits) > 0 && len(g.Awaits) != len(g.Pods):
		return g.invalid("awaits", strconv.Itoa(len(g.Awaits)), fmt.Sprintf("must be one for each of the %d pods", len(g.Pods)))
	}
	if err := g.checkPods(snap); err != nil {
		return err
	}
	return g.checkTopology(rules)
}

// checkPods refuses pods that are nil, foreign, there twice, or not where the group says.
func (g *Group) checkPods(snap *framework.Snapshot) error {
	seen := make(map[podID]string, len(g.Pods)+len(g.Present))
	check := func(field string, pod *framework.PodInfo, err error) error {
		if err != nil {
			return fmt.Errorf("group %s: %s: %w", g.Key(), field, err)
		}
		key := pod.Pod.Key()
		id := idOf(pod.Pod)
		if other, ok := seen[id]; ok {
			return g.invalid(field, key, "is the pod of "+other+", too")
		}
		seen[id] = field
		return nil
	}
	for i, p := range g.Pods {
		field := "pods[" + strconv.Itoa(i) + "]"
		if err := check(field, p, snap.CheckPod(p)); err != nil {
			return err
		}
		// A pod of its name that has been deleted may count until its binding ends.
		if other, n := snap.Pod(p.Pod.Key()); n != nil && api.SamePod(other.Pod, p.Pod) {
			return g.invalid(field, p.Pod.Key(), "counts on node "+n.Name()+" already")
		}
	}
	for i, m := range g.Present {
		field := "present[" + strconv.Itoa(i) + "]"
		_, err := snap.Current(m.Pod) // a pod that counts is right with an earlier schema, too
		if err := check(field+".pod", m.Pod, err); err != nil {
			return err
		}
		if err := g.checkPresent(snap, field+".node", m); err != nil {
			return err
		}
	}
	return nil
}

// podID identifies a pod as [api.SamePod] does: by its UID or, without one, by its key.
type podID struct{ uid, key string }

func idOf(p *api.Pod) podID {
	if p.UID != "" {
		return podID{uid: string(p.UID)}
	}
	return podID{key: p.Key()}
}

// checkPresent refuses a member that does not count on its node.
func (g *Group) checkPresent(snap *framework.Snapshot, field string, m Member) error {
	n, key := snap.Node(m.Node), m.Pod.Pod.Key()
	if n == nil {
		return g.invalid(field, m.Node, "is not in the snapshot")
	}
	_, at := snap.Pod(key)
	switch {
	case at == nil:
		return g.invalid(field, m.Node, "pod "+key+" counts on no node")
	case at.Name() == m.Node:
		return nil
	}
	// A snapshot may have several pods of one name: any of them will do.
	if slices.ContainsFunc(n.Pods, func(p *framework.PodInfo) bool { return p.Pod.Key() == key }) {
		return nil
	}
	return g.invalid(field, m.Node, "pod "+key+" counts on node "+at.Name())
}

// checkSchedulers refuses pods of several schedulers.
func (g *Group) checkSchedulers() error {
	scheduler := ""
	check := func(field string, pod *framework.PodInfo) error {
		name := nameOf(pod.Pod.Spec.SchedulerName)
		if scheduler == "" {
			scheduler = name
		}
		if name != scheduler {
			return g.invalid(field+".spec.schedulerName", name, fmt.Sprintf("must be %q, like that of the other pods", scheduler))
		}
		return nil
	}
	for i, p := range g.Pods {
		if err := check("pods["+strconv.Itoa(i)+"]", p); err != nil {
			return err
		}
	}
	for i, m := range g.Present {
		if err := check("present["+strconv.Itoa(i)+"].pod", m.Pod); err != nil {
			return err
		}
	}
	return nil
}

// checkTopology refuses levels that are out of order, and slices that do not divide.
func (g *Group) checkTopology(rules *Rules) error {
	outer := 0                           // the size of slices of the next coarser level with slices
	keys, known := map[string]bool{}, -1 // the last level with a well-known label
	for i, l := range g.Topology {
		at := func(field string) string { return "topology[" + strconv.Itoa(i) + "]" + field }
		switch {
		case l.Key == "":
			return g.invalid(at(".key"), "", "must not be empty")
		case keys[l.Key]:
			return g.invalid(at(".key"), l.Key, "two levels have this label")
		case l.Key == api.LabelHostname && i < len(g.Topology)-1:
			return g.invalid(at(".key"), l.Key, "no level is finer than a node, so it must be the last")
		case known >= 0 && extent(l.Key) >= 0 && extent(l.Key) < extent(g.Topology[known].Key):
			return g.invalid(at(".key"), l.Key, fmt.Sprintf("must be above topology[%d], %s, which is finer", known, g.Topology[known].Key))
		case l.Mode > Counted:
			return g.invalid(at(".mode"), l.Mode.String(), "is unknown")
		case i > 0 && l.Mode < g.Topology[i-1].Mode:
			return g.invalid(at(".mode"), l.Mode.String(), "must not be under a level that is "+g.Topology[i-1].Mode.String())
		case l.Slice < 0:
			return g.invalid(at(".slice"), strconv.Itoa(l.Slice), "must not be negative")
		case l.Slice > 0 && len(g.Pods)%l.Slice != 0:
			return g.invalid(at(".slice"), strconv.Itoa(l.Slice), fmt.Sprintf("does not divide the %d pods", len(g.Pods)))
		case l.Slice > 0 && g.need()%l.Slice != 0:
			return g.invalid(at(".slice"), strconv.Itoa(l.Slice), fmt.Sprintf("does not divide the minimum of %d pods to place", g.need()))
		case l.Slice > 0 && outer > 0 && outer%l.Slice != 0:
			return g.invalid(at(".slice"), strconv.Itoa(l.Slice), fmt.Sprintf("does not divide the slices of %d pods of the coarser level", outer))
		case rules.Choice == Kubernetes137 && rules.Compare == nil && (i > 0 || l.Mode != Required || l.Slice > 0):
			return g.invalid(at(""), l.Key, "the rules of Kubernetes137 know one level, which is Required and has no slices")
		}
		keys[l.Key] = true
		if extent(l.Key) >= 0 {
			known = i
		}
		if l.Slice > 0 {
			outer = l.Slice
		}
	}
	return nil
}
