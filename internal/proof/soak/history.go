package soak

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/topo"
	"github.com/berth-sched/berth/scheduling"
)

// history is one epoch.
type history struct {
	*world
	r                      *rand.Rand
	kinds                  []action
	res                    *Result
	incremental, reference *scheduling.Scheduler
	other                  *world // a fork
	templates              []*api.Pod
	serial                 int
	steps                  int
	crowded                int           // pods per node above which more pods leave than come
	packed                 bool          // pods seldom leave by themselves
	undisturbed            bool          // no pod waits, and so none is evicted
	inTurn                 bool          // pods of many classes come in turn, and little else happens
	even                   bool          // nodes and classes differ little but in amounts
	atOnce                 int           // how many pods wait at most
	extended               bool          // there are extenders
	named                  bool          // a PreFilter whose answers are kept names nodes
	gpus                   *devices.GPUs // that pods share; nil if they share none
	mix                    *Mix          // counts what the incremental path does
	forked                 bool          // the fork has been turned to since the last hit
	timed                  bool          // time has passed since the last hit
}

// newHistory begins an epoch. Every other cluster is packed; of the others, in turn one
// has no waiting pods, and in one pods of many classes come in turn. Of any three clusters, one
// keeps hardly any counts of pods.
func newHistory(r *rand.Rand, epoch uint64, res *Result) (*history, error) {
	incremental, reference, made, err := schedulers(r)
	if err != nil {
		return nil, err
	}
	h := &history{
		mix: &res.Mixes[made.mix], extended: made.extended, named: made.named, gpus: made.gpus,
		world: &world{snap: framework.NewSnapshot(pick(r, framework.ZoneInterleaved, framework.Arrival))},
		r:     r, kinds: actions(), res: res, incremental: incremental, reference: reference, crowded: 2 + r.IntN(8), packed: epoch%2 == 0, undisturbed: epoch%4 == 1, inTurn: epoch%4 == 3, atOnce: 1 + r.IntN(10),
	}
	h.snap.SetNow(time.Unix(1_700_000_000, 0))
	if epoch%3 == 2 {
		topo.Lower(h.snap)
	}
	nodes, classes, usually := pick(r, 2, 20, 60, 160, 330), 1+r.IntN(12), template
	if h.packed {
		nodes, classes, usually = pick(r, 2, 5, 20, 40, 200, 330), 6+r.IntN(12), modest
	}
	if h.inTurn {
		nodes, classes, usually, h.even = pick(r, 40, 60, 160, 330), 20+r.IntN(20), small, !chance(r, 3)
	}
	for i := range classes {
		of := usually
		if !h.even && chance(r, 4) {
			of = template
		}
		h.templates = append(h.templates, of(r, i))
		if chance(r, 4) {
			h.templates = append(h.templates, ofPriority(pick[int32](r, 0, 5, 100), pick(r, h.templates...)))
		}
	}
	if !h.inTurn {
		for i := range pick(r, 3, 6) {
			h.templates = append(h.templates, accelerated(r, i))
		}
	}
	for range nodes {
		if err := h.addNode(); err != nil {
			return nil, err
		}
	}
	return h, errors.Join(h.policies(), h.storage(), h.devices())
}

// An action is a kind of step.
type action struct {
	name  string
	share int // of all steps, in percent
	do    func(*history) error
}

var (
	podComes = action{"schedule a pod", 35, func(h *history) error { return h.schedule(true) }}
	podsGo   = action{"pods go", 13, (*history).deletePods}
)

