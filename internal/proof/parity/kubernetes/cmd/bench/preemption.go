package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/rival"
	kubeworkload "github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/preemption"
)

// preemptionName is the workload of pods that fit nowhere: every node is full of
// pods of lower priority.
const preemptionName = "preemption"

// lowPods is how many pods of low priority each node has.
const lowPods = 10

// lowPod returns pod k of node i. All pods have different start times, so one node
// is the best for preemption.
func lowPod(i, k int) *api.Pod {
	number := lowPods*i + k
	p := api.MakePod(fmt.Sprintf("low-%06d", number)).Requests("400m", "500Mi").Labels("app", "low").Priority(int32((7*i + 3*k) % 5))
	started := time.Unix(1_700_000_000+int64(number)*7919%1_000_003, 0).UTC()
	return p.UID(api.UID(fmt.Sprintf("uid-low-%06d", number))).Started(started).Node(workload.NodeName(i)).Obj()
}

// highPod returns pod i of high priority. It needs the space of four others.
func highPod(i int) *api.Pod {
	name := fmt.Sprintf("high-%06d", i)
	return api.MakePod(name).UID(api.UID("uid-"+name)).Requests("1500m", "500Mi").Labels("app", "high").Priority(1000).Scheduler("default-scheduler").Obj()
}

// allCandidates makes kube-scheduler try every node, so that its answer does not
// depend on the random place where it begins.
const allCandidates = `{
  "apiVersion": "kubescheduler.config.k8s.io/v1",
  "kind": "KubeSchedulerConfiguration",
  "profiles": [{
    "pluginConfig": [{
      "name": "DefaultPreemption",
      "args": {"minCandidateNodesPercentage": 100}
    }]
  }]
}`

// attempt is the outcome of preemption for one pod, and how long it took.
type attempt struct {
	node               string
	victims            []string // most important first
	search, preemption time.Duration
}

// A preemptor makes room for one pod after the other.
type preemptor interface {
	// attempt searches for a node for pod i, which fails, and then for victims.
	// Evicting these and placing the pod is not timed.
	attempt(i int) (attempt, error)
}

// kubePreemptor is the original.
type kubePreemptor struct {
	s   *rival.Scheduler
	end context.CancelFunc
}

func newKubePreemptor(nodes int, o rival.Options) (*kubePreemptor, error) {
	ctx, end := context.WithCancel(context.Background())
	s, err := rival.New(ctx, o)
	k := &kubePreemptor{s, end}
	if err == nil {
		err = k.fill(nodes)
	}
	if err != nil {
		end()
	}
	return k, err
}

func (k *kubePreemptor) fill(nodes int) error {
	for i := range nodes {
		n, err := kubeworkload.Node(i)
		if err != nil {
			return err
		}
		k.s.AddNode(n)
		for j := range lowPods {
			p, err := kubeworkload.Convert[v1.Pod](lowPod(i, j))
			if err == nil {
				err = k.s.AddPod(p)
			}
			if err != nil {
				return err
			}
		}
	}
	_, err := k.s.NodeOrder() // copies the whole cluster, outside of every attempt
	return err
}

func (k *kubePreemptor) attempt(i int) (attempt, error) {
	pod, err := kubeworkload.Convert[v1.Pod](highPod(i))
	if err != nil {
		return attempt{}, err
	}
	pending, err := k.s.Prepare(pod)
	if err != nil {
		return attempt{}, err
	}
	p, err := k.s.Preempt(pending)
	if err != nil {
		return attempt{}, err
	}
	a := attempt{node: p.Node, search: p.Search, preemption: p.Preemption}
	for _, v := range p.Victims {
		a.victims = append(a.victims, v.Name)
		if err := k.s.RemovePod(v); err != nil {
			return a, err
		}
	}
	placed := pod.DeepCopy()
	placed.Spec.NodeName = p.Node
	return a, k.s.AddPod(placed)
}

// berthPreemptor uses berth.
type berthPreemptor struct {
	snap  *framework.Snapshot
	sched *scheduling.Scheduler
}

