package gang

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Set is a tree of groups that are placed together: at least a number of the children,
// or none. kube-scheduler calls it a composite pod group.
type Set struct {
	// Name identifies the set.
	Name string
	// Children are tried in this order. kube-scheduler orders them by creation, then name.
	Children []Child
	// Min is how many children must stand; 0 means all.
	Min int
	// Topology is a label whose values are domains: all children are in one of them. ""
	// means anywhere. Each child may have levels of its own within.
	Topology string
	// Priority is the priority of all pods of the tree, for preemption. Only that of the
	// root counts.
	Priority int32
}

// A Child is a part of a [Set]: a [*Group] or a [*Set].
type Child interface {
	// place places the child among the nodes of a domain; nil means all nodes. Unless it
	// stands, the snapshot is as before.
	place(p *Placer, snap *framework.Snapshot, within *domain) (ChildOutcome, error)
	// checkChild refuses what no attempt may be made for. A group that is short of pods is
	// not malformed in a set, which may do without it.
	checkChild(snap *framework.Snapshot, rules *Rules) error
	// leaves calls f with each group of the tree, in order.
	leaves(f func(*Group))
}

// A SetOutcome is what came of an attempt to place a set. Its JSON form is stable.
type SetOutcome struct {
	Set    string `json:"set"`
	Status Status `json:"status"`
	// Text says why the set does not stand. Under Kubernetes137 it is kube-scheduler's
	// text.
	Text string `json:"text,omitempty"`
	// Domain is the domain that was chosen; empty if the whole cluster was.
	Domain []Value `json:"domain,omitempty"`
	// Children has the outcome of each child that was tried, in order. If the set does not
	// stand, no child does.
	Children []ChildOutcome `json:"children,omitempty"`
	// Stand is how many children stand, or stood in the domain closest to success.
	Stand int `json:"stand"`
	// Trials are the domains that were tried, in order, with the pods of all groups that
	// stood there. TiedDomains is how many were as good as the chosen one.
	Trials      []*Trial `json:"trials,omitempty"`
	TiedDomains int      `json:"tiedDomains,omitempty"`
}

// A ChildOutcome is what came of one child of a [Set]: one of its fields is set.
type ChildOutcome struct {
	Group *Outcome    `json:"group,omitempty"`
	Set   *SetOutcome `json:"set,omitempty"`
}

// stands reports whether the child stands. A group whose members all ran before does.
func (c ChildOutcome) stands() bool {
	if c.Set != nil {
		return c.Set.Status == Placed
	}
	return c.Group.Status == Placed || c.Group.best != nil && c.Group.best.Succeeded
}

func (c ChildOutcome) status() (Status, string) {
	if c.Set != nil {
		return c.Set.Status, c.Set.Text
	}
	return c.Group.Status, c.Group.Text
}

func (c ChildOutcome) name() string {
	if c.Set != nil {
		return c.Set.Set
	}
	return c.Group.Group
}

// withdraw makes a child that stood fall with its set.
func (c ChildOutcome) withdraw(text string) {
	if !c.stands() {
		return
	}
	if c.Set != nil {
		c.Set.Status, c.Set.Text = Short, text
		for _, child := range c.Set.Children {
			child.withdraw(text)
		}
		return
	}
	o := c.Group
	o.Status, o.Text, o.Proved, o.Domain = Short, text, false, nil
	for _, at := range o.Placed {
		o.Left = append(o.Left, Left{at.Pod, nil, at.index})
	}
	o.Placed = nil
	sortLeft(o.Left)
}

// PlaceSet places at least the minimum of the set's children, or nothing. Children are
// tried one after the other; one that fails is taken back alone, and the rest go on while
// the minimum can be met. Every domain of the set's label is tried so. Under Kubernetes137
// the one with the best placement scores of all pods wins; under other rules the one that
// takes the most children, or else the first.
//
// A malformed set is an [*api.InvalidError] with field and value: no children, a child
// that is nil or there twice, a pod that is in two groups, groups of several schedulers, a
// minimum above the number of children, and whatever [Placer.Place] refuses of a group. A group with
// fewer pods than its minimum does not stand; it is no error, as the set may do without it.
//
// Cost: each level of sets with a label tries each of its domains once, and the chosen one
// twice. With more than [Rules.Decisions] for all groups together it is an error.
//
// Source: kube-scheduler 1.37, schedule_one_podgroup.go, composite pod groups.
func (p *Placer) PlaceSet(snap *framework.Snapshot, s *Set) (*SetOutcome, error) {
	if err := p.checkTree(snap, s); err != nil {
		return nil, err
	}
	mark := snap.Begin()
	defer snap.Rollback(mark)
	out, err := p.rootSet(snap, s, nil)
	if err == nil && out.Status == Placed {
		snap.Commit(mark)
	}
	return out, err
}

