package gang

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
)

// How kube-scheduler 1.37 places a group: every domain is tried alone, pod by pod, and of
// those in which the group stands the one with the best scores is taken.
//
// Source: kube-scheduler 1.37, schedule_one_podgroup.go, and the plugins GangScheduling,
// TopologyPlacementGenerator and PodGroupPodsCount.

const (
	textUnschedulable = "pod group is unschedulable"
	textNoPlacements  = "no feasible placements found"
	textNoDomain      = "cannot determine domain for already scheduled pods: "
)

func (a *attempt) kubernetes() error {
	candidates, stuck := a.generate()
	switch {
	case stuck != "":
		a.out.Status, a.out.Text, a.out.Proved = Stuck, stuck, true
		a.leaveAll()
		return nil
	case len(candidates) == 0:
		a.out.Status, a.out.Text, a.out.Proved = NoDomain, textNoPlacements, true
		a.leaveAll()
		return nil
	}
	var err error
	if a.out.Trials, err = a.trials(candidates); err != nil {
		return err
	}
	a.spend() // the domain that is taken has decisions of its own
	var successful []*Trial
	for _, t := range a.out.Trials {
		if t.Succeeded {
			successful = append(successful, t)
		}
	}
	if len(successful) == 0 {
		return a.refuse()
	}
	best, err := a.choose(successful)
	if err != nil {
		return err
	}
	pods, mark := best.Pods, a.snap.Begin()
	if err := a.again(best); err != nil {
		return err
	}
	switch {
	case best.Pods == pods:
	case a.room != nil: // a plugin has found something to do once some pods stood
		a.snap.Rollback(mark)
		a.room = nil
		return a.kubernetes()
	default:
		return fmt.Errorf("gang: %d pods fit in domain %q at first, and %d the second time", pods, best.Name(), best.Pods)
	}
	a.snap.Commit(mark)
	if pods == 0 && len(a.g.Pods) > 0 { // nothing new was placed
		a.out.Status, a.out.Text = Short, textUnschedulable
	}
	a.finish(best)
	return nil
}

// generate lists the domains to try. Members that are present pin the group to theirs.
func (a *attempt) generate() (list []*domain, stuck string) {
	if len(a.keys) == 0 {
		return []*domain{a.root}, ""
	}
	if len(a.g.Present) == 0 {
		return a.root.children, ""
	}
	key, pinned := a.keys[0], ""
	for _, m := range a.g.Present {
		value, ok := a.snap.Node(m.Node).Node.Labels[key]
		switch {
		case !ok:
			return nil, textNoDomain + "no topology domain found for pod " + m.Pod.Pod.Key()
		case pinned != "" && pinned != value:
			return nil, textNoDomain + fmt.Sprintf("more than 1 domain found for pod group: %s, %s", pinned, value)
		}
		pinned = value
	}
	if d := a.root.named[pinned]; d != nil {
		list = append(list, d)
	}
	return list, ""
}

// sortLeft puts pods that do not stand in the order of the group.
func sortLeft(list []Left) {
	slices.SortFunc(list, func(a, b Left) int { return a.index - b.index })
}

// leaveAll notes all pods as not tried.
func (a *attempt) leaveAll() {
	for i, pod := range a.g.Pods {
		a.out.Left = append(a.out.Left, Left{pod.Pod.Key(), nil, i})
	}
}

