package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// free is a name for the next pod: the lowest free number for a StatefulSet, a new one
// for all others, to which no numbers come back.
func (c *controller) free(w *world) string {
	for c.freed.Len() > 0 {
		if name := fmt.Sprintf("%s-%d", c.Name, c.freed.Remove(0)); w.pods[c.Namespace+"/"+name] == nil {
			return name
		}
	}
	for {
		name := fmt.Sprintf("%s-%d", c.Name, c.serial)
		if c.serial++; w.pods[c.Namespace+"/"+name] == nil {
			return name
		}
	}
}

// freeNumber gives the number of a pod that has ended back to the StatefulSet whose pods have
// such names, also if the StatefulSet did not make it.
func (w *world) freeNumber(pod string) {
	i := strings.LastIndexByte(pod, '-')
	if i < 0 {
		return
	}
	c := w.controllers[Ref{"StatefulSet", pod[:i]}]
	if c == nil {
		return
	}
	if n := ordinal(pod); n >= c.ordinals.first && n < c.serial {
		c.freed.Push(n)
	}
}
