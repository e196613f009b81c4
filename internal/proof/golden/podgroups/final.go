package podgroups

import (
	"cmp"
	"fmt"
	"reflect"
	"regexp"
	"slices"

	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/scheduling/gang"
)

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