// actions lists all kinds of steps. A step on a cluster without nodes adds one.
func actions() []action {
	return []action{
		podComes,
		{"a pod of a daemon set comes", 3, (*history).daemon},
		{"try a waiting pod again", 9, (*history).retry},
		podsGo,
		{"a pod comes by itself", 4, (*history).bindElsewhere},
		{"a waiting pod is bound by others", 1, (*history).bindWaiter},
		{"a pod is nominated by others", 3, (*history).nominateFromOutside},
		{"a waiting pod is deleted", 1, (*history).giveUp},
		{"pods start", 2, (*history).start},
		{"storage changes", 2, (*history).changeStorage},
		{"devices change", 6, (*history).changeDevices},
		{"objects change", 2, (*history).changeObjects},
		{"services change to and fro", 1, (*history).changeServices},
		{"policies change", 2, (*history).changePolicies},
		{"time passes", 2, (*history).passTime},
		{"a node changes", 2, func(h *history) error { return h.snap.UpdateNode(h.node(h.someNode().Name())) }},
		{"a node comes", 2, (*history).addNode},
		{"a node goes", 1, func(h *history) error { return h.snap.RemoveNode(h.someNode().Name()) }},
		{"a node is lost", 1, (*history).loseNode},
		{"a lost node comes back", 1, (*history).findNode},
		{"fork", 2, (*history).makeFork},
		{"turn to the fork", 2, (*history).turn},
		{"what if", 2, (*history).whatIf},
		{"a pod is replaced", 1, (*history).replacePod},
	}
}

// step makes one random step.
func (h *history) step() error {
	if h.inTurn && !chance(h.r, 60) {
		return h.do(pick(h.r, podComes, podComes, podsGo))
	}
	all := 0
	for _, a := range h.kinds {
		all += a.share
	}
	k := h.r.IntN(all)
	for _, a := range h.kinds {
		if k -= a.share; k < 0 {
			return h.do(a)
		}
	}
	return nil
}

// do makes a step.
func (h *history) do(a action) error {
	h.steps++
	h.res.Steps++
	if err := h.leave(h.steps); err != nil {
		return err
	}
	if h.snap.Len() == 0 {
		return h.addNode()
	}
	if err := a.do(h); err != nil || h.gpus == nil || h.steps%16 != 0 {
		return err
	}
	return h.gpus.Check(h.snap)
}

func (h *history) addNode() error {
	h.serial++
	return h.snap.AddNode(h.node(fmt.Sprintf("node-%d", h.serial)))
}

// node makes a node that fits the epoch.
func (h *history) node(name string) *api.Node {
	if h.even {
		return evenNode(h.r, name)
	}
	return node(h.r, name)
}

func (h *history) someNode() *framework.NodeInfo { return h.snap.At(h.r.IntN(h.snap.Len())) }

// loseNode takes a node away whose pods still exist.
func (h *history) loseNode() error {
	n := h.someNode()
	x := lostNode{name: n.Name(), pods: slices.Clone(n.Pods)}
	for _, p := range x.pods {
		x.held = append(x.held, h.unwritten(p))
	}
	h.lost = append(h.lost, x)
	return h.snap.LoseNode(n.Name())
}

// findNode brings a lost node back, with the pods that have not gone meanwhile.
func (h *history) findNode() error {
	if len(h.lost) == 0 {
		return nil
	}
	i := h.r.IntN(len(h.lost))
	x := h.lost[i]
	h.lost = slices.Delete(h.lost, i, i+1)
	if err := h.snap.AddNode(h.node(x.name)); err != nil {
		return err
	}
	h.res.Reached.Found++
	for i, p := range x.pods {
		if n := h.unwritten(p); n != x.held[i] {
			return fmt.Errorf("pod %s has the devices of %d claims that do not exist, had %d before its node was lost", p.Pod.Key(), n, x.held[i])
		}
		if chance(h.r, 4) {
			if err := h.snap.ReleasePod(p); err != nil {
				return err
			}
			continue
		}
		if err := h.snap.AddPod(p, x.name); err != nil {
			return err
		}
	}
	return nil
}

func (h *history) passTime() error {
	h.snap.SetNow(h.snap.Now().Add(time.Duration(h.r.IntN(90)) * time.Second))
	h.timed = true
	return nil
}

// copying is the number of nodes up to which the fork of a scheduler copies no answers.
const copying = 300

func (h *history) makeFork() error {
	h.other = h.fork()
	return nil
}

func (h *history) turn() error {
	if h.other != nil {
		large := h.snap.Len() > copying
		h.world, h.other = h.other, h.world
		h.forked = true
		if chance(h.r, 3) { // as a goroutine of its own would
			h.mix.add(h.incremental.Stats())
			h.incremental, h.reference = h.incremental.Fork(), h.reference.Fork()
			if large {
				h.res.Reached.Copies++
			}
		}
	}
	return nil
}

