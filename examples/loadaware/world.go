package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/estimator/nodemetric"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// The scene.
const (
	nodes, cores = 12, 16
	pods         = 300
	length       = 2 * time.Hour
	tick         = 15 * time.Second // time between samples
	hot          = 80               // a node with more percent in use is hot

	silent      = 4 // nodes that do not report between these times
	silentFrom  = 60 * time.Minute
	silentUntil = 75 * time.Minute
)

// world is a cluster under one profile.
type world struct {
	clock     *virtualclock.Clock
	start     time.Time
	snapshot  *framework.Snapshot
	scheduler *scheduling.Scheduler
	load      *estimator.Load
	agents    []*nodemetric.Sampler // one for each node
	running   []running
	waiting   []*framework.PodInfo
	apps      map[api.UID]app
	err       error

	moments       []moment
	peak, spread  float64
	samples       int
	hotNodes      [nodes]time.Duration // how long each was hot
	hotPods       time.Duration
	placed, blind int
}

type running struct {
	pod  *framework.PodInfo
	node int
}

// app is the real behavior of a pod: it uses a part of its request, for a time.
type app struct {
	part float64
	life time.Duration
}

// moment is the cluster at one time, loads in percent.
type moment struct {
	at               time.Duration
	hottest, coolest float64
	hot, expired     int // nodes
}

// simulate runs the whole story under a profile.
func simulate(profile scheduling.Profile, load *estimator.Load) (*world, error) {
	scheduler, err := scheduling.New(profile)
	if err != nil {
		return nil, err
	}
	start := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	w := &world{
		clock: virtualclock.New(start), start: start, snapshot: framework.NewSnapshot(framework.ZoneInterleaved),
		scheduler: scheduler, load: load, apps: map[api.UID]app{},
	}
	w.snapshot.SetNow(start)
	estimator.LedgerOf(w.snapshot)
	for i := range nodes {
		if err := w.snapshot.AddNode(api.MakeNode(nodeName(i), fmt.Sprint(cores), "64Gi").Obj()); err != nil {
			return nil, err
		}
		w.agents = append(w.agents, nodemetric.NewSampler(nodemetric.SamplerConfig{}))
	}
	w.announcePods()
	w.every(tick, w.sample)
	w.every(time.Minute, w.report)
	w.every(10*time.Minute, w.look)
	w.clock.AdvanceTo(start.Add(length))
	return w, w.err
}

func nodeName(i int) string { return fmt.Sprintf("node-%02d", i) }

func (w *world) since() time.Duration { return w.clock.Now().Sub(w.start) }

// every calls f at that interval, until the end.
func (w *world) every(d time.Duration, f func()) {
	w.clock.AfterFunc(d, func() {
		w.snapshot.SetNow(w.clock.Now())
		f()
		w.every(d, f)
	})
}

// announcePods lets pods of three classes come at random times, the same in every
// world. One uses more than it requests, one less, one almost nothing.
func (w *world) announcePods() {
	r := rand.New(rand.NewPCG(2030, 1))
	for i := range pods {
		kind := []struct {
			name string
			part float64
		}{{"search", 1.9}, {"api", 0.7}, {"report", 0.1}}[r.IntN(3)]
		pod := api.MakePod(fmt.Sprintf("%s-%03d", kind.name, i)).UID(api.UID(fmt.Sprint("uid-", i))).Requests("1", "2Gi").Obj()
		w.apps[pod.UID] = app{kind.part * (0.8 + 0.4*r.Float64()), 20*time.Minute + time.Duration(r.Int64N(int64(50*time.Minute)))}
		w.clock.AfterFunc(time.Duration(r.Int64N(int64(length))), func() { w.arrive(pod) })
	}
}

func (w *world) arrive(p *api.Pod) {
	w.snapshot.SetNow(w.clock.Now())
	info, err := w.snapshot.NewPodInfo(p)
	w.fail(err)
	w.waiting = append(w.waiting, info)
	w.place()
}

func (w *world) fail(err error) { w.err = errors.Join(w.err, err) }

// place tries all waiting pods.
func (w *world) place() {
	still := w.waiting[:0]
	for _, p := range w.waiting {
		d, err := w.scheduler.Place(w.snapshot, p)
		var none *scheduling.FitError
		if errors.As(err, &none) {
			still = append(still, p)
			continue
		}
		if err != nil {
			w.fail(err)
			return
		}
		w.begin(p, d.Node)
	}
	w.waiting = still
}

func (w *world) begin(p *framework.PodInfo, node string) {
	var i int
	_, err := fmt.Sscanf(node, "node-%d", &i)
	w.fail(err)
	w.running = append(w.running, running{p, i})
	w.placed++
	if w.load.View(w.snapshot).Expired(w.snapshot.Node(node)) {
		w.blind++
	}
	w.clock.AfterFunc(w.apps[p.Pod.UID].life, func() { w.leave(p) })
}

func (w *world) leave(p *framework.PodInfo) {
	for k, r := range w.running {
		if r.pod == p {
			w.fail(w.snapshot.RemovePod(p, nodeName(r.node)))
			w.running = append(w.running[:k], w.running[k+1:]...)
			return
		}
	}
}
