package gang

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"sort"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/nodename"
	"github.com/berth-sched/berth/internal/volumes"
	"github.com/berth-sched/berth/resource"
)

// A Count is how many gangs of a shape fit. Its JSON form is stable.
type Count struct {
	// Fits is how many gangs fit, placed one after the other by the rules.
	Fits int `json:"fits"`
	// AtMost is a number that no rule can exceed. Exact is set if it is Fits.
	AtMost int  `json:"atMost"`
	Exact  bool `json:"exact"`
	// Anywhere is how many would fit if the levels of the shape did not matter; the
	// difference to Fits is what is lost to fragments. It is found like Fits.
	Anywhere int `json:"anywhere"`
	// Stopped is set if counting ended at the limit, or because it would not have ended
	// soon: a node takes 65,536 of the pods or more, or so many pods were placed one after
	// the other without a limit. In the latter cases more gangs may fit.
	Stopped bool `json:"stopped,omitempty"`
}

// Capacity counts how many more gangs of the shape fit, at most limit of them; with 0 it
// counts on until nothing fits, or as [Count.Stopped] says. A gang is the first pods of the
// shape, as many as its minimum. The snapshot stays as it is.
//
// If the pods are of one class whose filters read one node only, and some pods of it
// have a place, the answer is computed from counts of each node, which are kept: after one
// node has changed it costs microseconds. Otherwise gangs are placed one after the other.
//
// A malformed shape, or one with members that are present, is an [*api.InvalidError].
func (p *Placer) Capacity(snap *framework.Snapshot, shape *Group, limit int) (Count, error) {
	if err := p.checkShape(snap, shape, limit); err != nil {
		return Count{}, err
	}
	c, _, err := p.capacity(snap, shape, limit)
	if err != nil || len(shape.Topology) == 0 {
		c.Anywhere = c.Fits
		return c, err
	}
	anywhere := *shape
	anywhere.Topology = nil
	a, _, err := p.capacity(snap, &anywhere, limit)
	c.Anywhere = a.Fits
	return c, err
}

func (p *Placer) checkShape(snap *framework.Snapshot, shape *Group, limit int) error {
	if err := p.check(snap, shape); err != nil {
		return err
	}
	switch {
	case len(shape.Pods) == 0:
		return shape.invalid("pods", "", "a shape needs pods")
	case len(shape.Present) > 0:
		return shape.invalid("present", strconv.Itoa(len(shape.Present)), "a shape has no members that are present")
	case limit < 0:
		return shape.invalid("limit", strconv.Itoa(limit), "must not be negative")
	}
	return nil
}

// capacity is Capacity without Anywhere; counted reports whether counts of each node gave the answer.
func (p *Placer) capacity(snap *framework.Snapshot, shape *Group, limit int) (c Count, counted bool, err error) {
	gang := *shape
	gang.Pods = shape.Pods[:shape.need()]
	if p.rules.ignoresLevels() {
		gang.Topology = nil
	}
	a := attempt{Placer: p, snap: snap, g: &gang, keys: gang.labels()}
	a.root = p.forest.of(snap, a.keys)
	if err := a.count(math.MaxInt); err != nil {
		return Count{}, false, err
	}
	if a.room != nil {
		return a.formula(limit), true, nil
	}
	c, err = a.repeat(limit)
	return c, false, err
}

// formula counts the gangs of pods of one class: in each domain that they may be in, as
// many as its pods make up.
func (a *attempt) formula(limit int) Count {
	a.measure()
	bases, _ := a.bases() // no members are present, so it cannot be stuck
	need, c := len(a.g.Pods), Count{Exact: true}
	capped := false
	for _, d := range bases {
		c.Fits += a.takes[d.id] / need
		capped = capped || a.room.capped(d.slots)
	}
	switch {
	case limit > 0 && c.Fits > limit:
		c.Fits, c.Stopped = limit, true
	case capped && c.Fits != limit:
		c.Exact, c.Stopped, c.AtMost = false, true, max(c.Fits, a.atMost())
		return c
	}
	c.AtMost = c.Fits
	return c
}

// repeat places gangs until one does not fit, and takes all back. Without a limit it ends
// when it has placed countMost pods, as nothing may ever refuse one.
func (a *attempt) repeat(limit int) (c Count, err error) {
	if limit == 0 {
		limit = max(1, countMost/len(a.g.Pods))
	}
	c.AtMost = a.atMost()
	mark := a.snap.Begin()
	defer a.snap.Rollback(mark)
	claims := 0
	for ; c.Fits < limit; c.Fits++ {
		gang := *a.g
		gang.Name = a.g.Name + "~" + strconv.Itoa(c.Fits)
		gang.Pods = make([]*framework.PodInfo, len(a.g.Pods))
		for i, pod := range a.g.Pods {
			if gang.Pods[i], err = pod.Pending().Named(pod.Pod.Name + "~" + strconv.Itoa(c.Fits)); err != nil {
				return c, err
			}
			made, err := volumes.MakeClaims(a.snap, gang.Pods[i].Pod)
			if err != nil {
				return c, err
			}
			if claims += made; claims > volumes.MadeMost {
				return c, a.g.invalid("pods", pod.Pod.Key(), fmt.Sprintf("have so many ephemeral volumes that more than %d claims would be made for them; set a lower limit", volumes.MadeMost))
			}
		}
		out, err := a.place(a.snap, &gang, true)
		if err != nil {
			return c, err
		}
		if out.Status != Placed {
			c.Exact = c.Fits == c.AtMost
			return c, nil
		}
		if err := a.bindClaims(&gang, out.Placed); err != nil {
			return c, err
		}
	}
	c.Stopped = true
	c.AtMost = max(c.AtMost, c.Fits)
	c.Exact = c.Fits == c.AtMost
	return c, nil
}

