package page

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// A world is the cluster after the steps.
type world struct {
	cluster  *cluster
	snapshot *framework.Snapshot
	queue    []*framework.PodInfo // waiting
	unplaced []*framework.PodInfo // tried, and fit nowhere
	lanes    map[string]*lane     // by the name of the profile
	last     *scheduling.Scheduler
	placed   map[string]string // pod to profile, for pods that steps have placed
	acts     []act
	copies   map[string]int // of a node: the number of the last one that was added
	work     int            // that the steps were so far, see spend
	searched int            // work of searches that is counted, see takeSearched
	now      func() time.Time
	until    time.Time // when the steps have taken too long
	// specSizes and nodeSizes are what work counts by.
	specSizes map[specParts]int
	nodeSizes map[string]int
	around    background
	terms     int            // affinity terms of all pods that differ
	keys      int            // topology keys of these terms
	budgets   map[string]int // see budgetParts
	// version counts what changes decisions other than weights.
	version int
	kept    []*class // of the version keptAt, for other weights
	keptAll bool
	keptAt  int
}

// A lane is a profile at work.
type lane struct {
	profile scheduling.Profile
	weights []int64 // now, by the profile's scorers
	sched   *scheduling.Scheduler
	plain   *scheduling.Scheduler // with the profile's own weights; explains
	// outdated is how many classes of sched have yet to look at nodes that were changed.
	outdated int
}

// An act is what a step has done, as a program would do it again.
type act struct {
	do        string // place, weigh, add, cordon or evict
	lane      string
	pod, node string
	like      string
	message   string // why the pod was not placed
	score     int64
	weights   map[string]int64
}

func newWorld(c *cluster) (*world, error) {
	w := &world{
		cluster: c, snapshot: c.snapshot.Fork(), queue: slices.Clone(c.waiting),
		lanes: map[string]*lane{}, placed: map[string]string{}, copies: map[string]int{},
		around: c.around, specSizes: map[specParts]int{}, nodeSizes: map[string]int{},
	}
	w.terms, w.keys = termsOf(w.queue, w.snapshot)
	w.budgets = budgetParts(w.snapshot)
	w.takeSearched() // what was spent before does not count
	for _, p := range c.profiles {
		l := &lane{profile: p}
		plain := p
		plain.Cache.Off = true
		var err error
		if l.plain, err = scheduling.New(plain); err != nil {
			return nil, err
		}
		l.weights = l.plain.Weights()
		if l.sched, err = scheduling.New(p); err != nil {
			return nil, err
		}
		w.lanes[p.Name] = l
	}
	var err error
	w.last, err = scheduling.New(c.profiles[0])
	return w, err
}

// weighted is the profile with the weights of now. A scorer with the weight 0 is left out.
func (l *lane) weighted() scheduling.Profile {
	p := l.profile
	p.Score = nil
	for i, w := range l.profile.Score {
		if w.Weight = l.weights[i]; w.Weight > 0 {
			p.Score = append(p.Score, w)
		}
	}
	return p
}

// laneOf returns the profile that a pod asks for.
func (w *world) laneOf(p *framework.PodInfo) *lane { return w.lanes[p.Pod.Spec.SchedulerName] }

// apply takes a step. After an error the world may be half changed: make it anew.
func (w *world) apply(s Step) error {
	if s.Do != stepWeigh {
		w.version++
	}
	if err := w.spend(decisionWork); err != nil {
		return err
	}
	switch s.Do {
	case stepPlace:
		return w.place(s)
	case stepWeigh:
		return w.weigh(s.Name, s.Weights)
	case stepAdd:
		return w.add(s.Name)
	case stepDrain:
		return w.drain(s.Name)
	case stepEvict:
		return w.evict(s.Name)
	}
	return fmt.Errorf("there is no step %q", s.Do)
}

