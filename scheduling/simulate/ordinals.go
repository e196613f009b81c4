package simulate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// ordinals are the numbers of a StatefulSet's pods: so many, from the first on.
type ordinals struct{ first, n int }

// number gives a StatefulSet other numbers, and ends the pods that have none of them, the last first.
func (w *world) number(c *controller, to ordinals) {
	if c.ordinals.first != to.first {
		c.serial = to.first
		for c.freed.Len() > 0 {
			c.freed.Remove(0)
		}
	}
	c.ordinals, c.adopted = to, false
	var beyond []*life
	for l := range c.live {
		if k := ordinal(l.Pod); k >= 0 && (k < to.first || k-to.first >= to.n) {
			beyond = append(beyond, l)
		}
	}
	slices.SortFunc(beyond, func(a, b *life) int {
		return cmp.Or(cmp.Compare(ordinal(b.Pod), ordinal(a.Pod)), cmp.Compare(b.serial, a.serial))
	})
	for _, l := range beyond {
		w.end(l, false)
	}
}

// ordinal is the number at the end of the name of a StatefulSet's pod, -1 if there is none.
func ordinal(pod string) int {
	n, err := strconv.Atoi(pod[strings.LastIndexByte(pod, '-')+1:])
	if err != nil {
		return -1
	}
	return n
}

// next makes the next pod: that of the lowest free number for a StatefulSet and an indexed Job, of a new one for all
// others, to which no numbers come back.
func (c *controller) next(w *world) *api.Pod {
	p := c.Pod()
	for {
		n := c.serial
		if c.freed.Len() > 0 {
			n = c.freed.Remove(0)
		} else {
			c.serial++
		}
		c.NumberPod(p, n)
		if w.pods[p.Key()] == nil {
			return p
		}
	}
}

// freeNumber gives the number of a pod that has ended back to the StatefulSet, or to the indexed Job for which the pod has
// not succeeded, whose pods have such names, also if another made it.
func (w *world) freeNumber(pod string, completed bool) {
	i := strings.LastIndexByte(pod, '-')
	if i < 0 {
		return
	}
	c := w.controllers[Ref{"StatefulSet", pod[:i]}]
	if job := w.controllers[Ref{"Job", pod[:i]}]; c == nil && job != nil && job.Indexed && !completed {
		c = job
	}
	if c == nil {
		return
	}
	if c.Ordered {
		c.from(ordinal(pod))
		return
	}
	if n := ordinal(pod); n >= c.ordinals.first && n < c.serial {
		c.freed.Push(n)
	}
}
