package multicluster

import "slices"

// workloadNames holds the clusters that a workload names, for a decision that asks plugins
// about every cluster.
type workloadNames struct {
	clusters []Target // those that were read
	evicting []string

	holds, leaves map[string]bool
}

// named returns a copy of the workload with its names, for the plugins of one decision. Each
// of them looks a cluster up, in place of reading the lists anew for each cluster.
func (w *Workload) named() *Workload {
	n := &workloadNames{clusters: w.Clusters, evicting: w.Evicting, holds: make(map[string]bool, len(w.Clusters)), leaves: make(map[string]bool, len(w.Evicting))}
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
