package simulate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework/api"
)

// settle notes that the pod of a DaemonSet is that of the node.
func (c *controller) settle(l *life, node string) {
	c.byNode[node], l.daemonOf = l, node
}

// noteDaemons notes whether the controller is that of a DaemonSet, and so makes pods for nodes.
func (w *world) noteDaemons(c *controller) {
	if w.forgetDaemons(c); c.Field == "" && !c.IsTerminating() {
		w.daemons[c], w.scaler.full = true, nil
	}
}

// forgetDaemons notes that the controller makes no pods for nodes.
func (w *world) forgetDaemons(c *controller) {
	if w.daemons[c] {
		delete(w.daemons, c)
		w.scaler.full = nil
	}
}

// lookAtNode makes the next reconcile look at the node for every DaemonSet: it comes, changes or goes.
// Other controllers hear of the pods that go with it.
func (w *world) lookAtNode(name string) {
	w.allocatable, w.series.nodesSince = nil, w.clock.Now()
	w.dirty, w.nodesChanged = true, append(w.nodesChanged, name)
}

// reconcileDaemons makes a pod for every node that admits one and has none, and ends those whose nodes
// are gone.
func (w *world) reconcileDaemons(c *controller) error {
	names := c.nodes
	if c.toAll {
		names = slices.AppendSeq(slices.Collect(maps.Keys(w.nodes)), maps.Keys(c.byNode))
	}
	c.nodes, c.toAll = nil, false
	slices.Sort(names)
	var missing []*api.Node
	for _, name := range slices.Compact(names) {
		switch n, l := w.nodes[name], c.byNode[name]; {
		case n != nil && l == nil:
			missing = append(missing, n.node)
		case n == nil && l != nil:
			delete(c.byNode, name)
			if l.Ended == nil {
				w.end(l, false)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	pods, err := c.Pods(missing)
	if err != nil {
		return err
	}
	for _, p := range pods {
		node := p.Name[len(c.Name)+1:]
		p.Name = w.freeName(c.Namespace, p.Name, &c.serial)
		if err := w.make(c, p); err != nil {
			return err
		}
		c.settle(w.pods[p.Key()], node)
	}
	return nil
}

// freeName returns the name, or one like it if another pod has it. serial is the next number to try, and becomes the one after:
// of many pods that look for a name, none tries what others have.
func (w *world) freeName(namespace, name string, serial *int) string {
	free := name
	for ; w.pods[namespace+"/"+free] != nil; *serial++ {
		free = fmt.Sprintf("%s-%d", name, *serial)
	}
	return free
}