// trial tries the group in a domain and takes it back. If counts tell the result,
// no pod is tried.
func (a *attempt) trial(d *domain) (*Trial, error) {
	if a.room == nil || a.rules.Detailed {
		return a.greedyAside(d)
	}
	t := newTrial(d)
	t.Capacity = a.room.sum(d.slots)
	a.predict(t)
	if a.verify {
		if err := a.compare(t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// predict says what greedy would come to for pods of one class, whichever nodes they are
// placed on. They fit until the domain is full, and the rest is rejected until too few
// remain.
func (a *attempt) predict(t *Trial) {
	p := a.progress()
	if p.impossible() {
		t.Text = a.hopeless(p)
		return
	}
	t.Pods = min(t.Capacity, p.remaining)
	p.scheduled += t.Pods
	if p.remaining -= t.Pods; p.done() {
		t.Succeeded = true
		return
	}
	p.remaining = p.least - 1 - p.scheduled
	t.Text = p.String()
}

// compare tries the pods that counts were asked about, and compares.
func (a *attempt) compare(counted *Trial) error {
	total := a.decided
	a.decided = 0
	tried, err := a.greedyAside(counted.domain)
	if err != nil {
		return err
	}
	a.decided = total
	if tried.Succeeded != counted.Succeeded || tried.Pods != counted.Pods || tried.Text != counted.Text {
		return fmt.Errorf("gang: counts say of domain %q that %d pods fit (%s), but %d do (%s)", counted.Name(), counted.Pods, counted.Text, tried.Pods, tried.Text)
	}
	return nil
}

// greedyAside is greedy, taken back.
func (a *attempt) greedyAside(d *domain) (*Trial, error) {
	mark := a.snap.Begin()
	defer a.snap.Rollback(mark)
	t := newTrial(d)
	return t, a.greedy(t)
}

// hopeless is the status of a trial that ends before the first pod.
func (a *attempt) hopeless(p progress) string {
	if a.rules.NoTopology {
		return textUnschedulable + ", " + p.String()
	}
	return textUnschedulable
}

// greedy tries the pods one after the other. It goes on as long as the minimum can be
// met, and after it is met.
func (a *attempt) greedy(t *Trial) error {
	a.sched.Seek(a.position)
	p := a.progress()
	if p.impossible() {
		t.Text = a.hopeless(p)
		return nil
	}
	for i := range a.g.Pods {
		stands, err := a.try(t.domain, i, t)
		if err != nil {
			return err
		}
		if p.remaining--; stands {
			p.scheduled++
		}
		if p.impossible() {
			break
		}
	}
	t.Pods = len(t.Placed)
	if t.Succeeded = p.done(); !t.Succeeded {
		t.Text = p.String()
	}
	return nil
}

// again repeats a trial so that its pods stand.
func (a *attempt) again(t *Trial) error {
	t.Placed, t.Left = nil, nil
	return a.greedy(t)
}

// refuse reports that no domain takes the group.
func (a *attempt) refuse() error {
	trials := a.out.Trials
	best := slices.MinFunc(trials, byCloseness)
	if a.room != nil {
		again, err := a.greedyAside(best.domain)
		if err != nil {
			return err
		}
		best.Placed, best.Left = again.Placed, again.Left
	}
	a.out.Status, a.out.Proved = Short, a.room != nil
	switch {
	case !a.rules.NoTopology:
		a.out.Text = fmt.Sprintf("%s, 0/%d placements are available, first placement status: %s", textUnschedulable, len(trials), best.Text)
	default:
		a.out.Text = best.Text
	}
	a.finish(best)
	return nil
}

// byCloseness sorts failed trials: those that took the most pods come first, then by name.
func byCloseness(a, b *Trial) int {
	if a.Pods != b.Pods {
		return b.Pods - a.Pods
	}
	switch x, y := a.Name(), b.Name(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// choose returns the trial with the highest total. A single one is not scored.
func (a *attempt) choose(list []*Trial) (*Trial, error) {
	if len(list) == 1 {
		a.out.TiedDomains = 1
		return list[0], nil
	}
	if err := a.rules.score(a.snap, a.g, list); err != nil {
		return nil, err
	}
	largest := slices.MaxFunc(list, func(x, y *Trial) int {
		switch {
		case x.Total < y.Total:
			return -1
		case x.Total > y.Total:
			return 1
		}
		return 0
	}).Total
	tied := slices.DeleteFunc(slices.Clone(list), func(t *Trial) bool { return t.Total != largest })
	a.out.TiedDomains = len(tied)
	if a.rules.Draw {
		return tied[uint64(a.hash.add("draw"))%uint64(len(tied))], nil
	}
	return tied[0], nil
}

// Members returns the pods of a group that are on nodes, in the order of the snapshot:
// pods of the namespace whose spec.schedulingGroup has the name. It costs O(pods).
func Members(snap *framework.Snapshot, namespace, name string) (list []Member) {
	for _, n := range snap.All() {
		for _, p := range n.Pods {
			if p.Pod.Namespace == namespace && name != "" && p.Pod.SchedulingGroupName() == name {
				list = append(list, Member{p, n.Name()})
			}
		}
	}
	return list
}