// place decides about the first pods of the queue, or about the pod that is named.
func (w *world) place(s Step) error {
	if s.Name != "" {
		if err := w.spend(len(w.queue)); err != nil {
			return err
		}
		i := w.waiting(s.Name)
		if i < 0 {
			return fmt.Errorf("pod %s does not wait", s.Name)
		}
		return w.placeOne(i)
	}
	if s.N < 1 {
		return errors.New("there is nothing to place")
	}
	n := min(s.N, len(w.queue))
	if err := w.spend(n * decisionWork); err != nil {
		return err
	}
	for range n {
		if err := w.placeOne(0); err != nil {
			return err
		}
	}
	return nil
}

// waiting returns the place of a pod in the queue, -1 if it does not wait.
func (w *world) waiting(key string) int {
	return slices.IndexFunc(w.queue, func(p *framework.PodInfo) bool { return p.Pod.Key() == key })
}

// placeOne decides about a pod of the queue.
func (w *world) placeOne(i int) error {
	pod := w.queue[i]
	if i == 0 {
		w.queue = w.queue[1:]
	} else {
		w.queue = slices.Delete(slices.Clone(w.queue), i, i+1)
	}
	l := w.laneOf(pod)
	l.sched.Seek(w.last.Position())
	w.last = l.sched
	before := l.sched.Stats()
	d, err := l.sched.Place(w.snapshot, pod)
	a := act{do: stepPlace, lane: l.profile.Name, pod: pod.Pod.Key()}
	if err != nil {
		a.message = err.Error()
		w.unplaced = append(w.unplaced, pod)
	} else {
		a.node, a.score = d.Node, d.Score
		w.placed[a.pod] = l.profile.Name
	}
	w.acts = append(w.acts, a)
	return w.spendDecision(l, pod, before, &d)
}

// weigh gives a profile other weights, from the next decision on.
func (w *world) weigh(name string, weights map[string]int64) error {
	l := w.lanes[name]
	if l == nil {
		return fmt.Errorf("there is no profile %q", name)
	}
	list, err := l.vector(weights)
	if err != nil {
		return err
	}
	if err := w.spend(schedulerWork); err != nil {
		return err
	}
	l.weights = list
	sched, err := scheduling.New(l.weighted())
	if err != nil {
		return err
	}
	sched.Seek(w.last.Position())
	w.last, l.sched, l.outdated = sched, sched, 0
	if n := len(w.acts); n > 0 && w.acts[n-1].do == stepWeigh && w.acts[n-1].lane == name {
		w.acts = w.acts[:n-1] // as the steps are joined
	}
	w.acts = append(w.acts, act{do: stepWeigh, lane: name, weights: weights})
	return nil
}

// maxWeight bounds the weights of the page.
const maxWeight = 1_000_000

// vector turns weights by name into weights by scorer. A scorer that is not named has the
// profile's own weight.
func (l *lane) vector(weights map[string]int64) ([]int64, error) {
	list, known, sum := l.plain.Weights(), 0, int64(0)
	for i, scorer := range l.profile.Score {
		name := scorer.Plugin.Name()
		if weight, ok := weights[name]; ok {
			if weight < 0 || weight > maxWeight {
				return nil, fmt.Errorf("%s: %d: want a weight from 0 to %d", name, weight, maxWeight)
			}
			list[i] = weight
			known++
		}
		sum += list[i]
	}
	switch {
	case known < len(weights):
		return nil, fmt.Errorf("profile %s: one of the weights is of no scorer that it has", l.profile.Name)
	case sum == 0:
		return nil, errors.New("all weights are 0, so no node would be better than another")
	}
	return list, nil
}

// add adds a node like the named one, without its pods.
func (w *world) add(like string) error {
	n := w.snapshot.Node(like)
	if n == nil {
		return unknownNode(like)
	}
	if err := w.spendCopy(n.Node); err != nil {
		return err
	}
	name := ""
	for name == "" || w.snapshot.Node(name) != nil {
		w.copies[like]++ // nodes stay, so the names of those before are taken
		name = fmt.Sprintf("%s-copy-%d", like, w.copies[like])
	}
	if err := w.snapshot.AddNode(copyOf(n.Node, name)); err != nil {
		return err
	}
	w.around.grow(n.Node)
	w.outdate()
	w.acts = append(w.acts, act{do: stepAdd, node: name, like: like})
	return w.tryAgain()
}

