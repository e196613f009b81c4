package oracle

import (
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Fit returns the reasons that keep a pod off a node with these pods, and whether an
// empty node would not help either. It does not check the names in ignored: whole
// names, and groups without a slash.
func Fit(pod *api.Pod, node *api.Node, pods []*api.Pod, ignored ...string) (reasons []string, forGood bool) {
	slots := node.Status.Allocatable[resource.Pods]
	if int64(len(pods))+1 > slots.Value() {
		reasons = append(reasons, "Too many pods")
	}
	wanted := api.PodRequests(pod, api.RequestOptions{PodLevel: true})
	for _, name := range inOrder(wanted) {
		want := amount(wanted, name)
		if want == 0 || name.IsExtended() && isIgnored(name, ignored) {
			continue
		}
		used := number(0)
		for _, p := range pods {
			list := api.PodRequests(p, api.RequestOptions{PodLevel: true, Status: true})
			used = plus(used, number(amount(list, name)))
		}
		have := amount(node.Status.Allocatable, name)
		if number(want).Cmp(minus(number(have), used)) > 0 {
			reasons = append(reasons, "Insufficient "+string(name))
			forGood = forGood || want > have
		}
	}
	return reasons, forGood
}

// amount returns the amount of the named resource in the list, in the units of
// schedulers.
func amount(l resource.List, name resource.Name) int64 {
	q := l[name]
	if name == resource.CPU {
		return q.MilliValue()
	}
	return q.Value()
}

// inOrder lists the names that schedulers know: the fixed ones, then the others in
// order.
func inOrder(l resource.List) []resource.Name {
	fixed := []resource.Name{resource.CPU, resource.Memory, resource.EphemeralStorage}
	names := slices.Clone(fixed)
	for _, name := range l.Names() {
		if name.IsScalar() && !slices.Contains(fixed, name) {
			names = append(names, name)
		}
	}
	return names
}

func isIgnored(name resource.Name, ignored []string) bool {
	group := strings.Split(string(name), "/")[0]
	return slices.Contains(ignored, string(name)) || slices.Contains(ignored, group)
}
