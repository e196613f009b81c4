package simulate

import (
	"maps"
	"reflect"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/workload"
)

// A change is a workload as it was before.
type change struct {
	ref    Ref
	before workload.Workload
}

// handDown gives a change of a Deployment to its ReplicaSets, as its controller does: that with its
// template, or the youngest, gets the number of pods that the others do not have.
func (w *world) handDown(x change) error {
	c, list := w.controllers[x.ref], w.owned.staying(x.ref)
	if len(list) == 0 || c.IsTerminating() {
		return nil
	}
	current := c.current(list)
	if current == nil {
		current = list[len(list)-1]
		if !reflect.DeepEqual(c.Template, x.before.Template) {
			current.Template = withHash(c.Template, current.Template.Labels)
			w.lookAt(current)
		}
	}
	want, err := c.Replicas()
	if err != nil {
		return err
	}
	if before, err := x.before.Replicas(); err != nil || before == want {
		return err
	}
	for _, other := range list {
		if other == current {
			continue
		}
		n, err := other.Replicas()
		if err != nil {
			return err
		}
		if n > want { // the older ones shrink first
			n = want
			other.Count = new(int32(n))
			w.lookAt(other)
		}
		want -= n
	}
	current.Count = new(int32(want))
	w.lookAt(current)
	return nil
}

// current returns the oldest of a Deployment's ReplicaSets that has its template, nil if none has.
func (c *controller) current(list []*controller) *controller {
	for _, set := range list {
		if reflect.DeepEqual(set.Template, withHash(c.Template, set.Template.Labels)) {
			return set
		}
	}
	return nil
}

// withHash returns the template with the label pod-template-hash of such labels, if they have it.
func withHash(of *api.PodTemplateSpec, labels map[string]string) *api.PodTemplateSpec {
	template := *of
	if hash, ok := labels[workload.LabelTemplateHash]; ok {
		template.Labels = maps.Clone(template.Labels)
		if template.Labels == nil {
			template.Labels = map[string]string{}
		}
		template.Labels[workload.LabelTemplateHash] = hash
	}
	return &template
}
