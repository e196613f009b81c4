package rival

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/api/scheduling/v1alpha3"
	schedulingapi "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"

	"github.com/berth-sched/berth/internal/proof/golden"
)

// The parts of the group cycle that kube-scheduler does not export.

//go:linkname reconcilePodGroup k8s.io/kubernetes/pkg/scheduler.(*Scheduler).reconcilePodGroupWithSnapshot
func reconcilePodGroup(s *scheduler.Scheduler, g *framework.PodGroupInfo) error

//go:linkname validatePodGroup k8s.io/kubernetes/pkg/scheduler.(*Scheduler).validatePodGroup
func validatePodGroup(s *scheduler.Scheduler, g *framework.QueuedPodGroupInfo) error

//go:linkname defaultAlgorithm k8s.io/kubernetes/pkg/scheduler.(*Scheduler).podGroupSchedulingDefaultAlgorithm
func defaultAlgorithm(s *scheduler.Scheduler, ctx context.Context, f framework.Framework, state *framework.CycleState, g *framework.PodGroupInfo, q *framework.QueuedPodGroupInfo) (*groupResult, []func())

// groupResult and podResult have the layout of kube-scheduler's podGroupAlgorithmResult
// and algorithmResult.
type groupResult struct {
	group   *framework.PodGroupInfo
	pods    []podResult
	status  *fwk.Status
	waiting bool
	state   fwk.PlacementCycleState
	any     bool
}

type podResult struct {
	info     *framework.QueuedPodInfo
	result   scheduler.ScheduleResult
	ctx      unsafe.Pointer
	duration time.Duration
	status   *fwk.Status
}

// groupWorld is one kube-scheduler with the cluster of a case.
type groupWorld struct {
	*Scheduler
	mu       sync.Mutex
	binds    map[string]string
	failures map[string]golden.PodGroupPodLeft
	patches  []golden.PodGroupCondition
	groups   map[string]golden.PodGroupCondition // the last of each group
	evicted  evictor
}

