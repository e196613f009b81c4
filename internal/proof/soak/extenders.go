package soak

import (
	"context"
	"hash/fnv"
	"math/rand/v2"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// extenders makes one or two that answer at random, but alike for one pod and node.
func extenders(r *rand.Rand) []scheduling.Extender {
	list := make([]scheduling.Extender, 1+r.IntN(2))
	for i := range list {
		e := &list[i]
		*e = scheduling.Extender{Name: pick(r, "x", "y"), Weight: int64(1 + r.IntN(3))}
		o := opinion{salt: r.Uint64(), harsh: pick[uint64](r, 2, 10, 60), reversed: chance(r, 4), emptied: chance(r, 6)}
		if !chance(r, 4) {
			e.Interested = func(p *framework.PodInfo) bool { return o.of(p.Pod.Labels["app"])%2 == 0 }
		}
		if !chance(r, 3) {
			e.Filter = o.filter
		}
		if !chance(r, 3) {
			e.Prioritize = o.prioritize
		}
	}
	return list
}

// opinion is what an extender thinks of pods and nodes.
type opinion struct {
	salt              uint64
	harsh             uint64 // one node in so many is refused
	reversed, emptied bool
}

// of is a random number for the words.
func (o *opinion) of(words ...string) uint64 {
	h := fnv.New64a()
	for _, w := range words {
		h.Write([]byte(w))
		h.Write([]byte{0})
	}
	return (h.Sum64() ^ o.salt) * 0x9e3779b97f4a7c15 >> 20
}

func (o *opinion) filter(_ context.Context, p *framework.PodInfo, nodes []*framework.NodeInfo) (scheduling.ExtenderVerdict, error) {
	v := scheduling.ExtenderVerdict{Failed: map[string]string{}, Unresolvable: map[string]string{}, Emptied: o.emptied}
	for i := range nodes {
		n := nodes[i].Name()
		if o.reversed {
			n = nodes[len(nodes)-1-i].Name()
		}
		switch x := o.of(p.Pod.Name, n); {
		case x%o.harsh != 0:
			v.Nodes = append(v.Nodes, n)
		case x/o.harsh%3 == 0:
			v.Failed[n] = "refused"
		case x/o.harsh%3 == 1:
			v.Unresolvable[n] = "refused for good"
		}
	}
	return v, nil
}

func (o *opinion) prioritize(_ context.Context, p *framework.PodInfo, nodes []*framework.NodeInfo) (list []scheduling.HostScore, err error) {
	for _, n := range nodes {
		if x := o.of(n.Name(), p.Pod.Name); x%5 > 0 {
			list = append(list, scheduling.HostScore{Host: n.Name(), Score: int64(x % 7)})
		}
	}
	return list, nil
}
