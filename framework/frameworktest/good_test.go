package frameworktest_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// Plugins that keep the contract pass, whatever they do and declare.
func TestGoodPlugins(t *testing.T) {
	t.Parallel()
	for _, p := range goodPlugins {
		t.Run(p.name, func(t *testing.T) {
			frameworktest.Run(t, p.plugin, frameworktest.Config{Clusters: 6, Quick: !effort.Full(), State: reservations, Unexercised: unexercised[p.name]})
		})
	}
}

// unexercised says what some good plugins never do.
var unexercised = map[string]map[frameworktest.Exercise]string{
	"constant":                   {frameworktest.Ranks: "it is constant"},
	"number of the feasible":     {frameworktest.Ranks: "all nodes have the same score"},
	"random by the cycle's seed": {frameworktest.Ranks: "all nodes have the same score"},
	"fails for all pods":         {frameworktest.Scores: "it fails", frameworktest.Ranks: "it fails"},
}

var goodPlugins = []struct {
	name   string
	plugin framework.Plugin
}{
	{"a scorer of two methods", scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return max(0, 100-int64(len(n.Pods))) })},
	{"nothing but a name", nameFunc(func() string { return "Silent" })},
	{"a scorer with a scope", declare(scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return max(0, 100-int64(len(n.Pods))) }), 0, framework.ReadsPods)},
	{"constant", declare(scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return 50 }), 0, 0)},
	{"a filter of labels", declare(filterFunc(func(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
		if p.Pod.Labels["app"] == "db" && n.Node.Labels["disk"] != "ssd" {
			return framework.UnresolvableStatus("node(s) had no fast disk")
		}
		return framework.Status{}
	}), framework.FieldLabels, framework.ReadsNode)},
	{"a restriction", declare(preFilterFunc(func(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
		if c.Pod.Pod.Spec.NodeName == "" {
			return framework.PreFiltered{}, framework.SkipStatus()
		}
		return framework.PreFiltered{NodeNames: []string{c.Pod.Pod.Spec.NodeName}}, framework.Status{}
	}), framework.FieldNodeName, 0)},
	{"rejection before filters", declare(preFilterFunc(func(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
		if c.Snapshot.Len() < 4 {
			return framework.PreFiltered{}, framework.UnschedulableStatus("the cluster is too small")
		}
		return framework.PreFiltered{}, framework.Status{}
	}), 0, framework.ReadsNodeSet)},
	{"relative to the feasible", ranged{bindScore(func(_ *framework.Cycle, feasible []*framework.NodeInfo) framework.NodeScorer {
		pods := 0
		for _, n := range feasible {
			pods += len(n.Pods)
		}
		mean := int64(pods / len(feasible))
		return scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return mean - int64(len(n.Pods)) })
	}), func(raw, smallest, largest int64) int64 { return 100 * (raw - smallest) / max(1, largest-smallest) }}},
	{"number of the feasible", declare(listed{bindScore(func(_ *framework.Cycle, feasible []*framework.NodeInfo) framework.NodeScorer {
		many := int64(len(feasible))
		return scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return many })
	}), func(_ []*framework.NodeInfo, scores []int64) { clear(scores) }}, 0, framework.ReadsFeasible)},
	{"skips some pods", declare(preScoreFunc(func(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
		if c.Pod.Priority <= 0 {
			return nil, framework.SkipStatus()
		}
		return scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return min(100, n.AllowedPods) }), framework.Status{}
	}), framework.FieldPriority, framework.ReadsNode)},
	{"fails for all pods", preScoreFunc(func(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
		return nil, framework.AsStatus(fmt.Errorf("no score for %s", c.Pod.Pod.Name))
	})},
	{"scratch", bindScore(func(c *framework.Cycle, feasible []*framework.NodeInfo) framework.NodeScorer {
		s := framework.Scratch[rankScorer](c)
		s.names = s.names[:0]
		for _, n := range feasible {
			s.names = append(s.names, n.Name())
		}
		slices.Sort(s.names)
		return s
	})},
	{"time", declare(bindScore(func(c *framework.Cycle, _ []*framework.NodeInfo) framework.NodeScorer {
		now := c.Now()
		ripe := func(n *framework.NodeInfo) time.Time { return n.Node.CreationTimestamp.Add(2 * time.Hour) }
		return expiring{
			func(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
				if now.Before(ripe(n)) {
					return 0
				}
				return 100
			},
			func(n *framework.NodeInfo) time.Time {
				if now.Before(ripe(n)) {
					return ripe(n)
				}
				return time.Time{}
			},
		}
	}), 0, framework.ReadsNode|framework.ReadsTime)},
	{"namespaces", declare(bind(func(c *framework.Cycle) framework.NodeFilter {
		team := ""
		if ns := framework.Lookup[api.Namespace](c.Snapshot, c.Pod.Pod.Namespace); ns != nil {
			team = ns.Labels["team"]
		}
		return filterFunc(func(*framework.PodInfo, *framework.NodeInfo) framework.Status {
			if team == "b" {
				return framework.UnschedulableStatus("team b may not")
			}
			return framework.Status{}
		})
	}), framework.FieldNamespace, framework.ReadsObjects)},
	{"random by the cycle's seed", declare(bindScore(func(c *framework.Cycle, _ []*framework.NodeInfo) framework.NodeScorer {
		seed := c.Seed
		return scoreFunc(func(*framework.PodInfo, *framework.NodeInfo) int64 { return int64(seed % 101) })
	}), framework.FieldsAll, framework.ReadsCluster)},
	{"batch", bindScore(func(*framework.Cycle, []*framework.NodeInfo) framework.NodeScorer {
		one := scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return int64(len(n.Pods)) })
		return batching{one, func(p *framework.PodInfo, nodes []*framework.NodeInfo, scores []int64) {
			for i, n := range nodes {
				scores[i] = one(p, n)
			}
		}}
	})},
	{"node keys", bindScore(func(*framework.Cycle, []*framework.NodeInfo) framework.NodeScorer {
		one := scoreFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) int64 { return int64(len(n.Pods)) })
		return alike{one, func(b []byte, n *framework.NodeInfo) []byte { return append(b, byte(len(n.Pods))) }}
	})},
	{"zones", declare(zoneLimit{}, 0, framework.ReadsNode|framework.ReadsDomain)},
	{"reservations", reserver{}},
	{"a mark in an object", marker{}},
	{"ports, if there are any", scopedBy{
		filterFunc(func(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
			if len(p.HostPorts) > 0 && len(n.UsedPorts) > 0 {
				return framework.UnschedulableStatus("ports")
			}
			return framework.Status{}
		}),
		func(p *framework.PodInfo) framework.Scope {
			if len(p.HostPorts) == 0 {
				return framework.Scope{} // no pod with ports is of the class of one without
			}
			return framework.Scope{Pod: framework.FieldHostPorts, Reads: framework.ReadsPods}
		},
	}},
}

