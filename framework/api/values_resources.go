package api

import (
	"reflect"
	"slices"
	"strings"

	"github.com/berth-sched/berth/resource"
)

// requirements checks the names of what a container or a pod requests.
func (w *valueWalk) requirements(v reflect.Value, path []string) {
	r := v.Addr().Interface().(*ResourceRequirements)
	w.amounts(containerResources(), r.Limits, nil, path, "limits")
	w.amounts(containerResources(), r.Requests, r.Limits, path, "requests")
}

// nodeStatus checks the names of what a node has.
func (w *valueWalk) nodeStatus(v reflect.Value, path []string) {
	s := v.Addr().Interface().(*NodeStatus)
	w.amounts(nodeResources(), s.Capacity, nil, path, "capacity")
	w.amounts(nodeResources(), s.Allocatable, s.Capacity, path, "allocatable")
}

// resourceNames are names without a domain: whole ones, and the beginnings of others.
type resourceNames struct{ whole, prefixes []string }

// containerResources returns what a container may request.
//
// Source: kube-apiserver 1.37, IsStandardContainerResourceName.
func containerResources() resourceNames {
	return resourceNames{
		whole:    []string{string(resource.CPU), string(resource.Memory), string(resource.EphemeralStorage)},
		prefixes: []string{"hugepages-"},
	}
}

// nodeResources returns what a node may have.
func nodeResources() resourceNames {
	n := containerResources()
	n.whole = append(n.whole, string(resource.Pods), string(resource.Storage))
	n.prefixes = append(n.prefixes, "attachable-volumes-")
	return n
}

// has reports whether a name is one of them.
func (n resourceNames) has(name string) bool {
	return slices.Contains(n.whole, name) ||
		slices.ContainsFunc(n.prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// problem says what is wrong with a name.
func (n resourceNames) problem(name string) string {
	if meant := nearest(name, n.whole); meant != "" {
		return "unknown resource; did you mean " + meant + "?"
	}
	list := strings.Join(n.whole, ", ")
	for _, p := range n.prefixes {
		list += ", " + p + "..."
	}
	return "unknown resource; want " + list + " or a name with a domain, such as example.com/gpu"
}

// amounts checks the names in the list that is the field of the struct at path. Equal
// amounts in from are told there: defaults are copied from it.
func (w *valueWalk) amounts(known resourceNames, list, from resource.List, path []string, field string) {
	var unknown []resource.Name
	for name, q := range list {
		if strings.Contains(string(name), "/") || known.has(string(name)) {
			continue
		}
		if told, ok := from[name]; !ok || !told.Equal(q) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return
	}
	slices.Sort(unknown)
	path = append(path[:len(path):len(path)], field)
	for _, name := range unknown {
		q := list[name]
		w.found(foundValue{w, append(path, "["+string(name)+"]"), q.String(), known.problem(string(name)), false})
	}
}
