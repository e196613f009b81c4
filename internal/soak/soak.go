package soak

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// Result counts what a run did.
type Result struct {
	Steps, Decisions, Placed, Unschedulable int
	// Differences holds what the two roads disagreed about, the first ten.
	Differences []*scheduling.DifferenceError
	// Count is how many differences there were.
	Count int
}

// Run makes steps random steps. progress, if not nil, is called now and then
// with the number of steps made. An error means that the run itself failed.
func Run(steps int, seed uint64, progress func(done int)) (Result, error) {
	var res Result
	for epoch := uint64(0); res.Steps < steps; epoch++ {
		r := rand.New(rand.NewPCG(seed, epoch))
		h, err := newHistory(r, &res)
		if err != nil {
			return res, err
		}
		for range min(3000, steps-res.Steps) {
			if err := h.step(); err != nil {
				return res, fmt.Errorf("seed %d, epoch %d, step %d: %w", seed, epoch, res.Steps, err)
			}
			res.Steps++
		}
		if progress != nil {
			progress(res.Steps)
		}
	}
	return res, nil
}

// history is one epoch.
type history struct {
	r         *rand.Rand
	res       *Result
	sched     *scheduling.Scheduler
	snap      *framework.Snapshot
	fork      *framework.Snapshot
	templates []*framework.Pod
	serial    int
	crowded   int // pods per node above which more pods leave than come
}

func newHistory(r *rand.Rand, res *Result) (*history, error) {
	p := pick(r, scheduling.Kubernetes137, scheduling.Kubernetes137, scheduling.Kubernetes134, scheduling.Kubernetes118)()
	if r.IntN(6) == 0 {
		zone := []string{framework.LabelTopologyZone}
		p.Filter = append(p.Filter, filter.ServiceAffinity{AffinityLabels: zone})
		p.Score = append(p.Score, scheduling.Weighted{Plugin: scoring.ServiceAffinity{AntiAffinityLabels: zone}, Weight: 2}, scheduling.Weighted{Plugin: scoring.SelectorSpread{}})
	}
	p.Seed = r.Uint64()
	p.Tie = scheduling.TieRule(r.IntN(int(scheduling.Custom)))
	p.Percentage = pick(r, scheduling.AllNodes, scheduling.AllNodes, scheduling.Adaptive, 20)
	p.Fast = scheduling.Fast{Verify: true, Budget: pick(r, 0, 0, 200_000)}
	sched, err := scheduling.New(p)
	if err != nil {
		return nil, err
	}
	h := &history{
		r: r, res: res, sched: sched, snap: framework.NewSnapshot(pick(r, framework.ZoneInterleaved, framework.Arrival)),
		crowded: 2 + r.IntN(8),
	}
	h.snap.SetNow(time.Unix(1_700_000_000, 0))
	for i := range 1 + r.IntN(12) {
		h.templates = append(h.templates, template(r, i))
	}
	for range pick(r, 2, 20, 60, 150) {
		if err := h.addNode(); err != nil {
			return nil, err
		}
	}
	return h, h.storage()
}

func (h *history) addNode() error {
	h.serial++
	return h.snap.AddNode(node(h.r, fmt.Sprintf("node-%d", h.serial)))
}

func (h *history) someNode() *framework.NodeInfo { return h.snap.At(h.r.IntN(h.snap.Len())) }

// step makes one random step.
func (h *history) step() error {
	if h.snap.Len() == 0 {
		return h.addNode()
	}
	switch k := h.r.IntN(100); {
	case k < 55:
		return h.schedule(true)
	case k < 75:
		return h.deletePods()
	case k < 80:
		return h.bindElsewhere()
	case k < 82:
		return h.changeStorage()
	case k < 84:
		h.snap.SetNow(h.snap.Now().Add(time.Duration(h.r.IntN(90)) * time.Second))
	case k < 87:
		return h.snap.UpdateNode(node(h.r, h.someNode().Name()))
	case k < 89:
		return h.addNode()
	case k < 91:
		return h.snap.RemoveNode(h.someNode().Name())
	case k < 93:
		h.fork = h.snap.Fork()
	case k < 95:
		if h.fork != nil {
			h.snap, h.fork = h.fork, h.snap
		}
	case k < 97:
		return h.whatIf()
	case k < 98:
		return h.changeObjects()
	default:
		return h.replacePod()
	}
	return nil
}

func (h *history) newPod() (*framework.PodInfo, error) {
	h.serial++
	p := stamp(pick(h.r, h.templates...), h.serial)
	if chance(h.r, 20) {
		p.DeletionTimestamp = new(h.snap.Now())
	}
	if err := h.ephemeral(p); err != nil {
		return nil, err
	}
	return h.snap.NewPodInfo(p)
}

// schedule decides for a pod and, half the time, places it.
func (h *history) schedule(mayPlace bool) error {
	p, err := h.newPod()
	if err != nil {
		return err
	}
	h.res.Decisions++
	decide := h.sched.Schedule
	if mayPlace && !chance(h.r, 3) {
		decide = h.sched.Place
	}
	_, err = decide(h.snap, p)
	var fit *scheduling.FitError
	var different *scheduling.DifferenceError
	switch {
	case errors.As(err, &different):
		if h.res.Count++; len(h.res.Differences) < 10 {
			h.res.Differences = append(h.res.Differences, different)
		}
	case errors.As(err, &fit):
		h.res.Unschedulable++
	case err != nil:
		return err
	default:
		h.res.Placed++
	}
	return nil
}

// deletePods takes a few pods off a node, more where it is crowded.
func (h *history) deletePods() error {
	n := h.someNode()
	for k := 1 + len(n.Pods)/h.crowded; k > 0 && len(n.Pods) > 0; k-- {
		if err := h.snap.Forget(n.Pods[h.r.IntN(len(n.Pods))], n); err != nil {
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
	return h.snap.Assume(p, h.someNode())
}

// changeObjects puts or deletes a namespace or a service.
func (h *history) changeObjects() error {
	switch h.r.IntN(6) {
	case 0:
		framework.Delete[framework.Namespace](h.snap, "team")
	case 1:
		framework.Delete[framework.Service](h.snap, "default/a")
	case 2, 3:
		return framework.Put(h.snap, namespace(h.r))
	default:
		return framework.Put(h.snap, service(h.r))
	}
	return nil
}

// replacePod exchanges a pod for one of another class, as an update does.
func (h *history) replacePod() error {
	n := h.someNode()
	if len(n.Pods) == 0 {
		return nil
	}
	if err := h.snap.Forget(n.Pods[h.r.IntN(len(n.Pods))], n); err != nil {
		return err
	}
	p, err := h.newPod()
	if err != nil {
		return err
	}
	return h.snap.AddPod(p, n.Name())
}

// whatIf empties a node, asks again and takes everything back.
func (h *history) whatIf() error {
	mark := h.snap.Begin()
	defer h.snap.Rollback(mark)
	name := h.someNode().Name()
	for n := h.snap.Node(name); len(n.Pods) > 0; n = h.snap.Node(name) {
		if err := h.snap.Forget(n.Pods[0], n); err != nil {
			return err
		}
	}
	return h.schedule(false)
}