// bindClaims writes what the bindings of a gang that stands change in claims, before the next gang is tried.
func (a *attempt) bindClaims(gang *Group, placed []Placement) error {
	for _, at := range placed {
		pod := gang.Pods[at.index]
		if err := devices.Settle(a.snap, pod); err != nil {
			return err
		}
		if err := volumes.MakeVolumes(a.snap, pod.Pod, a.snap.Node(at.Node).Node); err != nil {
			return err
		}
	}
	return nil
}

// atMost bounds the number of gangs by the resources of each domain that they may be in.
func (a *attempt) atMost() int {
	if !a.sched.CountsResources() {
		return math.MaxInt32
	}
	bases, _ := a.bases()
	sum := 0
	for _, d := range bases {
		sum += a.gangsIn(d)
	}
	return min(sum, math.MaxInt32)
}

// CapacityWith is Capacity with more nodes: n copies of a node, whose labels say which
// domains they join. They are called "name-0", "name-1" and so on, without names that nodes of the snapshot
// have, or objects that are left of nodes. The snapshot stays as it is. A nil node and a negative number
// are an [*api.InvalidError].
func (p *Placer) CapacityWith(snap *framework.Snapshot, shape *Group, limit int, node *api.Node, n int) (Count, error) {
	if err := p.checkShape(snap, shape, limit); err != nil {
		return Count{}, err
	}
	fork, err := withNodes(snap, node, n)
	if err != nil {
		return Count{}, err
	}
	return p.Capacity(fork, shape, limit)
}

func withNodes(snap *framework.Snapshot, node *api.Node, n int) (*framework.Snapshot, error) {
	if node == nil {
		return nil, &api.InvalidError{Object: "node", Err: errors.New("is nil")}
	}
	if n < 0 {
		return nil, &api.InvalidError{Object: "node " + node.Name, Field: "copies", Value: strconv.Itoa(n), Err: errors.New("must not be negative")}
	}
	fork := snap.Fork()
	for _, name := range nodename.LeftIn(snap).Fresh(snap, node.Name, n) {
		own := *node
		own.Name, own.UID = name, ""
		own.Labels = maps.Clone(node.Labels)
		if own.Labels == nil {
			own.Labels = map[string]string{}
		}
		own.Labels[api.LabelHostname] = own.Name
		if err := fork.AddNode(&own); err != nil {
			return nil, err
		}
	}
	return fork, nil
}

// NodesFor returns the smallest number of copies of a node with which so many gangs of
// the shape fit, at most a number. It is 0, and ok false, if even that number is not enough. If
// counts give the answers, the number is doubled until it is enough, and then found by
// halves; more copies than the gangs have pods are not tried. Otherwise the search is one
// by one.
func (p *Placer) NodesFor(snap *framework.Snapshot, shape *Group, gangs int, node *api.Node, most int) (n int, ok bool, err error) {
	if err := p.checkShape(snap, shape, 0); err != nil {
		return 0, false, err
	}
	switch {
	case gangs < 0:
		return 0, false, shape.invalid("gangs", strconv.Itoa(gangs), "must not be negative")
	case most < 0:
		return 0, false, shape.invalid("most", strconv.Itoa(most), "must not be negative")
	case node == nil:
		return 0, false, &api.InvalidError{Object: "node", Err: errors.New("is nil")}
	case gangs == 0:
		return 0, true, nil
	}
	enough := func(n int) (yes, counted bool) {
		if err != nil {
			return false, true
		}
		var fork *framework.Snapshot
		var c Count
		if fork, err = withNodes(snap, node, n); err == nil {
			c, counted, err = p.capacity(fork, shape, gangs)
		}
		return c.Fits >= gangs, counted
	}
	if yes, counted := enough(0); yes || err != nil {
		return 0, yes, err
	} else if counted {
		n, ok = leastOf(min(most, satMul(gangs, len(shape.Pods))), func(n int) bool { yes, _ := enough(n); return yes })
		return n, ok && err == nil, err
	}
	for n = 1; n <= most; n++ {
		if yes, _ := enough(n); yes || err != nil {
			return n, yes, err
		}
	}
	return 0, false, nil
}

// leastOf returns the least number from 1 to most that is enough, if all above it are.
// ok is false if none is. It asks for no more than twice the answer.
func leastOf(most int, enough func(n int) bool) (n int, ok bool) {
	low, high := 0, min(1, most) // low is not enough
	for high > low && !enough(high) {
		low, high = high, high+min(high, most-high)
	}
	if high == low {
		return 0, false
	}
	return low + 1 + sort.Search(high-low-1, func(i int) bool { return enough(low + 1 + i) }), true
}

// satMul multiplies numbers that are not negative, at most to the largest int.
func satMul(a, b int) int { return int(min(math.MaxInt, resource.SatMul(int64(a), int64(b)))) }
