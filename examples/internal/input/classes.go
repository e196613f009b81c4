package input

import "github.com/berth-sched/berth/framework/api"

// learnClasses adds the priority classes that pods name and that are not among the objects: admission has
// written the values into the pods. Templates of workloads only have the names. If pods of a class differ,
// the youngest counts.
func (c *Cluster) learnClasses() {
	known := map[string]bool{}
	for _, x := range c.Objects.PriorityClasses {
		known[x.Name] = true
	}
	youngest, names := map[string]*api.Pod{}, []string(nil)
	for _, p := range c.Objects.Pods {
		name := p.Spec.PriorityClassName
		if name == "" || p.Spec.Priority == nil || known[name] {
			continue
		}
		switch before := youngest[name]; {
		case before == nil:
			names = append(names, name)
			youngest[name] = p
		case before.CreationTimestamp.Before(p.CreationTimestamp):
			youngest[name] = p
		}
	}
	for _, name := range names {
		spec := &youngest[name].Spec
		c.Objects.PriorityClasses = append(c.Objects.PriorityClasses, &api.PriorityClass{
			TypeMeta:   api.TypeMeta{Kind: "PriorityClass", APIVersion: "scheduling.k8s.io/v1"},
			ObjectMeta: api.ObjectMeta{Name: name}, Value: *spec.Priority, PreemptionPolicy: spec.PreemptionPolicy,
		})
	}
}
