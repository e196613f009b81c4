package framework

import (
	"errors"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// newNode is newNodeInfo. If the schema has no number for a new resource of the node, it
// gives up the names that nobody uses.
func (s *Snapshot) newNode(node *api.Node) (*NodeInfo, error) {
	n, err := newNodeInfo(node, s.schema)
	var full *resource.FullError
	if errors.As(err, &full) && s.giveUpNames() {
		return newNodeInfo(node, s.schema)
	}
	return n, err
}

// giveUpNames replaces the schema by one without the names that no node has, no device class
// stands behind, and no pod on, or nominated to, a node requests. It reports whether there were any. All vectors in the
// snapshot stay right, because they are 0 there; forks keep the schema that they have. A
// rollback may bring pods back, so while a transaction is open, all names stay.
//
// It costs O(nodes + pods).
func (s *Snapshot) giveUpNames() bool {
	if s.undo.isOpen() {
		return false
	}
	used := make([]bool, s.schema.Len())
	note := func(v resource.Vector) {
		for i, x := range v {
			if x != 0 {
				used[i] = true
			}
		}
	}
	for _, c := range List[api.DeviceClass](s) {
		for name := range classResources(c) {
			if i, ok := s.schema.Index(name); ok {
				used[i] = true
			}
		}
	}
	for _, n := range s.All() {
		for name := range n.Node.Status.Allocatable { // also those with an amount of 0
			if i, ok := s.schema.Index(name); ok {
				used[i] = true
			}
		}
		note(n.Requested)
		for _, list := range [...][]*PodInfo{n.Pods, n.Nominated} {
			for _, p := range list {
				note(p.Requests)
				note(p.UsedRequests)
				note(p.ScoredRequests)
			}
		}
	}
	some := false
	for i := range used {
		some = some || !used[i] && i > resource.IndexEphemeralStorage && s.schema.Name(i) != ""
	}
	if some {
		s.schema = s.schema.Keeping(func(i int) bool { return i < len(used) && used[i] })
	}
	return some
}

// admitClass gives numbers to the resources that pods may request from the devices of a
// class. No node lists them, so without this they would count as names that only pods
// have. A schema takes few of those. If it is full, names that nobody uses are given up; if it still is, it takes more:
// a class must not be refused.
func (s *Snapshot) admitClass(c *api.DeviceClass) {
	list := classResources(c)
	if s.schema.Admit(list) == nil || s.giveUpNames() && s.schema.Admit(list) == nil {
		return
	}
	for _, name := range list.Names() { // classes are few: only administrators make them
		s.schema.Intern(name)
	}
}

// classResources are the resources that a device class may stand behind.
func classResources(c *api.DeviceClass) resource.List {
	list := resource.List{resource.Name(api.PrefixDeviceClass + c.Name): {}}
	if e := c.Spec.ExtendedResourceName; e != nil && *e != "" {
		list[resource.Name(*e)] = resource.Quantity{}
	}
	return list
}
