package podgroups

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/golden/pipeline"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

// Check compares a case and returns one line for each difference.
func Check(c *golden.PodGroupCase) []string {
	k := &checker{PodGroupCase: c}
	if err := k.prepare(); err != nil {
		return []string{err.Error()}
	}
	k.check()
	return k.differences
}

type checker struct {
	*golden.PodGroupCase
	snapshot    *framework.Snapshot
	profile     scheduling.Profile
	rules       gang.Rules
	object      *api.PodGroup
	pods        []*framework.PodInfo // in the order of arrival
	present     []gang.Member        // on nodes, in the order at hand; nil: the snapshot's
	differences []string
}

func (k *checker) differ(format string, args ...any) {
	k.differences = append(k.differences, fmt.Sprintf(format, args...))
}

func (k *checker) compare(what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		k.differ("%s = %v, want %v", what, got, want)
	}
}

// prepare makes the snapshot, the profile and the rules.
func (k *checker) prepare() error {
	base := golden.Case{Nodes: k.Nodes, Pods: k.Pods, PodDisruptionBudgets: k.PodDisruptionBudgets}
	var err error
	if k.snapshot, err = base.Snapshot(); err != nil {
		return err
	}
	for _, g := range k.PodGroups {
		if err := framework.Put(k.snapshot, g); err != nil {
			return err
		}
		if g.Name == k.Group {
			k.object = g
		}
	}
	if k.profile, _, err = pipeline.Profile(k.Config); err != nil {
		return err
	}
	k.profile.Cache.Verify = true
	k.profile.PostFilter = scheduling.Kubernetes137().PostFilter
	for _, p := range k.Members {
		pod, err := k.snapshot.NewPodInfo(p)
		if err != nil {
			return err
		}
		k.pods = append(k.pods, pod)
	}
	k.rules = gang.Rules{NoTopology: !k.Gates["TopologyAwareWorkloadScheduling"]}
	k.rules.Scores, err = Scores(k.Config)
	return err
}

func (k *checker) check() {
	var order []string
	for _, n := range k.snapshot.All() {
		order = append(order, n.Name())
	}
	k.compare("node order", order, k.Expect.NodeOrder)
	if k.checkGate(); k.Expect.Gated != "" {
		return
	}
	waiting := make([]gang.Waiting, len(k.pods))
	for i, p := range k.pods {
		waiting[i] = gang.Waiting{Pod: p, Since: p.Pod.CreationTimestamp.AddDate(i, 0, 0)} // in the order of arrival
	}
	slices.SortStableFunc(waiting, gang.CompareWaiting)
	k.pods = k.pods[:0]
	var names []string
	for _, w := range waiting {
		k.pods = append(k.pods, w.Pod)
		names = append(names, w.Pod.Pod.Name)
	}
	k.compare("order", names, k.Expect.Order)
	before := k.generations()
	k.anyOrder(k.checkTrials)
	k.compare("generations after Try", k.generations(), before)
	k.anyOrder(func() {
		mark := k.snapshot.Begin()
		defer k.snapshot.Rollback(mark)
		k.checkAttempt()
	})
}

func (k *checker) generations() (list []uint64) {
	for _, n := range k.snapshot.All() {
		list = append(list, n.Generation())
	}
	return list
}

// checkGate compares the first pod that may not enter the queue.
func (k *checker) checkGate() {
	known := len(k.pods)
	for _, n := range k.snapshot.All() {
		for _, p := range n.Pods {
			if p.Pod.SchedulingGroupName() == k.Group {
				known++
			}
		}
	}
	got := ""
	for _, p := range k.pods {
		if len(p.Pod.Spec.SchedulingGates) > 0 {
			status := scheduling.SchedulingGates{}.PreEnqueue(context.Background(), p)
			got = "SchedulingGates: " + status.Message()
			break
		}
		if status := gang.PreEnqueue(k.Group, k.object, known); !status.IsSuccess() {
			got = gang.PluginName + ": " + status.Message()
			break
		}
	}
	if k.Expect.Gated == "gated" && got != "" {
		return // a live case does not say why
	}
	k.compare("gate", got, k.Expect.Gated)
}

func (k *checker) placer(detailed bool) *gang.Placer {
	sched, err := scheduling.New(k.profile)
	if err != nil {
		panic(err)
	}
	rules := k.rules
	rules.Detailed = detailed
	p, err := gang.New(sched, rules)
	if err != nil {
		panic(err)
	}
	return p
}

func (k *checker) group() *gang.Group {
	g := gang.GroupOf(k.snapshot, k.object, k.pods)
	if k.present == nil {
		k.present = g.Present
	}
	g.Present = slices.Clone(k.present)
	return g
}

// anyOrder compares for every order of the members on nodes, of up to four, until one
// leaves no difference: kube-scheduler keeps them in a map.
func (k *checker) anyOrder(compare func()) {
	k.group()
	before := len(k.differences)
	compare()
	first := k.differences
	given := k.present
	permute(given, func(order []gang.Member) bool {
		if len(k.differences) == before {
			return false
		}
		k.present, k.differences = order, first[:before:before]
		compare()
		return true
	})
	if k.present = given; len(k.differences) > before {
		k.differences = first
	}
}

// permute calls f with the orders of a list of up to four, until it returns false.
func permute(list []gang.Member, f func([]gang.Member) bool) {
	if len(list) > 4 || len(list) < 2 {
		return
	}
	var from func(done, rest []gang.Member) bool
	from = func(done, rest []gang.Member) bool {
		if len(rest) == 0 {
			return f(slices.Clone(done))
		}
		for i := range rest {
			if !from(append(slices.Clone(done), rest[i]), slices.Concat(rest[:i], rest[i+1:])) {
				return false
			}
		}
		return true
	}
	from(nil, list)
}
