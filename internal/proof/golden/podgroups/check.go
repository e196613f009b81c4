package podgroups

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/golden/pipeline"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scoring"
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

// Scores returns the placement scores of a configuration's first profile, with the gate
// TopologyAwareWorkloadScheduling on: it adds two plugins to multiPoint.
func Scores(raw json.RawMessage) ([]gang.WeightedScore, error) {
	if raw == nil {
		return nil, nil
	}
	var document map[string]any
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, err
	}
	profile := document["profiles"].([]any)[0].(map[string]any)
	plugins, _ := profile["plugins"].(map[string]any)
	if plugins == nil {
		plugins = map[string]any{}
		profile["plugins"] = plugins
	}
	plugins["multiPoint"] = map[string]any{"enabled": []any{
		map[string]any{"name": "TopologyPlacementGenerator"}, map[string]any{"name": "PodGroupPodsCount"},
	}}
	with, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	loaded, err := config.Load(with, config.LoadConfig{})
	if err != nil {
		return nil, err
	}
	effective := loaded.Effective().Profiles[0]
	list := []gang.WeightedScore{}
	for _, p := range effective.Plugins[config.PlacementScore] {
		w := gang.WeightedScore{Weight: int64(p.Weight)}
		switch p.Name {
		case "PodGroupPodsCount":
			w.Scorer = gang.PodGroupPodsCount{}
		case "NodeResourcesFit":
			fit := gang.NodeResourcesFit{}
			for _, c := range effective.PluginConfig {
				if c.Name != p.Name || c.Args == nil {
					continue
				}
				if fit.Resources, err = resourcesOf(c.Args); err != nil {
					return nil, err
				}
			}
			w.Scorer = fit
		default:
			return nil, fmt.Errorf("placementScore: plugin %s is not known", p.Name)
		}
		list = append(list, w)
	}
	return list, nil
}