func (h *history) newPod() (*framework.PodInfo, error) { return h.podOf(pick(h.r, h.templates...)) }

// podOf makes a pod of a class.
func (h *history) podOf(template *api.Pod) (*framework.PodInfo, error) {
	h.serial++
	p := stamp(template, h.serial)
	if chance(h.r, 20) {
		p.DeletionTimestamp = new(h.snap.Now())
	}
	if err := errors.Join(h.ephemeral(p), h.ownClaims(p)); err != nil {
		return nil, err
	}
	if err := api.DefaultPod(p, framework.List[api.PriorityClass](h.snap)); err != nil {
		return nil, err
	}
	return h.snap.NewPodInfo(p)
}

// schedule decides for a new pod.
func (h *history) schedule(mayPlace bool) error {
	return h.scheduleOf(pick(h.r, h.templates...), mayPlace)
}

// scheduleOf decides for a new pod of a class.
func (h *history) scheduleOf(template *api.Pod, mayPlace bool) error {
	p, err := h.podOf(template)
	if err != nil {
		return err
	}
	return h.decide(waiter{info: p}, mayPlace)
}

// daemon decides for a pod that may only go to one node, sometimes to a few. Some of them
// may be gone.
func (h *history) daemon() error {
	names := []string{h.someNode().Name()}
	for range pick(h.r, 0, 0, 1, 3) {
		names = append(names, pick(h.r, h.someNode().Name(), "gone"))
	}
	template := *pick(h.r, h.templates...)
	var of api.Affinity
	if template.Spec.Affinity != nil {
		of = *template.Spec.Affinity
	}
	term := api.NodeSelectorTerm{MatchFields: []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: names[:1]}}}
	of.NodeAffinity = &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{term}}}
	for _, name := range names[1:] {
		term.MatchFields = []api.NodeSelectorRequirement{{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{name}}}
		required := of.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		required.NodeSelectorTerms = append(required.NodeSelectorTerms, term)
	}
	template.Spec.Affinity = &of
	h.res.Reached.Daemons++
	return h.scheduleOf(&template, true)
}

// deletePods takes a few pods off a node, more where it is crowded.
func (h *history) deletePods() error {
	if h.packed && !chance(h.r, 3) {
		return nil
	}
	n := h.someNode()
	for k := 1 + len(n.Pods)/h.crowded; k > 0 && len(n.Pods) > 0; k-- {
		if err := h.snap.RemovePodAt(n.Pods[h.r.IntN(len(n.Pods))], n); err != nil {
			return err
		}
		n = h.snap.Node(n.Name())
	}
	return nil
}

// bindElsewhere counts a pod that someone else placed, fitting or not.
func (h *history) bindElsewhere() error {
	p, err := h.newPod()
	if err != nil {
		return err
	}
	return h.snap.AddPodAt(p, h.someNode())
}

// replacePod exchanges a pod for one of another class, as an update does.
func (h *history) replacePod() error {
	n := h.someNode()
	if len(n.Pods) == 0 {
		return nil
	}
	if err := h.snap.RemovePodAt(n.Pods[h.r.IntN(len(n.Pods))], n); err != nil {
		return err
	}
	p, err := h.newPod()
	if err != nil {
		return err
	}
	return h.snap.AddPod(p, n.Name())
}

// whatIf empties a node, may change storage, asks for a new pod or one that waits,
// which may evict others, and takes everything back.
func (h *history) whatIf() error {
	return h.try(func() error {
		name := h.someNode().Name()
		for n := h.snap.Node(name); len(n.Pods) > 0; n = h.snap.Node(name) {
			if err := h.snap.RemovePodAt(n.Pods[0], n); err != nil {
				return err
			}
		}
		if chance(h.r, 2) {
			if err := h.changeStorage(); err != nil {
				return err
			}
		}
		if p, ok := h.takeWaiter(); ok && chance(h.r, 2) {
			return h.decide(p, true)
		}
		return h.schedule(true)
	})
}
