package cases

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
)

// ObjectSequenceFamily is the name of the family of sequences with changing objects.
// Services, ReplicaSets, namespaces and budgets change between placements. So do
// pods on their nodes and labels of nodes.
const ObjectSequenceFamily = "sequence-objects"

// GenerateObjects makes the sequence of that number of [ObjectSequenceFamily].
func GenerateObjects(seed, number uint64, steps int) *Sequence {
	d := newDice(ObjectSequenceFamily, seed, number)
	share := func() int { return pick(d, 0, 10, 30, 60) }
	f := family{name: ObjectSequenceFamily, nodes: [2]int{2, pick(d, 5, 12, 30)}, pods: [2]int{0, pick(d, 5, 30)}, priorities: 60}
	f.resources, f.taints, f.choice = share()/2, share()/3, share()/2
	f.spread, f.interpod = share()+10, share()+10
	s := &Sequence{Percentage: 100, Preempt: d.chance(60), Case: generate(f, seed, number)}
	s.Pod, s.Nominated = nil, nil
	switch {
	case s.Preempt && d.chance(50):
		s.Config = d.preemptionConfig()
	case d.chance(70):
		s.Config = pick(d, (*dice).spreadConfig, (*dice).interpodConfig)(d)
	}
	o := &changes{generator: &generator{dice: d, family: f, c: s.Case}, nodes: len(s.Nodes)}
	for range o.between(2, 8) {
		o.templates = append(o.templates, o.template())
	}
	for _, p := range s.Pods {
		o.placed = append(o.placed, p.Key())
	}
	for i := range steps {
		s.Steps = append(s.Steps, o.step(i))
	}
	return s
}

// changes makes the steps of a sequence.
type changes struct {
	*generator
	templates []*api.Pod
	placed    []string // keys of pods that may be on a node
	nodes     int      // nodes so far
}

func (o *changes) step(i int) Step {
	switch k := o.IntN(100); {
	case k < 46 || len(o.placed) == 0:
		return Step{Place: o.arrival(i)}
	case k < 59:
		return Step{Remove: pick(o.dice, o.placed...)}
	case k < 63:
		return Step{UpdateNode: o.changed()}
	case k < 66:
		return o.relabel()
	case k < 67:
		o.nodes++
		return Step{AddNode: o.node(o.nodes - 1)}
	case k < 68:
		return Step{RemoveNode: fmt.Sprintf("n%d", o.IntN(o.nodes))}
	case k < 76:
		return o.changePod()
	case k < 82:
		return o.changeNamespace()
	case k < 88:
		return o.changeWorkload()
	case k < 91:
		return Step{Budget: o.anyBudget()}
	case k < 97:
		return Step{Retry: pick(o.dice, o.placed...)}
	}
	return Step{Sweep: true}
}

// arrival returns one more pod of a class.
func (o *changes) arrival(i int) *api.Pod {
	p := *pick(o.dice, o.templates...)
	p.Name = fmt.Sprintf("s%d", i)
	p.UID = api.UID("u-" + p.Namespace + "-" + p.Name)
	if o.chance(30) {
		p.Status.StartTime = new(noon)
	}
	o.placed = append(o.placed, p.Key())
	return &p
}

// relabel changes one label of a node, so that it moves to another domain.
func (o *changes) relabel() Step {
	key := pick(o.dice, api.LabelTopologyZone, api.LabelTopologyRegion, api.LabelHostname, "rack", "disk")
	return Step{Node: fmt.Sprintf("n%d", o.IntN(o.nodes)), Labels: map[string]string{key: pick(o.dice, "z0", "z1", "k0", "ssd", "")}, Without: o.chance(20)}
}

// changePod changes a pod on its node: its labels, or it begins to leave.
func (o *changes) changePod() Step {
	return Step{Pod: pick(o.dice, o.placed...), Labels: pick(o.dice, nil, o.podLabels(), map[string]string{"app": "web"}), Without: o.chance(30)}
}

func (o *changes) changeNamespace() Step {
	name := pick(o.dice, "default", "ns-a", "ns-b", "ns-x")
	if o.chance(15) {
		return Step{DropNamespace: name}
	}
	n := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: name}}
	if o.chance(85) {
		n.Labels = map[string]string{"team": pick(o.dice, "a", "b", "core")}
		if o.chance(30) {
			n.Labels["env"] = "prod"
		}
	}
	return Step{Namespace: n}
}

// changeWorkload makes a service or a ReplicaSet select other pods.
func (o *changes) changeWorkload() Step {
	namespace := pick(o.dice, "default", "ns-a")
	if o.chance(40) {
		rs := &api.ReplicaSet{ObjectMeta: api.ObjectMeta{Name: "rs", Namespace: namespace, UID: api.UID(namespace + "rs")}}
		rs.Spec.Selector = o.labelSelector()
		return Step{ReplicaSet: rs}
	}
	key, value := o.podLabel()
	s := &api.Service{ObjectMeta: api.ObjectMeta{Name: fmt.Sprintf("svc%d", o.IntN(3)), Namespace: namespace}}
	s.Spec.Selector = map[string]string{key: value}
	return Step{Service: s}
}

func (o *changes) anyBudget() *api.PodDisruptionBudget {
	b := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{
		Name: fmt.Sprintf("pdb%d", o.IntN(3)), Namespace: pick(o.dice, "default", "default", "ns-a"),
	}}
	b.Spec.Selector = o.labelSelector()
	b.Status.DisruptionsAllowed = pick[int32](o.dice, 0, 0, 1, 2)
	return b
}