// rootSet is placeSet for the root of a tree: if pods wait, some pod must be new.
func (p *Placer) rootSet(snap *framework.Snapshot, s *Set, within *domain) (*SetOutcome, error) {
	p.tree = newTreeWork(s, &p.rules)
	defer func() { p.tree = nil }()
	out, err := p.placeSet(snap, s, within)
	if err != nil || out.Status != Placed || len(out.placed(s)) > 0 || len(s.merged().Pods) == 0 {
		return out, err
	}
	text := textMinimumStands
	if p.rules.kubernetes() {
		text = textUnschedulable
	}
	out.fail(Short, text)
	return out, nil
}

// fail makes the set and all of its children not stand.
func (o *SetOutcome) fail(status Status, text string) {
	o.Status, o.Text = status, text
	for _, c := range o.Children {
		c.withdraw(text)
	}
}

// placed lists the pods that stand; their numbers count the pods of all groups of the tree
// in order.
func (o *SetOutcome) placed(s *Set) (list []Placement) {
	first := 0
	var walk func(s *Set, o *SetOutcome)
	walk = func(s *Set, o *SetOutcome) {
		for i, c := range s.Children {
			var out ChildOutcome
			if o != nil && i < len(o.Children) {
				out = o.Children[i]
			}
			switch c := c.(type) {
			case *Set:
				walk(c, out.Set)
			case *Group:
				if out.Group != nil {
					for _, at := range out.Group.Placed {
						at.index += first
						list = append(list, at)
					}
				}
				first += len(c.Pods)
			}
		}
	}
	walk(s, o)
	return list
}

// placeSet places the set among the nodes of a domain; nil means all nodes. Unless it
// stands, the snapshot is as before.
func (p *Placer) placeSet(snap *framework.Snapshot, s *Set, within *domain) (*SetOutcome, error) {
	a := s.attempt(p, snap, within)
	domains, stuck := a.candidates()
	switch {
	case stuck != "":
		return &SetOutcome{Set: s.Name, Status: Stuck, Text: stuck}, nil
	case len(domains) == 0 && p.rules.kubernetes():
		return &SetOutcome{Set: s.Name, Status: NoDomain, Text: textNoPlacements}, nil
	case len(domains) == 0:
		return &SetOutcome{Set: s.Name, Status: NoDomain, Text: "no node has the label " + s.Topology}, nil
	}
	var trials, stood []*Trial
	outcomes := make(map[*Trial]*SetOutcome, len(domains))
	for _, d := range domains {
		t, out, err := p.trySet(snap, s, d)
		if err != nil || out.Status == Stuck {
			return out, err
		}
		outcomes[t] = out
		if trials = append(trials, t); t.Succeeded {
			stood = append(stood, t)
		}
	}
	if len(stood) == 0 {
		out := outcomes[mostChildren(trials, outcomes)]
		p.noDomainTakes(out, trials)
		return out, nil
	}
	best := mostChildren(stood, outcomes)
	if p.rules.kubernetes() {
		var err error
		if best, err = a.choose(stood); err != nil {
			return nil, err
		}
	}
	if s == p.tree.set {
		p.tree.decided = 0 // the domain that is taken has decisions of its own
	}
	out, err := p.children(snap, s, best.domain)
	if err != nil {
		return nil, err
	}
	if out.Status != Placed || len(out.placed(s)) != best.Pods {
		return nil, fmt.Errorf("gang: %d pods of set %s fit in domain %q at first, and %d the second time", best.Pods, s.Name, best.Name(), len(out.placed(s)))
	}
	out.Trials, out.TiedDomains = trials, max(1, a.out.TiedDomains)
	return out, nil
}

// trySet tries the set in a domain, and takes everything back.
func (p *Placer) trySet(snap *framework.Snapshot, s *Set, d *domain) (*Trial, *SetOutcome, error) {
	mark := snap.Begin()
	out, err := p.children(snap, s, d)
	snap.Rollback(mark)
	if err != nil || out.Status == Stuck {
		return nil, out, err
	}
	t := newTrial(d)
	t.Placed = out.placed(s)
	t.Pods, t.Succeeded, t.Text = len(t.Placed), out.Status == Placed, out.Text
	return t, out, nil
}