// newGroupWorld builds a kube-scheduler and fills it: nodes, pods on nodes, groups, and
// the pending pods in order.
func newGroupWorld(ctx context.Context, c *golden.PodGroupCase) (*groupWorld, error) {
	logger := logr.Discard()
	klog.SetLogger(logger)
	ctx = klog.NewContext(ctx, logger)
	config, err := Options{Config: string(c.Config), Percentage: 100, Parallelism: 1}.load()
	if err != nil {
		return nil, err
	}
	w := &groupWorld{binds: map[string]string{}, failures: map[string]golden.PodGroupPodLeft{}, groups: map[string]golden.PodGroupCondition{}}
	client := fake.NewSimpleClientset()
	client.PrependReactor("*", "*", w.react)
	snapshot, known := cache.NewEmptySnapshot(), newFactory()
	sched, err := scheduler.New(ctx, client, known, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithComponentConfigVersion(config.APIVersion),
		scheduler.WithProfiles(config.Profiles...),
		scheduler.WithPercentageOfNodesToScore(config.PercentageOfNodesToScore),
		scheduler.WithParallelism(config.Parallelism),
		scheduler.WithNodeInfoSnapshot(snapshot),
	)
	if err != nil {
		return nil, err
	}
	w.Scheduler = &Scheduler{ctx: ctx, logger: logger, sched: sched, snapshot: snapshot, known: known, pods: known.of(&v1.Pod{})}
	sched.FailureHandler = w.fail
	for _, f := range sched.Profiles {
		if p, ok := plugins(f)["DefaultPreemption"].(*defaultpreemption.DefaultPreemption); ok {
			w.evicted.takeOver(p)
		}
	}
	var list []runtime.Object
	if err := cmp.Or(
		convert[v1.Node](&list, c.Nodes), convert[v1.Pod](&list, c.Pods), convert[policy.PodDisruptionBudget](&list, c.PodDisruptionBudgets),
		convert[v1alpha3.CompositePodGroup](&list, c.CompositePodGroups), convert[schedulingapi.PodGroup](&list, c.PodGroups), convert[v1.Pod](&list, c.Members),
	); err != nil {
		return nil, err
	}
	for _, object := range list {
		if err := known.put(object); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// react records what the scheduler writes.
func (w *groupWorld) react(action clienttesting.Action) (bool, runtime.Object, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch a := action.(type) {
	case clienttesting.CreateAction:
		if b, ok := a.GetObject().(*v1.Binding); ok {
			w.binds[b.Name] = b.Target.Name
		}
	case clienttesting.PatchAction:
		if a.GetResource().Resource != "podgroups" {
			break
		}
		var patch struct {
			Status struct {
				Conditions []golden.PodGroupCondition `json:"conditions"`
			} `json:"status"`
		}
		if json.Unmarshal(a.GetPatch(), &patch) == nil {
			w.patches = append(w.patches, patch.Status.Conditions...)
			for _, condition := range patch.Status.Conditions {
				w.groups[a.GetName()] = condition
			}
		}
		return true, &schedulingapi.PodGroup{}, nil
	}
	return true, &v1.Pod{}, nil
}

// fail records why a pod was not placed, in place of kube-scheduler's own handler.
func (w *groupWorld) fail(_ context.Context, _ framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, _ time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := golden.PodGroupPodLeft{Reason: "SchedulerError", Message: status.Message()}
	if status.IsRejected() {
		left.Reason = "Unschedulable"
	}
	if nominating != nil {
		left.Nominated = nominating.NominatedNodeName
	}
	w.failures[info.Pod.Name] = left
}

// next returns the group that is ready, nil if it is gated.
func (w *groupWorld) next() (*framework.QueuedPodGroupInfo, error) {
	if len(w.sched.SchedulingQueue.PodsInActiveQ()) == 0 {
		return nil, nil
	}
	entity, err := w.sched.NextEntity(w.logger)
	if err != nil {
		return nil, err
	}
	group, ok := entity.(*framework.QueuedPodGroupInfo)
	if !ok {
		return nil, fmt.Errorf("the queue gives out a %T, want a group", entity)
	}
	return group, nil
}

// Group records kube-scheduler's answers to a case: every placement alone, and how whole
// attempts end, in a number of runs. A gated group has none.
func Group(c *golden.PodGroupCase, runs int) error {
	c.Expect = golden.PodGroupExpect{}
	gated, err := placements(c)
	if err != nil || gated {
		return err
	}
	return finals(c, runs)
}

// GroupEnds records how whole attempts end, in a number of runs. A gated tree has none.
func GroupEnds(c *golden.PodGroupCase, runs int) error {
	c.Expect = golden.PodGroupExpect{}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	w, err := newGroupWorld(ctx, c)
	if err != nil {
		return err
	}
	if c.Expect.NodeOrder, err = w.NodeOrder(); err != nil {
		return err
	}
	if len(w.sched.SchedulingQueue.PodsInActiveQ()) == 0 {
		c.Expect.Gated = "gated"
		return nil
	}
	return finals(c, runs)
}

func finals(c *golden.PodGroupCase, runs int) error {
	for range runs {
		f, err := final(c)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(c.Expect.Finals, func(g golden.PodGroupFinal) bool {
			g.Times = 0
			return equal(g, f)
		})
		if i < 0 {
			i = len(c.Expect.Finals)
			c.Expect.Finals = append(c.Expect.Finals, f)
		}
		c.Expect.Finals[i].Times++
	}
	return nil
}

func equal(a, b golden.PodGroupFinal) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// placements tries every placement alone on one snapshot.
func placements(c *golden.PodGroupCase) (gated bool, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	w, err := newGroupWorld(ctx, c)
	if err != nil {
		return false, err
	}
	if c.Expect.NodeOrder, err = w.NodeOrder(); err != nil {
		return false, err
	}
	group, err := w.next()
	if err != nil {
		return false, err
	}
	if group == nil {
		c.Expect.Gated = "gated"
		return true, nil
	}
	group.ForEachPodInfo(func(p *framework.QueuedPodInfo) bool {
		c.Expect.Order = append(c.Expect.Order, p.Pod.Name)
		return true
	})
	if err := reconcilePodGroup(w.sched, group.PodGroupInfo); err != nil {
		return false, err
	}
	if validatePodGroup(w.sched, group) != nil {
		return false, nil // the ends of attempts have the text
	}
	var profile framework.Framework
	group.ForEachPodInfo(func(p *framework.QueuedPodInfo) bool {
		profile = w.sched.Profiles[p.Pod.Spec.SchedulerName]
		return false
	})
	nodes, err := w.snapshot.ListNodesInPlacement()
	if err != nil {
		return false, err
	}
	state := framework.NewCycleState()
	list := []*fwk.Placement{nil}
	if c.Gates["TopologyAwareWorkloadScheduling"] {
		generated, status := profile.RunPlacementGeneratePlugins(ctx, state, group.PodGroupInfo, nodes)
		if !status.IsSuccess() {
			c.Expect.Generate = &golden.Status{Code: status.Code().String(), Reasons: status.Reasons()}
			if status.Code() == fwk.Error {
				c.Expect.Generate.Reasons = []string{status.AsError().Error()}
			}
			return false, nil
		}
		list = generated
	}
	var assignments []*fwk.PodGroupAssignments
	var states []fwk.PlacementCycleState
	for _, p := range list {
		if p != nil {
			if err := w.snapshot.AssumePlacement(p); err != nil {
				return false, err
			}
		}
		own := framework.NewCycleState()
		own.SetPodGroupSchedulingCycle(state)
		result, revert := defaultAlgorithm(w.sched, ctx, profile, own, group.PodGroupInfo, group)
		for i := len(revert) - 1; i >= 0; i-- {
			if revert[i] != nil {
				revert[i]()
			}
		}
		w.snapshot.ForgetPlacement()
		out := golden.PodGroupPlacement{Status: golden.Status{Code: result.status.Code().String()}}
		if result.status != nil {
			out.Status.Reasons = result.status.Reasons()
		}
		if p != nil {
			out.Name = p.Name
			for _, n := range p.Nodes {
				out.Nodes = append(out.Nodes, n.Node().Name)
			}
		}
		for _, pod := range result.pods {
			try := golden.PodGroupTry{Pod: pod.info.Pod.Name}
			if pod.status.IsSuccess() {
				try.Node = pod.result.SuggestedHost
			} else {
				try.Code, try.Text = pod.status.Code().String(), pod.status.AsError().Error()
			}
			out.Pods = append(out.Pods, try)
		}
		c.Expect.Placements = append(c.Expect.Placements, out)
		if result.status.IsSuccess() {
			a := &fwk.PodGroupAssignments{Placement: p}
			for i := range result.pods {
				if result.pods[i].status.IsSuccess() {
					a.ProposedAssignments = append(a.ProposedAssignments, proposed{&result.pods[i]})
				}
			}
			assignments, states = append(assignments, a), append(states, own)
		}
	}
	switch {
	case len(assignments) == 1 && assignments[0].Placement != nil:
		c.Expect.Best = []string{assignments[0].Name}
	case len(assignments) == 1:
		c.Expect.Best = []string{""}
	case len(assignments) > 1:
		scores, status := profile.RunPlacementScorePlugins(ctx, state, group.PodGroupInfo, assignments, states)
		if !status.IsSuccess() {
			return false, status.AsError()
		}
		largest := slices.MaxFunc(scores, func(a, b fwk.PlacementPluginScores) int { return cmp.Compare(a.TotalScore, b.TotalScore) }).TotalScore
		for _, s := range scores {
			i := slices.IndexFunc(c.Expect.Placements, func(p golden.PodGroupPlacement) bool { return p.Name == s.Placement.Name })
			at := &c.Expect.Placements[i]
			at.Total, at.Scores = s.TotalScore, map[string]int64{}
			for _, x := range s.Scores {
				at.Scores[x.Name] = x.Score
			}
			if s.TotalScore == largest {
				c.Expect.Best = append(c.Expect.Best, s.Placement.Name)
			}
		}
	}
	slices.SortFunc(c.Expect.Placements, func(a, b golden.PodGroupPlacement) int { return cmp.Compare(a.Name, b.Name) })
	return false, nil
}

// proposed is a pod of a trial, as scorers see it.
type proposed struct{ r *podResult }

func (p proposed) GetPod() *v1.Pod               { return p.r.info.Pod }
func (p proposed) GetPodInfo() fwk.PodInfo       { return p.r.info }
func (p proposed) GetNodeName() string           { return p.r.result.SuggestedHost }
func (p proposed) GetCycleState() fwk.CycleState { return nil }

// final makes a whole attempt in a fresh world, up to the bindings.
func final(c *golden.PodGroupCase) (f golden.PodGroupFinal, err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	w, err := newGroupWorld(ctx, c)
	if err != nil {
		return f, err
	}
	w.sched.ScheduleOne(w.ctx)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(200 * time.Microsecond) {
		w.mu.Lock()
		done := len(w.binds)+len(w.failures) >= len(c.Members)
		w.mu.Unlock()
		if done {
			break
		}
		if time.Now().After(deadline) {
			return f, fmt.Errorf("case %s: %d pods bound and %d failed of %d", c.ID, len(w.binds), len(w.failures), len(c.Members))
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f.Pods = map[string]golden.PodGroupPodLeft{}
	for name, node := range w.binds {
		f.Pods[name] = golden.PodGroupPodLeft{Node: node}
	}
	for name, left := range w.failures {
		f.Pods[name] = left
	}
	for _, key := range w.evicted.keys {
		f.Victims = append(f.Victims, key[len("default/"):])
	}
	slices.Sort(f.Victims)
	if len(c.CompositePodGroups) > 0 {
		f.Groups = w.groups
	}
	if n := len(w.patches); n > 0 {
		f.Condition = &w.patches[n-1]
	}
	return f, nil
}