func resourcesOf(args any) ([]scoring.ResourceSpec, error) {
	text, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	var decoded struct {
		ScoringStrategy struct {
			Resources []scoring.ResourceSpec `json:"resources"`
		} `json:"scoringStrategy"`
	}
	err = json.Unmarshal(text, &decoded)
	return decoded.ScoringStrategy.Resources, err
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

// checkTrials compares every placement, and which are best.
func (k *checker) checkTrials() {
	if k.Expect.Placements == nil && k.Expect.Generate == nil {
		return // refused before any placement
	}
	detailed, err := k.placer(true).Try(k.snapshot, k.group())
	var invalid *api.InvalidError
	if errors.As(err, &invalid) {
		return // malformed for the pure call: checkAttempt compares it
	}
	if err != nil {
		k.differ("Try: %v", err)
		return
	}
	if want := k.Expect.Generate; want != nil {
		k.compareGenerated(detailed, want)
		return
	}
	var best []string
	var total int64 = -1
	got := map[string]*gang.Trial{}
	for _, t := range detailed.Trials {
		got[t.Name()] = t
		switch {
		case !t.Succeeded:
		case t.Total > total:
			best, total = []string{t.Name()}, t.Total
		case t.Total == total:
			best = append(best, t.Name())
		}
	}
	k.compare("number of placements", len(detailed.Trials), len(k.Expect.Placements))
	for i := range k.Expect.Placements {
		want := &k.Expect.Placements[i]
		if t := got[want.Name]; t != nil {
			k.compareTrial(t, want)
		} else {
			k.differ("placement %q is missing", want.Name)
		}
	}
	slices.Sort(best)
	wanted := slices.Sorted(slices.Values(k.Expect.Best))
	if len(best)+len(wanted) > 0 {
		k.compare("best placements", best, wanted)
	}
	k.compareCounted(detailed)
}

// compareCounted compares what counts say with what trials pod by pod said.
func (k *checker) compareCounted(detailed *gang.Outcome) {
	counted, err := k.placer(false).Try(k.snapshot, k.group())
	if err != nil {
		k.differ("Try by counts: %v", err)
		return
	}
	k.compare("status by counts", counted.Status, detailed.Status)
	k.compare("text by counts", counted.Text, detailed.Text)
	k.compare("placed by counts", fmt.Sprint(counted.Placed), fmt.Sprint(detailed.Placed))
	for i, t := range counted.Trials {
		d := detailed.Trials[i]
		k.compare("scores by counts of "+t.Name(), t.Scores, d.Scores)
		k.compare("success by counts of "+t.Name(), t.Succeeded, d.Succeeded)
		k.compare("pods by counts of "+t.Name(), t.Pods, d.Pods)
	}
}

func (k *checker) compareGenerated(got *gang.Outcome, want *golden.Status) {
	code := "Unschedulable"
	if got.Status == gang.Stuck {
		code = "Error"
	}
	k.compare("generated: code", code, want.Code)
	if len(want.Reasons) == 1 && sorted(got.Text) != sorted(want.Reasons[0]) {
		k.differ("generated: %q, want %q", got.Text, want.Reasons[0])
	}
}

var twoDomains = regexp.MustCompile(`(more than 1 domain found for pod group: )(.*), (.*)$`)

// sorted sorts the two values in a text, whose order is arbitrary.
func sorted(text string) string {
	m := twoDomains.FindStringSubmatch(text)
	if m == nil || m[2] <= m[3] {
		return text
	}
	return twoDomains.ReplaceAllString(text, "${1}${3}, ${2}")
}

func (k *checker) compareTrial(t *gang.Trial, want *golden.PodGroupPlacement) {
	what := "placement " + want.Name + ": "
	k.compare(what+"success", t.Succeeded, want.Status.Code == "Success")
	if len(want.Status.Reasons) > 0 {
		k.compare(what+"text", t.Text, want.Status.Reasons[0])
	}
	if want.Nodes != nil {
		k.compare(what+"nodes", t.Nodes, len(want.Nodes))
	}
	got := map[string]golden.PodGroupTry{}
	for _, p := range t.Placed {
		name := k.pods[p.Index()].Pod.Name
		got[name] = golden.PodGroupTry{Pod: name, Node: p.Node}
	}
	for _, l := range t.Left {
		name := k.pods[l.Index()].Pod.Name
		got[name] = golden.PodGroupTry{Pod: name, Text: l.Err.Error()}
	}
	for _, w := range want.Pods {
		w.Code = ""
		k.compare(what+"pod "+w.Pod, got[w.Pod], w)
		delete(got, w.Pod)
	}
	for _, g := range got {
		k.differ(what+"pod %s = %v, want none", g.Pod, g)
	}
	if want.Scores == nil {
		return
	}
	scores := map[string]int64{}
	for _, s := range t.Scores {
		scores[s.Plugin] = s.Weighted
	}
	k.compare(what+"scores", scores, want.Scores)
	k.compare(what+"total", t.Total, want.Total)
}

// checkAttempt compares a whole attempt with the ends that were seen.
func (k *checker) checkAttempt() {
	before := k.generations()
	c, err := k.placer(false).Attempt(k.snapshot, k.group())
	if err != nil {
		k.differ("Attempt: %v", err)
		return
	}
	got := final(c)
	if got.Condition.Status == "False" {
		k.compare("generations after a failed Attempt", k.generations(), before)
	}
	var closest []string
	for _, lax := range []bool{false, true} {
		if lax && !k.mayDiffer(got) {
			break
		}
		for _, want := range k.Expect.Finals {
			want.Times = 0
			if lax {
				want = masked(want)
			}
			mine := got
			if lax {
				mine = masked(got)
			}
			d := differences(mine, want)
			if len(d) == 0 {
				return
			}
			if closest == nil || len(d) < len(closest) {
				closest = d
			}
		}
	}
	k.differ("final: %v", closest)
}

// mayDiffer reports whether the original reports an arbitrary placement: then texts with
// the numbers and pods of a placement may be those of another one.
func (k *checker) mayDiffer(got golden.PodGroupFinal) bool {
	return got.Condition.Status == "False" && len(k.Expect.Placements) > 1
}

var numbers = regexp.MustCompile(`minCount \(\d+\) cannot be satisfied: \d+ scheduled, \d+ remaining`)

// masked hides what depends on which placement is reported.
func masked(f golden.PodGroupFinal) golden.PodGroupFinal {
	condition := *f.Condition
	condition.Message = numbers.ReplaceAllString(sorted(condition.Message), "minCount")
	f.Condition = &condition
	pods := map[string]golden.PodGroupPodLeft{}
	for name, p := range f.Pods {
		p.Message = ""
		pods[name] = p
	}
	f.Pods = pods
	return f
}

func final(c *gang.Cycle) golden.PodGroupFinal {
	f := golden.PodGroupFinal{
		Condition: &golden.PodGroupCondition{Status: string(c.Condition.Status), Reason: c.Condition.Reason, Message: c.Condition.Message},
		Pods:      map[string]golden.PodGroupPodLeft{},
	}
	for _, p := range c.Pods {
		left := golden.PodGroupPodLeft{Node: p.Node, Nominated: p.Nominated}
		if p.Node == "" {
			left.Reason, left.Message = p.Reason, p.Message
		}
		f.Pods[p.Pod.Pod.Name] = left
	}
	if c.Eviction != nil && !c.Eviction.Ongoing {
		for _, v := range c.Eviction.Victims() {
			f.Victims = append(f.Victims, v.Pod.Pod.Name)
		}
		slices.Sort(f.Victims)
	}
	return f
}

func differences(got, want golden.PodGroupFinal) (list []string) {
	differ := func(what string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			list = append(list, fmt.Sprintf("%s = %v, want %v", what, a, b))
		}
	}
	if want.Condition == nil {
		return []string{"the case has no condition"}
	}
	g, w := *got.Condition, *want.Condition
	g.Message, w.Message = sorted(g.Message), sorted(w.Message)
	differ("condition", g, w)
	for _, name := range slices.SortedFunc(keys(got.Pods, want.Pods), cmp.Compare) {
		a, b := got.Pods[name], want.Pods[name]
		a.Message, b.Message = sorted(a.Message), sorted(b.Message)
		differ("pod "+name, a, b)
	}
	if len(got.Victims)+len(want.Victims) > 0 {
		differ("victims", got.Victims, want.Victims)
	}
	return list
}

// keys yields the keys of both maps, each once.
func keys[V any](a, b map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range a {
			if !yield(k) {
				return
			}
		}
		for k := range b {
			if _, ok := a[k]; !ok && !yield(k) {
				return
			}
		}
	}
}
