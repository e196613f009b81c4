package lifecycle

import "container/list"

// nominations are the nominated pods by the name of the node, which need not exist, in the
// order of nomination.
//
// Invariant: no list is empty, and the pods of one have its name in nominated and their
// element in nominee.
type nominations map[string]*list.List

// add adds a pod to those of the node in p.nominated.
func (x *nominations) add(p *pod) {
	if *x == nil {
		*x = nominations{}
	}
	l := (*x)[p.nominated]
	if l == nil {
		l = list.New()
		(*x)[p.nominated] = l
	}
	p.nominee = l.PushBack(p)
}

// remove removes a pod that was added.
func (x nominations) remove(p *pod) {
	l := x[p.nominated]
	l.Remove(p.nominee)
	p.nominee = nil
	if l.Len() == 0 {
		delete(x, p.nominated)
	}
}

// to lists the pods nominated to a node.
func (x nominations) to(node string) (pods []*pod) {
	if l := x[node]; l != nil {
		for e := l.Front(); e != nil; e = e.Next() {
			pods = append(pods, e.Value.(*pod))
		}
	}
	return pods
}
