package whatif

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/workload"
)

// survey sets aside the pods that neither a node of the snapshot nor a new one takes, notes
// the nodes that take one of the others, and how many new nodes there can be.
func (x *nodeSearch) survey() error {
	if err := x.countOnce(); err != nil {
		return err
	}
	s := x.planner.snapshot.Fork()
	for i := range x.types {
		names, err := x.addNodes(s, i, 1)
		if err != nil {
			return err
		}
		x.fresh = append(x.fresh, s.Node(names[0]))
	}
	x.useful = make(map[string]bool, s.Len())
	fits := map[string]bool{} // by class
	pods := x.pods
	x.pods, x.never = nil, nil
	for _, pod := range pods {
		if x.planner.gated(pod) != nil {
			x.never = append(x.never, pod)
			continue
		}
		key := pod.ClassKey(framework.FieldNamespace | framework.FieldLabels | framework.FieldSpec)
		_, known := fits[key]
		switch {
		case known:
		case x.isHelped(pod):
			x.markAll(s)
			fits[key] = true
			x.classes++
		default:
			found, err := x.markEach(s, pod)
			if err != nil {
				if _, err = missed(pod, err); err != nil {
					return err
				}
				x.never = append(x.never, pod) // others of its class may be decided about
				continue
			}
			if fits[key] = found; found {
				x.classes++
			}
		}
		if fits[key] {
			x.pods = append(x.pods, pod)
		} else {
			x.never = append(x.never, pod)
		}
	}
	all := len(x.pods) + x.emptyDomains()
	for i := range x.types {
		most := min(all, x.roomFor(i))
		if x.types[i].Max > 0 {
			most = min(most, x.types[i].Max)
		}
		x.most = append(x.most, most)
	}
	x.sets = x.findSets()
	return x.findAlike(s)
}

// comeMost is about how many nodes and pods that come with them a choice has at most, in all types.
const comeMost = 500_000

// partsOfANode is how many labels and images of a node take as much memory as a pod.
const partsOfANode = 20

// roomFor is how many nodes of a type there can be, for the memory of what they have of their own and of what comes with them.
func (x *nodeSearch) roomFor(i int) int {
	node := x.types[i].Node
	each := 1 + (len(node.Labels)+len(node.Status.Images))/partsOfANode
	for _, pod := range x.types[i].Pods {
		each += workload.WeightOf(templateOf(pod))
	}
	return max(1, x.planner.comeMost/len(x.types)/each)
}

// emptyDomains is how many new nodes may help pods although they take none: a constraint with
// minDomains counts the least loaded domain as empty as long as there are fewer. At most
// domainsMost count.
func (x *nodeSearch) emptyDomains() (most int) {
	for _, p := range x.pods {
		for _, c := range x.planner.sched.SpreadConstraints(p) {
			if c.WhenUnsatisfiable == api.DoNotSchedule && c.MinDomains != nil {
				most = max(most, int(*c.MinDomains))
			}
		}
	}
	return min(most, domainsMost)
}

// domainsMost is how many nodes without pods a choice has at most for the domains of minDomains.
const domainsMost = 1000

// countOnce lets the Planner's snapshot count its pods by labels if one of the pods needs
// that. Otherwise every fork would count them again.
func (x *nodeSearch) countOnce() error {
	i := slices.IndexFunc(x.pods, func(p *framework.PodInfo) bool { return x.planner.spreads(p) || p.HasPodAffinity() })
	if i < 0 {
		return nil
	}
	_, err := x.planner.sched.Filtering(x.planner.snapshot, x.pods[i])
	if err != nil {
		_, err = missed(x.pods[i], err)
	}
	return err
}

// isHelped reports whether a pod may fit because of other pods: it may have to be near them, or to
// spread like them, or share volumes or devices with them, or one that is placed gives up its nomination. One that
// names nodes may fit on the second new node.
func (x *nodeSearch) isHelped(p *framework.PodInfo) bool {
	a := p.Pod.Spec.Affinity
	attracted := a != nil && a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
	return attracted || x.planner.spreads(p) || p.HasVolumeClaims() || p.HasClaims() || namesNodes(p.Pod) || x.planner.snapshot.Nominations() > 0
}

// spreads reports whether filters may spread the pod.
func (p *Planner) spreads(pod *framework.PodInfo) bool {
	return len(p.sched.SpreadConstraints(pod)) > 0
}

// markAll notes that any node may take a pod.
func (x *nodeSearch) markAll(s *framework.Snapshot) {
	if len(x.useful) < s.Len() {
		for _, n := range s.All() {
			x.useful[n.Name()] = true
		}
	}
}

// mark notes the nodes that take the pod, or may once there are other nodes, and reports whether there are any.
// It leaves out nodes that are noted already if it can.
func (x *nodeSearch) mark(s *framework.Snapshot, pod *framework.PodInfo) (fits bool, err error) {
	f, err := x.planner.sched.Filtering(s, pod)
	if err != nil {
		return false, err
	}
	reading := f.ReadingNodes()
	for _, n := range s.All() {
		if fits && x.useful[n.Name()] || !x.holds(n, pod) {
			continue
		}
		v, err := f.Node(n)
		if err != nil {
			return false, err
		}
		if v.Status.IsSuccess() || slices.Contains(reading, v.Plugin) {
			fits, x.useful[n.Name()] = true, true
		}
	}
	return fits, nil
}

// markEach is mark for the snapshot with a new node of each type. If pods come with such nodes,
// they may keep the pod off other nodes. Then it is mark for the snapshot without new nodes, and with
// one of each type alone.
func (x *nodeSearch) markEach(s *framework.Snapshot, pod *framework.PodInfo) (fits bool, err error) {
	if !x.keepsOff(pod) {
		if fits, err = x.mark(s, pod); fits || err != nil {
			return fits, err
		}
	}
	if !x.comesWith(func(*api.Pod) bool { return true }) {
		return fits, nil
	}
	for i := -1; i < len(x.types) && err == nil; i++ {
		counts := make([]int, len(x.types))
		if i >= 0 {
			counts[i] = 1
		}
		err = x.with(counts, func(s *framework.Snapshot) error {
			more, err := x.mark(s, pod)
			fits = fits || more
			return err
		})
	}
	return fits, err
}

// keepsOff reports whether a pod that comes with a new node may keep the pod off other nodes, as far
// as their specs tell.
func (x *nodeSearch) keepsOff(pod *framework.PodInfo) bool {
	return x.comesWith(func(p *api.Pod) bool {
		return pod.HasPodAffinity() || p.Spec.Affinity != nil && p.Spec.Affinity.PodAntiAffinity != nil
	})
}

// comesWith reports whether a new node of some type comes with a pod like this.
func (x *nodeSearch) comesWith(like func(*api.Pod) bool) bool {
	return slices.ContainsFunc(x.types, func(t NodeType) bool { return slices.ContainsFunc(t.Pods, like) })
}

// holds reports whether a node has what the pod requests of the resources that limit.
func (x *nodeSearch) holds(n *framework.NodeInfo, pod *framework.PodInfo) bool {
	for k := range x.planner.snapshot.Schema().Len() + 1 {
		if wanted := x.wanted(pod, k); wanted > 0 && wanted > x.free(n, k) && x.counted(k) {
			return false
		}
	}
	return true
}