// marker writes who has reserved into an object, and back; the object is
// another one then, which says the same.
type marker struct{ forgetful bool }

func (marker) Name() string { return "Marker" }

func (marker) mark(c *framework.Cycle, by string) {
	if by == "" && framework.Lookup[api.Service](c.Snapshot, "default/mark") == nil {
		return
	}
	service := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "mark"}}
	service.Spec.Selector = map[string]string{"by": by}
	if by == "" {
		framework.Delete[api.Service](c.Snapshot, service.Key())
	} else if err := framework.Put(c.Snapshot, service); err != nil {
		panic(err)
	}
}

func (m marker) Reserve(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
	m.mark(c, c.Pod.Pod.Name)
	return framework.Status{}
}

func (m marker) Unreserve(c *framework.Cycle, _ *framework.NodeInfo) {
	if !m.forgetful {
		m.mark(c, "")
	}
}

// rankScorer ranks nodes by name.
type rankScorer struct{ names []string }

func (r *rankScorer) Score(_ *framework.PodInfo, n *framework.NodeInfo) int64 {
	i, _ := slices.BinarySearch(r.names, n.Name())
	return int64(min(i, 100))
}

// zoneLimit rejects nodes in zones with more than ten pods. Its sums are made
// anew for each pod; it remembers, as a version, a hash of them.
type zoneLimit struct{}

