// Package nodename finds names for nodes that a question adds to a cluster. What is left of nodes that are
// gone, such as their metrics or local volumes, must not count for others.
package nodename

import (
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Left holds the names of nodes that objects of the snapshot go by, whether or not it has such nodes: those of
// NodeMetrics, CSINodes, ResourceSlices, and in the node selectors of volumes and of devices that claims have.
type Left map[string]bool

// LeftIn looks at all such objects.
func LeftIn(s *framework.Snapshot) Left {
	l := Left{}
	for _, m := range framework.List[api.NodeMetric](s) {
		l[m.Name] = true
	}
	for _, c := range framework.List[api.CSINode](s) {
		l[c.Name] = true
	}
	for _, x := range framework.List[api.ResourceSlice](s) {
		if x.Spec.NodeName != nil {
			l[*x.Spec.NodeName] = true
		}
	}
	for _, c := range framework.List[api.ResourceClaim](s) {
		if a := c.Status.Allocation; a != nil && a.NodeSelector != nil {
			l.addFrom(a.NodeSelector.NodeSelectorTerms)
		}
	}
	for _, v := range framework.List[api.PersistentVolume](s) {
		if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
			l.addFrom(a.Required.NodeSelectorTerms)
		}
	}
	return l
}

func (l Left) addFrom(terms []api.NodeSelectorTerm) {
	for i := range terms {
		for _, r := range terms[i].MatchExpressions {
			if r.Key == api.LabelHostname {
				l.add(r.Values)
			}
		}
		for _, r := range terms[i].MatchFields {
			l.add(r.Values)
		}
	}
}

func (l Left) add(names []string) {
	for _, name := range names {
		l[name] = true
	}
}

// Fresh returns n names "base-0", "base-1" and so on, without those of nodes of the snapshot and those that
// are left.
func (l Left) Fresh(s *framework.Snapshot, base string, n int) (names []string) {
	for serial := 0; len(names) < n; serial++ {
		if name := base + "-" + strconv.Itoa(serial); s.Node(name) == nil && !l[name] {
			names = append(names, name)
		}
	}
	return names
}