// copyOf returns a node like another one, which takes pods even if that one is cordoned.
func copyOf(n *api.Node, name string) *api.Node {
	c := api.Clone(n)
	c.Name, c.UID, c.Spec.Unschedulable = name, "", false
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	c.Labels[api.LabelHostname] = name
	c.Spec.Taints = slices.DeleteFunc(c.Spec.Taints, func(t api.Taint) bool { return t.Key == api.TaintNodeUnschedulable })
	return c
}

func unknownNode(name string) error { return fmt.Errorf("node %q is not in the cluster", name) }

// tryAgain lets pods that fit nowhere wait again, as the queue does after such events.
func (w *world) tryAgain() error {
	w.queue = append(slices.Clone(w.queue), w.unplaced...)
	w.unplaced = nil
	byPriority(w.queue)
	return w.spend(len(w.queue))
}

// planner answers questions about the cluster as it is now.
func (w *world) planner(l *lane) (*whatif.Planner, error) {
	p, err := whatif.New(l.weighted(), w.snapshot)
	if err != nil {
		return nil, err
	}
	p.Seek(w.last.Position())
	return p, nil
}

// drain cordons the node and evicts the pods that the budgets let go. They wait again.
func (w *world) drain(name string) error {
	n := w.snapshot.Node(name)
	if n == nil {
		return unknownNode(name)
	}
	if err := cmp.Or(w.spendCopy(n.Node), w.spendDrain(n.Pods)); err != nil {
		return err
	}
	p, err := w.planner(w.lanes[w.cluster.profiles[0].Name])
	if err != nil {
		return err
	}
	plan, err := p.Drain(name)
	if err != nil {
		return err
	}
	var keys []string
	for _, m := range plan.Moves {
		keys = append(keys, m.Pod)
	}
	for _, s := range plan.Stuck {
		if s.Evicted {
			keys = append(keys, s.Pod)
		}
	}
	if err := w.snapshot.UpdateNode(cordoned(n.Node)); err != nil {
		return err
	}
	w.outdate()
	w.acts = append(w.acts, act{do: "cordon", node: name})
	for _, key := range keys {
		if err := w.evict(key); err != nil {
			return err
		}
	}
	return w.tryAgain()
}

// cordoned returns the node as kubectl cordon leaves it.
func cordoned(n *api.Node) *api.Node {
	c := api.Clone(n)
	c.Spec.Unschedulable = true
	if !slices.ContainsFunc(c.Spec.Taints, func(t api.Taint) bool { return t.Key == api.TaintNodeUnschedulable }) {
		c.Spec.Taints = append(c.Spec.Taints, api.Taint{Key: api.TaintNodeUnschedulable, Effect: api.TaintEffectNoSchedule})
	}
	return c
}

// evict takes a pod off its node and lets it wait, if a scheduler here serves it.
func (w *world) evict(key string) error {
	pod, n := w.snapshot.Pod(key)
	if pod == nil {
		return fmt.Errorf("pod %s runs on no node", key)
	}
	var err error
	node, lane := n.Name(), w.placed[key]
	if l := w.lanes[lane]; l != nil {
		err = l.sched.Release(w.snapshot, pod, node)
	} else {
		err = w.snapshot.RemovePod(pod, node)
	}
	if err != nil {
		return err
	}
	delete(w.placed, key)
	w.acts = append(w.acts, act{do: stepEvict, lane: lane, pod: key, node: node})
	if w.laneOf(pod) != nil {
		w.queue = append(slices.Clone(w.queue), pod.Pending())
	}
	return w.tryAgain()
}

// weightsText writes weights for people.
func weightsText(weights map[string]int64) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(weights)) {
		list = append(list, fmt.Sprintf("%s=%d", name, weights[name]))
	}
	if len(list) == 0 {
		return "the profile's own"
	}
	return strings.Join(list, ", ")
}
