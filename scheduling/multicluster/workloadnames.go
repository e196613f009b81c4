package multicluster

import (
	"slices"
	"sync"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// workloadNames holds the clusters that a workload and the others of its groups name, the taints
// that it tolerates, and its compiled affinities, for a decision that asks plugins about every cluster.
type workloadNames struct {
	clusters []Target // those that were read
	evicting []string

	holds, leaves map[string]bool

	tolerations *match.Tolerations

	lock       sync.Mutex // plugins may ask from several goroutines
	mates      map[matesKey]*mates
	affinities map[*ClusterAffinity]*compiledAffinity
	zones      map[*api.Cluster]zoneSet // those with many
}

// zoneSetOf returns the zones of the cluster. Many are indexed once.
func (n *workloadNames) zoneSetOf(c *api.Cluster) zoneSet {
	if len(c.Spec.Zones) <= fewZones {
		return newZoneSet(zonesOf(c))
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	z, ok := n.zones[c]
	if !ok {
		z = newZoneSet(zonesOf(c))
		n.zones[c] = z
	}
	return z
}

// compiled returns the affinity, which is compiled once.
func (n *workloadNames) compiled(a *ClusterAffinity) *compiledAffinity {
	n.lock.Lock()
	defer n.lock.Unlock()
	k := n.affinities[a]
	if k == nil {
		k = a.compile()
		n.affinities[a] = k
	}
	return k
}

// A matesKey is all that the mates of a workload depend on.
type matesKey struct {
	name, kind, group string
	term              groupTerm
	first             **Workload // of the others
	others            int
}

// mates are the other workloads of a workload's group.
type mates struct {
	on     map[string]int // how many are on a cluster
	placed int            // how many are on any
	err    error          // that ended the list
}

// matesOf returns the mates of the workload, which are read once.
func (n *workloadNames) matesOf(w *Workload, group string, others []*Workload, term groupTerm) *mates {
	key := matesKey{name: w.Name, kind: w.Kind, group: group, term: term, others: len(others)}
	if len(others) > 0 {
		key.first = &others[0]
	}
	n.lock.Lock()
	defer n.lock.Unlock()
	m := n.mates[key]
	if m == nil {
		m = w.readMates(group, others, term)
		n.mates[key] = m
	}
	return m
}

func (w *Workload) readMates(group string, others []*Workload, term groupTerm) *mates {
	m := &mates{on: map[string]int{}}
	last := map[string]int{} // the last mate that named a cluster: one may name it twice
	m.err = w.eachMate(group, others, term, func(o *Workload) {
		if len(o.Clusters) == 0 {
			return
		}
		m.placed++
		for _, t := range o.Clusters {
			if last[t.Name] != m.placed {
				last[t.Name] = m.placed
				m.on[t.Name]++
			}
		}
	})
	return m
}

// named returns a copy of the workload with its names, for the plugins of one decision. Each
// of them looks a cluster up, in place of reading the lists anew for each cluster.
func (w *Workload) named() *Workload {
	n := &workloadNames{
		clusters: w.Clusters, evicting: w.Evicting,
		holds: make(map[string]bool, len(w.Clusters)), leaves: make(map[string]bool, len(w.Evicting)),
		mates: map[matesKey]*mates{}, affinities: map[*ClusterAffinity]*compiledAffinity{}, zones: map[*api.Cluster]zoneSet{},
		tolerations: match.NewTolerations(w.Placement.ClusterTolerations),
	}
	for _, t := range w.Clusters {
		n.holds[t.Name] = true
	}
	for _, name := range w.Evicting {
		n.leaves[name] = true
	}
	c := *w
	c.names = n
	return &c
}

// areOf reports whether these are the names of the workload. A plugin may change its copy of a
// workload.
func (n *workloadNames) areOf(w *Workload) bool {
	return n != nil && sameList(n.clusters, w.Clusters) && sameList(n.evicting, w.Evicting)
}

func sameList[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// untolerated returns the first taint that keeps the workload off, nil if there is none.
func (w *Workload) untolerated(taints []api.Taint) *api.Taint {
	if n := w.names; n != nil && n.tolerations.Are(w.Placement.ClusterTolerations) {
		return n.tolerations.Untolerated(taints)
	}
	return match.UntoleratedTaint(taints, w.Placement.ClusterTolerations, false)
}

// holds reports whether the workload is on the cluster now.
func (w *Workload) holds(cluster string) bool {
	if w.names.areOf(w) {
		return w.names.holds[cluster]
	}
	return slices.ContainsFunc(w.Clusters, func(t Target) bool { return t.Name == cluster })
}

// leaves reports whether the workload is moving away from the cluster.
func (w *Workload) leaves(cluster string) bool {
	if w.names.areOf(w) {
		return w.names.leaves[cluster]
	}
	return slices.ContainsFunc(w.Evicting, func(name string) bool { return name == cluster })
}