// noDomainTakes makes of the outcome in one domain that of the set, which stands in none.
func (p *Placer) noDomainTakes(out *SetOutcome, trials []*Trial) {
	text := out.Text
	if p.rules.kubernetes() {
		text = fmt.Sprintf("%s, 0/%d placements are available, first placement status: %s", textUnschedulable, len(trials), text)
	}
	out.fail(Short, text)
	out.Trials = trials
}

// mostChildren returns the trial in which the most children stood, the first of several.
func mostChildren(trials []*Trial, outcomes map[*Trial]*SetOutcome) *Trial {
	best := trials[0]
	for _, t := range trials {
		if outcomes[t].Stand > outcomes[best].Stand {
			best = t
		}
	}
	return best
}

// attempt is an attempt for all pods of the tree, to find domains and to score them.
func (s *Set) attempt(p *Placer, snap *framework.Snapshot, within *domain) *attempt {
	a := &attempt{Placer: p, snap: snap, g: s.merged(), out: &Outcome{}, hash: newHash(p.rules.Seed).add("set " + s.Name)}
	if a.keys = a.g.labels(); p.rules.ignoresLevels() {
		a.keys = nil
	}
	a.root = p.treeWithin(snap, within, a.keys)
	return a
}

// merged is a group of all pods of the tree.
func (s *Set) merged() *Group {
	g := &Group{Name: s.Name, Priority: s.Priority}
	var nominated []string
	awaits := false
	s.leaves(func(leaf *Group) {
		for i := range leaf.Pods {
			nominated = append(nominated, leaf.nominated(i))
		}
		awaits = awaits || len(leaf.Awaits) > 0
		g.Pods = append(g.Pods, leaf.Pods...)
		g.Present = append(g.Present, leaf.Present...)
	})
	if awaits {
		g.Awaits = nominated
	}
	if s.Topology != "" {
		g.Topology = []Level{{Key: s.Topology}}
	}
	return g
}

// candidates lists the domains that all pods may be in. stuck says why the members that
// are present leave none.
func (a *attempt) candidates() (list []*domain, stuck string) {
	if a.rules.kubernetes() {
		return a.generate()
	}
	list, err := a.bases()
	if err != nil {
		return nil, err.Error()
	}
	return list, ""
}

// children tries the children of the set in a domain, one after the other. Those that
// stand count in the snapshot; the caller takes them back.
func (p *Placer) children(snap *framework.Snapshot, s *Set, d *domain) (*SetOutcome, error) {
	out := &SetOutcome{Set: s.Name, Status: Short, Domain: d.path}
	now := progress{least: s.least(), remaining: len(s.Children)}
	for _, c := range s.Children {
		o, err := c.place(p, snap, d)
		if err != nil {
			return nil, err
		}
		out.Children = append(out.Children, o)
		if status, text := o.status(); status == Stuck && p.rules.kubernetes() {
			out.fail(Stuck, "composite pod group evaluation failed due to child error: "+text)
			return out, nil
		}
		if now.remaining--; o.stands() {
			now.scheduled++
		}
		if now.impossible() {
			break
		}
	}
	if out.Stand = now.scheduled; now.done() {
		out.Status = Placed
		return out, nil
	}
	if out.Text = now.String(); !p.rules.kubernetes() {
		last := out.Children[len(out.Children)-1]
		_, text := last.status()
		out.Text = fmt.Sprintf("%d of %d children stand; %s: %s", out.Stand, s.least(), last.name(), text)
	}
	return out, nil
}

func (s *Set) place(p *Placer, snap *framework.Snapshot, within *domain) (ChildOutcome, error) {
	mark := snap.Begin()
	o, err := p.placeSet(snap, s, within)
	if err == nil && o.Status == Placed {
		snap.Commit(mark)
	}
	snap.Rollback(mark)
	return ChildOutcome{Set: o}, err
}

func (g *Group) place(p *Placer, snap *framework.Snapshot, within *domain) (ChildOutcome, error) {
	o, err := p.placeWithin(snap, g, within, true)
	if err == nil && p.tree != nil {
		err = p.tree.tried()
	}
	return ChildOutcome{Group: o}, err
}

// treeWork is what the groups of a tree have taken, each attempt for a group included.
type treeWork struct {
	set           *Set
	decided, most int
}