func (zoneLimit) Name() string { return "ZoneLimit" }

func (zoneLimit) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	f := &zoneFilter{snapshot: c.Snapshot, pods: map[string]int{}}
	for _, n := range c.Snapshot.All() {
		f.pods[n.ZoneKey()] += len(n.Pods)
	}
	return framework.PreFiltered{Filter: f}, framework.Status{}
}

type zoneFilter struct {
	snapshot *framework.Snapshot
	pods     map[string]int
}

const zoneFull = framework.Text("node(s) were in a full zone")

func (f *zoneFilter) Filter(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if f.pods[n.ZoneKey()] > 10 {
		return framework.UnschedulableStatus(zoneFull)
	}
	return framework.Status{}
}

func (f *zoneFilter) AddPod(_ *framework.Cycle, _ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	f.pods[n.ZoneKey()]++
	return framework.Status{}
}

func (f *zoneFilter) RemovePod(_ *framework.Cycle, _ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	f.pods[n.ZoneKey()]--
	return framework.Status{}
}

func (f *zoneFilter) Fork() framework.FilterUpdater {
	return &zoneFilter{f.snapshot, maps.Clone(f.pods)}
}

// Version has a bit for each full zone among those of the generator.
func (f *zoneFilter) Version() uint64 {
	var full uint64
	for i, zone := range slices.Sorted(maps.Keys(f.pods)) {
		if f.pods[zone] > 10 {
			full |= 1 << i
		}
	}
	return full<<8 | uint64(len(f.pods))
}

func (f *zoneFilter) Changed(uint64, func(slot int)) bool { return false } // it cannot tell

// held is what reserver keeps: how many pods have reserved on a node.
type held struct{ pods map[string]int }

var heldKey = framework.NewExtensionKey(func(*framework.Snapshot) *held { return &held{map[string]int{}} })

func (h *held) Fork(*framework.Snapshot) framework.Extension { return &held{maps.Clone(h.pods)} }

func (h *held) add(s *framework.Snapshot, n *framework.NodeInfo, by int) {
	s.Record(unhold{h, n.Name(), by})
	h.change(n.Name(), by)
	s.Touch(n)
}

func (h *held) change(node string, by int) {
	if h.pods[node] += by; h.pods[node] == 0 {
		delete(h.pods, node)
	}
}

type unhold struct {
	held *held
	node string
	by   int
}

func (u unhold) Undo(*framework.Snapshot) { u.held.change(u.node, -u.by) }

// reservations shows the state of reserver, whether it is there or not.
func reservations(s *framework.Snapshot) any { return maps.Clone(heldKey.Of(s).pods) }

// reserver lets two pods reserve on each node.
type reserver struct{}

var reservedOn = framework.NewKey[string]("reserved on")

func (reserver) Name() string { return "Reserver" }

func (reserver) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	s := c.Snapshot
	return framework.PreFiltered{Filter: filterFunc(func(_ *framework.PodInfo, n *framework.NodeInfo) framework.Status {
		if heldKey.Of(s).pods[n.Name()] >= 1 {
			return framework.UnschedulableStatus("node(s) were reserved")
		}
		return framework.Status{}
	})}, framework.Status{}
}

func (reserver) Reserve(c *framework.Cycle, n *framework.NodeInfo) framework.Status {
	heldKey.Of(c.Snapshot).add(c.Snapshot, n, 1)
	reservedOn.Set(c, n.Name())
	return framework.Status{}
}

func (reserver) Unreserve(c *framework.Cycle, n *framework.NodeInfo) {
	if _, ok := reservedOn.Get(c); ok {
		heldKey.Of(c.Snapshot).add(c.Snapshot, n, -1)
		reservedOn.Delete(c)
	}
}