func newBerthPreemptor(nodes int, plugin preemption.DefaultPreemption, seed uint64) (*berthPreemptor, error) {
	p := scheduling.Kubernetes137()
	p.PostFilter, p.Seed = []framework.Plugin{plugin}, seed
	sched, err := scheduling.New(p)
	if err != nil {
		return nil, err
	}
	b := &berthPreemptor{framework.NewSnapshot(framework.ZoneInterleaved), sched}
	for i := range nodes {
		if err := b.snap.AddNode(workload.Node(i)); err != nil {
			return nil, err
		}
		for j := range lowPods {
			p := lowPod(i, j)
			info, err := b.snap.NewPodInfo(p)
			if err == nil {
				err = b.snap.AddPod(info, p.Spec.NodeName)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

func (b *berthPreemptor) attempt(i int) (attempt, error) {
	pod, err := b.snap.NewPodInfo(highPod(i))
	if err != nil {
		return attempt{}, err
	}
	start := time.Now()
	d, err := b.sched.Schedule(b.snap, pod)
	searched := time.Now()
	var fit *scheduling.FitError
	if !errors.As(err, &fit) {
		return attempt{}, fmt.Errorf("pod %d: %s (%v), want no node to fit", i, d.Node, err)
	}
	result, _, status, err := b.sched.PostFilter(context.Background(), b.snap, pod, d)
	a := attempt{node: result.Nominated, search: searched.Sub(start), preemption: time.Since(searched)}
	if err != nil || !status.IsSuccess() {
		return a, fmt.Errorf("pod %d: %v (%w)", i, status, err)
	}
	for _, v := range result.Victims {
		a.victims = append(a.victims, v.Pod.Pod.Name)
		if err := b.snap.RemovePod(v.Pod, a.node); err != nil {
			return a, err
		}
	}
	return a, b.snap.AddPod(pod, a.node)
}

// A preemptionLine is the command's result for preemption.
type preemptionLine struct {
	Workload string `json:"workload"`
	Nodes    int    `json:"nodes"`
	Pods     int    `json:"low_priority_pods"`

	KubeSearch  time.Duration `json:"kube_search_ns"`
	KubePost    time.Duration `json:"kube_preemption_ns"`
	BerthSearch time.Duration `json:"berth_search_ns"`
	BerthPost   time.Duration `json:"berth_preemption_ns"`
	KubeFirst   time.Duration `json:"kube_first_attempt_ns"`
	BerthFirst  time.Duration `json:"berth_first_attempt_ns"` // when nothing of the class is cached
	Attempts    int           `json:"attempts"`

	RatioPost    float64 `json:"ratio_preemption"`
	RatioAttempt float64 `json:"ratio_attempt"`

	Compared  int `json:"compared_choices"`
	Differing int `json:"differing_choices"`
}

// warmAttempts is how many attempts each side makes before the clock starts: by then
// berth knows most nodes. The first of them is shown separately.
const warmAttempts = 40

// leastAttempts is how many attempts are timed regardless of the budget.
const leastAttempts = 5

// preempt measures preemption on both sides and compares choices.
func (b bench) preempt() (preemptionLine, error) {
	l := preemptionLine{Workload: preemptionName, Nodes: b.nodes, Pods: lowPods * b.nodes}
	kube, err := newKubePreemptor(b.nodes, rival.Options{})
	if err != nil {
		return l, err
	}
	defer kube.end()
	ours, err := newBerthPreemptor(b.nodes, preemption.DefaultPreemption{}, b.seed)
	if err != nil {
		return l, err
	}
	if err := b.inTurn(&l, kube, ours); err != nil {
		return l, err
	}
	l.RatioPost = float64(l.KubePost) / float64(l.BerthPost)
	l.RatioAttempt = float64(l.KubeSearch+l.KubePost) / float64(l.BerthSearch+l.BerthPost)
	return l, b.sameVictims(&l)
}

// inTurn alternates attempts between both sides, so that any other load of the
// machine affects both.
func (b bench) inTurn(l *preemptionLine, kube, ours preemptor) error {
	sides := []preemptor{kube, ours}
	for i := range min(warmAttempts, b.nodes) {
		for side, p := range sides {
			a, err := p.attempt(b.nodes + i)
			if err != nil {
				return err
			}
			if i == 0 {
				*[]*time.Duration{&l.KubeFirst, &l.BerthFirst}[side] = a.search + a.preemption
			}
		}
	}
	runtime.GC()
	var times [4][]time.Duration
	var took time.Duration
	for i := 0; i < leastAttempts || took < b.budget && i < b.nodes; i++ {
		for side, p := range sides {
			a, err := p.attempt(i)
			if err != nil {
				return err
			}
			times[2*side], times[2*side+1] = append(times[2*side], a.search), append(times[2*side+1], a.preemption)
			took += a.search + a.preemption
		}
	}
	l.Attempts = len(times[0])
	for i, median := range []*time.Duration{&l.KubeSearch, &l.KubePost, &l.BerthSearch, &l.BerthPost} {
		slices.Sort(times[i])
		*median = times[i][len(times[i])/2]
	}
	return nil
}

// sameVictims counts the attempts with different choices, with every node tried.
func (b bench) sameVictims(l *preemptionLine) error {
	kube, err := newKubePreemptor(b.nodes, rival.Options{Config: allCandidates, Parallelism: 1})
	if err != nil {
		return err
	}
	defer kube.end()
	ours, err := newBerthPreemptor(b.nodes, preemption.DefaultPreemption{MinCandidateNodesPercentage: new(int32(100))}, b.seed)
	if err != nil {
		return err
	}
	for i := range min(b.compare, 10) {
		want, err := kube.attempt(i)
		if err != nil {
			return err
		}
		got, err := ours.attempt(i)
		if err != nil {
			return err
		}
		l.Compared++
		if got.node != want.node || !slices.Equal(got.victims, want.victims) {
			l.Differing++
			fmt.Fprintf(b.stderr, "%s: pod %d: berth evicts %v on %s, kube-scheduler %v on %s\n",
				preemptionName, i, got.victims, got.node, want.victims, want.node)
			break // from here on the clusters differ
		}
	}
	return nil
}

// writePreemption prints the line, as a table or as JSON.
func (b bench) writePreemption(w io.Writer, l preemptionLine) error {
	if b.json {
		return json.NewEncoder(w).Encode(l)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "workload\tnodes\tpods\tattempts\tkube first\tkube search\tkube preemption\tberth first\tberth search\tberth preemption\tpreemption\tattempt\tdiffer\t")
	round := func(d time.Duration) time.Duration { return d.Round(time.Microsecond) }
	fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%v\t%v\t%v\t%v\t%v\t%v\t%.0fx\t%.0fx\t%d of %d\t\n", l.Workload, l.Nodes, l.Pods, l.Attempts,
		round(l.KubeFirst), round(l.KubeSearch), round(l.KubePost), round(l.BerthFirst), round(l.BerthSearch), round(l.BerthPost), l.RatioPost, l.RatioAttempt, l.Differing, l.Compared)
	return t.Flush()
}