// newTreeWork lets each group be tried once, at least, which decides twice about each pod: to try a domain, and to take it.
func newTreeWork(s *Set, rules *Rules) *treeWork {
	n := 0
	s.leaves(func(g *Group) { n += 1 + 2*len(g.Pods) })
	return &treeWork{set: s, most: rules.decisions(n)}
}

// spend adds the decisions that the attempt has made to those of its tree.
func (a *attempt) spend() {
	if a.tree != nil {
		a.tree.decided += a.decided
	}
	a.decided = 0
}

// tried counts an attempt for a group. It is an error if the tree has taken more than it may.
func (w *treeWork) tried() error {
	if w.decided++; w.decided <= w.most {
		return nil
	}
	return w.set.invalid("children", strconv.Itoa(len(w.set.Children)), fmt.Sprintf("have too many pods to try in each domain: more than %d decisions, see Rules.Decisions", w.most))
}

func (s *Set) leaves(f func(*Group)) {
	for _, c := range s.Children {
		c.leaves(f)
	}
}

func (g *Group) leaves(f func(*Group)) { f(g) }

func (g *Group) checkChild(snap *framework.Snapshot, rules *Rules) error {
	return g.checkUsable(snap, rules)
}

// least is how many children must stand.
func (s *Set) least() int {
	if s.Min == 0 {
		return len(s.Children)
	}
	return s.Min
}

func (s *Set) invalid(field, value, text string) error {
	return &api.InvalidError{Object: "set " + s.Name, Field: field, Value: value, Err: errors.New(text)}
}

// checkTree refuses a tree that no attempt may be made for.
func checkTree(snap *framework.Snapshot, s *Set, rules *Rules) error {
	if snap == nil {
		return &api.InvalidError{Object: "snapshot", Err: errors.New("is nil")}
	}
	if s == nil {
		return &api.InvalidError{Object: "set", Err: errors.New("is nil")}
	}
	if err := s.checkShape("", map[Child]string{}); err != nil {
		return err
	}
	if err := s.checkChild(snap, rules); err != nil {
		return err
	}
	return s.checkPods()
}

// checkShape refuses children that are nil or there twice, so that the rest of the checks
// end.
func (s *Set) checkShape(path string, seen map[Child]string) error {
	for i, c := range s.Children {
		field := path + "children[" + strconv.Itoa(i) + "]"
		set, isSet := c.(*Set)
		group, isGroup := c.(*Group)
		if c == nil || isSet && set == nil || isGroup && group == nil {
			return s.invalid(field, "", "is nil")
		}
		if other, ok := seen[c]; ok {
			return s.invalid(field, "", "is "+other+", too")
		}
		seen[c] = field
		if isSet {
			if err := set.checkShape(field+".", seen); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkChild refuses a minimum above the number of children, no children, and children that
// are malformed.
func (s *Set) checkChild(snap *framework.Snapshot, rules *Rules) error {
	if s.Min < 0 || s.Min > len(s.Children) {
		return s.invalid("min", strconv.Itoa(s.Min), fmt.Sprintf("must be from 0 to %d, the number of children", len(s.Children)))
	}
	if len(s.Children) == 0 {
		return s.invalid("children", "", "must not be empty")
	}
	for i, c := range s.Children {
		if err := c.checkChild(snap, rules); err != nil {
			return fmt.Errorf("set %s: children[%d]: %w", s.Name, i, err)
		}
	}
	return nil
}

// checkPods refuses pods that are in two groups of the tree, and groups of several
// schedulers.
func (s *Set) checkPods() (err error) {
	seen := map[podID]string{}
	scheduler, first := "", ""
	check := func(g *Group, pod *framework.PodInfo) {
		id, key, name := idOf(pod.Pod), pod.Pod.Key(), nameOf(pod.Pod.Spec.SchedulerName)
		if first == "" {
			scheduler, first = name, key
		}
		switch other, ok := seen[id]; {
		case err != nil:
		case ok:
			err = s.invalid("group "+g.Key()+".pods", key, "is a pod of group "+other+", too")
		case name != scheduler:
			err = s.invalid("group "+g.Key()+".pods.spec.schedulerName", name, fmt.Sprintf("must be %q, like that of pod %s", scheduler, first))
		}
		seen[id] = g.Key()
	}
	s.leaves(func(g *Group) {
		for _, pod := range g.Pods {
			check(g, pod)
		}
		for _, m := range g.Present {
			check(g, m.Pod)
		}
	})
	return err
}
