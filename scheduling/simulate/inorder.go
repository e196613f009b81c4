package simulate

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// inOrder is how long after a pod of a StatefulSet has got its node the next one comes: it must have started.
const inOrder = time.Second

// startInOrder lets a pod that was just bound start a bit later, if others wait for that.
func (w *world) startInOrder(l *life) {
	c, stint := l.owner, l.stint
	if c == nil || !c.Ordered {
		return
	}
	l.started = false
	c.stray(l)
	w.expect(w.clock.Now().Add(inOrder))
	w.clock.AfterFunc(inOrder, func() {
		if l.node == nil || l.stint != stint {
			return
		}
		l.started = true
		if l.owner != nil {
			w.lookAt(l.owner)
			w.reconcile()
		}
	})
}

// numberOf is the number of a pod of the set, -1 if its name has none.
func (c *controller) numberOf(l *life) int {
	n := ordinal(l.Pod)
	if n < 0 || l.Pod != c.Key()+"-"+strconv.Itoa(n) {
		return -1
	}
	return n
}

// join notes a pod of a set whose pods are in order, stray that one of them waits or has left.
func (c *controller) join(l *life) {
	if n := c.numberOf(l); c.Ordered && n >= 0 {
		if c.byNumber == nil {
			c.byNumber = map[int]*life{}
		}
		c.byNumber[n] = l
		c.stray(l)
	}
}

func (c *controller) stray(l *life) { c.from(c.numberOf(l)) }

// from makes the next reconcile look at the pods from a number on.
func (c *controller) from(n int) {
	if n < 0 || n >= c.ready {
		return
	}
	c.ready = n
	c.taken = slices.DeleteFunc(c.taken, func(k int) bool { return k >= n })
}

// leave notes that a pod has left a set whose pods are in order.
func (c *controller) leave(l *life) {
	if n := c.numberOf(l); n >= 0 && c.byNumber[n] == l {
		delete(c.byNumber, n)
		c.stray(l)
	}
}

// reconcileInOrder makes the first pod of a StatefulSet that is not there, once those before it have started. If all
// are there, it ends those that are too much, the last first.
//
// Invariant: the pods of the numbers from the first up to c.ready have started, but for those of taken. Their names are
// those of pods of others, as of a Deployment with the name of the set: here its pods have numbers, too. The set has as
// many numbers more.
//
// Source: kube-controller-manager 1.37, updateStatefulSet.
func (w *world) reconcileInOrder(c *controller, to ordinals) error {
	if c.adopted || c.ordinals != to {
		c.ordinals, c.adopted, c.ready, c.taken = to, false, to.first, nil
	}
	for ; c.ready-to.first-len(c.taken) < to.n; c.ready++ {
		l := c.byNumber[c.ready]
		switch {
		case l != nil && l.started:
		case l != nil:
			return nil
		case w.pods[c.Key()+"-"+strconv.Itoa(c.ready)] != nil:
			c.taken = append(c.taken, c.ready)
		default:
			p := c.Pod()
			c.NumberPod(p, c.ready)
			return w.make(c, p)
		}
	}
	w.endBeyond(c, ordinals{to.first, to.n + len(c.taken)})
	return nil
}

// endBeyond ends the pods whose numbers the set does not have. It waits for one that has not started, unless that is the
// first such pod.
func (w *world) endBeyond(c *controller, to ordinals) {
	if len(c.byNumber)+len(c.taken) <= to.n {
		return // all of them are in c.ready
	}
	var beyond []*life
	for n, l := range c.byNumber {
		if n < to.first || n-to.first >= to.n {
			beyond = append(beyond, l)
		}
	}
	slices.SortFunc(beyond, func(a, b *life) int { return cmp.Compare(c.numberOf(a), c.numberOf(b)) })
	first := slices.IndexFunc(beyond, func(l *life) bool { return !l.started })
	for i, l := range slices.Backward(beyond) {
		if i > first && first >= 0 && !l.started {
			return
		}
		w.end(l, false)
	}
}
