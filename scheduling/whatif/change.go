package whatif

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/podsize"
	"github.com/berth-sched/berth/resource"
)

// A ChangeKind says what a [Change] changes.
type ChangeKind string

// The changes that WhyNot proposes.
const (
	// ChangeRequest lowers what the pod requests of the resource Name to Amount, in
	// the units of vectors. The largest requests of its containers are lowered first.
	ChangeRequest ChangeKind = "request"
	// ChangeToleration lets the pod tolerate the taint with the key Name, the value To
	// and the effect Effect.
	ChangeToleration ChangeKind = "toleration"
	// ChangeNodeLabel gives the node the label Name with the value To, or takes it away
	// if Remove is set.
	ChangeNodeLabel ChangeKind = "nodeLabel"
	// ChangeNodeSelector drops the entry Name of the pod's node selector.
	ChangeNodeSelector ChangeKind = "nodeSelector"
	// ChangeNodeAffinity drops the pod's required node affinity.
	ChangeNodeAffinity ChangeKind = "nodeAffinity"
	// ChangeSpread drops the pod's spread constraint number Index, on the key Name.
	ChangeSpread ChangeKind = "spreadConstraint"
	// ChangeAffinity drops the pod's required pod affinity term number Index.
	ChangeAffinity ChangeKind = "podAffinity"
	// ChangeAntiAffinity drops the pod's required anti-affinity term number Index.
	ChangeAntiAffinity ChangeKind = "podAntiAffinity"
	// ChangePodLabel takes the label Name off the pod.
	ChangePodLabel ChangeKind = "podLabel"
	// ChangeHostPort drops the pod's host port number Amount.
	ChangeHostPort ChangeKind = "hostPort"
	// ChangeRemove takes the pod Name, "namespace/name", off the node From.
	ChangeRemove ChangeKind = "removePod"
	// ChangeWeight gives the scorer Name the weight Amount.
	ChangeWeight ChangeKind = "weight"
	// ChangePin makes the pod require the node by its name, as DaemonSets do.
	ChangePin ChangeKind = "pin"
)

// A Change is one step that helps a pod to a node.
type Change struct {
	Kind ChangeKind `json:"kind"`
	// Name is what changes; see the kinds.
	Name string `json:"name,omitempty"`
	// Index is the place of a constraint or term in the pod.
	Index int `json:"index,omitempty"`
	// Was and Amount are a number before and after, counted in Unit.
	Was    int64          `json:"was,omitempty"`
	Amount int64          `json:"amount,omitempty"`
	Unit   framework.Unit `json:"unit,omitempty"`
	// From and To are a text before and after.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Effect is the effect of a taint.
	Effect api.TaintEffect `json:"effect,omitempty"`
	// Remove is set if a label of the node goes.
	Remove bool `json:"remove,omitempty"`
}

// String writes the change for people.
func (c Change) String() string {
	switch c.Kind {
	case ChangeRequest:
		return fmt.Sprintf("request %s of %s instead of %s", c.Unit.Text(c.Amount), c.Name, c.Unit.Text(c.Was))
	case ChangeToleration:
		if c.To != "" {
			return fmt.Sprintf("tolerate the taint %s=%s:%s", c.Name, c.To, c.Effect)
		}
		return fmt.Sprintf("tolerate the taint %s:%s", c.Name, c.Effect)
	case ChangeNodeLabel:
		if c.Remove {
			return "take the label " + c.Name + " off the node"
		}
		return fmt.Sprintf("label the node %s=%s", c.Name, c.To)
	case ChangeNodeSelector:
		return fmt.Sprintf("drop %s=%s from the node selector", c.Name, c.From)
	case ChangeNodeAffinity:
		return "drop the required node affinity"
	case ChangeSpread:
		return "drop the spread constraint on " + c.Name
	case ChangeAffinity:
		return "drop the required pod affinity on " + c.Name
	case ChangeAntiAffinity:
		return "drop the required anti-affinity on " + c.Name
	case ChangePodLabel:
		return fmt.Sprintf("take the label %s=%s off the pod", c.Name, c.From)
	case ChangeHostPort:
		return fmt.Sprintf("drop the host port %d", c.Amount)
	case ChangeRemove:
		return fmt.Sprintf("remove pod %s from %s", c.Name, c.From)
	case ChangeWeight:
		return fmt.Sprintf("weight %d of %s instead of %d", c.Amount, c.Name, c.Was)
	case ChangePin:
		return "require the node by name"
	}
	return string(c.Kind)
}

// appendKey appends a text that tells the change from others of the same pod and node.
func (c *Change) appendKey(b []byte) []byte {
	for _, text := range []string{string(c.Kind), c.Name, c.From, c.To, string(c.Effect)} {
		b = match.AppendString(b, text)
	}
	b = binary.AppendVarint(binary.AppendVarint(b, int64(c.Index)), c.Amount)
	return strconv.AppendBool(b, c.Remove)
}

// trial is a pod and a node with changes.
type trial struct {
	pod     *api.Pod
	node    *api.Node // nil if it stays as it is
	steps   int       // what making it took
	remove  []Change  // of pods
	weights Weights
}

// sumSteps is how many steps each part of a pod is when its requests are summed up: sums are maps.
const sumSteps = 32

// newTrial applies the changes to copies. An unknown kind is an error, and so are changes that take more than maxSteps; the
// trial says how many it took then, too.
func newTrial(pod *api.Pod, node *api.Node, changes []Change) (*trial, error) {
	size := 1 + podsize.Parts(pod)
	t := &trial{pod: pod, steps: size + len(changes)}
	drops := drops{size: size}
	for i := range changes {
		c := &changes[i]
		switch c.Kind {
		case ChangeRemove:
			t.remove = append(t.remove, *c)
		case ChangeWeight:
			if t.weights == nil {
				t.weights = Weights{}
			}
			t.weights[c.Name] = c.Amount
		case ChangeNodeLabel:
			if t.node == nil {
				copied := *node
				copied.Labels = maps.Clone(node.Labels)
				t.node = &copied
			}
			if c.Remove {
				delete(t.node.Labels, c.Name)
			} else {
				if t.node.Labels == nil {
					t.node.Labels = map[string]string{}
				}
				t.node.Labels[c.Name] = c.To
			}
		default:
			if t.pod == pod {
				t.pod = editable(pod)
			}
			if err := drops.apply(t.pod, node, c); err != nil || drops.steps > maxSteps {
				t.steps += drops.steps
				return t, err
			}
		}
	}
	drops.finish(t.pod)
	t.steps += drops.steps
	return t, nil
}

// editable copies the pod, and of what it holds only what changes write to. A whole copy
// takes several times as long.
func editable(pod *api.Pod) *api.Pod {
	p := *pod
	p.Labels = maps.Clone(p.Labels)
	p.Spec.Tolerations = slices.Clip(p.Spec.Tolerations)
	p.Spec.NodeSelector = maps.Clone(p.Spec.NodeSelector)
	p.Spec.Containers = editableContainers(p.Spec.Containers)
	p.Spec.InitContainers = editableContainers(p.Spec.InitContainers)
	if p.Spec.Resources = copied(p.Spec.Resources); p.Spec.Resources != nil {
		p.Spec.Resources.Requests = maps.Clone(p.Spec.Resources.Requests)
	}
	a := copied(p.Spec.Affinity)
	if p.Spec.Affinity = a; a == nil {
		return &p
	}
	a.PodAffinity, a.PodAntiAffinity = copied(a.PodAffinity), copied(a.PodAntiAffinity)
	if a.NodeAffinity = copied(a.NodeAffinity); a.NodeAffinity != nil {
		required := copied(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		if required != nil {
			required.NodeSelectorTerms = slices.Clone(required.NodeSelectorTerms)
		}
		a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	return &p
}

func editableContainers(list []api.Container) []api.Container {
	list = slices.Clone(list)
	for i := range list {
		c := &list[i]
		c.Ports, c.Resources.Requests = slices.Clone(c.Ports), maps.Clone(c.Resources.Requests)
	}
	return list
}

// copied is a shallow copy, nil of nil.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// drops are the places of constraints and terms to drop. They are dropped at the end,
// so that places keep their meaning.
type drops struct {
	spread, affinity, anti []int

	size, steps int // of the pod, and taken for other changes
}

func (d *drops) apply(p *api.Pod, node *api.Node, c *Change) error {
	switch c.Kind {
	case ChangeRequest:
		each := sumSteps * d.size
		rounds, err := lowerRequest(p, resource.Name(c.Name), c.Amount, min(1000, 1+(maxSteps-d.steps)/each))
		d.steps += rounds * each
		return err
	case ChangeToleration:
		p.Spec.Tolerations = append(p.Spec.Tolerations, api.Toleration{Key: c.Name, Operator: api.TolerationOpEqual, Value: c.To, Effect: c.Effect})
	case ChangeNodeSelector:
		delete(p.Spec.NodeSelector, c.Name)
	case ChangeNodeAffinity:
		if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil {
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		}
	case ChangeSpread:
		d.spread = append(d.spread, c.Index)
	case ChangeAffinity:
		d.affinity = append(d.affinity, c.Index)
	case ChangeAntiAffinity:
		d.anti = append(d.anti, c.Index)
	case ChangePodLabel:
		delete(p.Labels, c.Name)
	case ChangeHostPort:
		dropPort(p.Spec.Containers, int32(c.Amount))
		dropPort(p.Spec.InitContainers, int32(c.Amount))
		d.steps += d.size
	case ChangePin:
		pin(p, node.Name)
	default:
		return &api.InvalidError{Object: "change", Field: "kind", Value: string(c.Kind), Err: errors.New("there is no such change")}
	}
	return nil
}

func (d *drops) finish(p *api.Pod) {
	if len(d.spread) > 0 {
		p.Spec.TopologySpreadConstraints = without(p.Spec.TopologySpreadConstraints, d.spread)
	}
	a := p.Spec.Affinity
	if len(d.affinity) > 0 && a != nil && a.PodAffinity != nil {
		list := &a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*list = without(*list, d.affinity)
	}
	if len(d.anti) > 0 && a != nil && a.PodAntiAffinity != nil {
		list := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*list = without(*list, d.anti)
	}
}

func without[T any](list []T, places []int) (rest []T) {
	dropped := make([]bool, len(list))
	for _, i := range places {
		if i >= 0 && i < len(list) {
			dropped[i] = true
		}
	}
	for i, x := range list {
		if !dropped[i] {
			rest = append(rest, x)
		}
	}
	return rest
}

func dropPort(containers []api.Container, port int32) {
	for i := range containers {
		for k := range containers[i].Ports {
			if p := &containers[i].Ports[k]; p.HostPort == port {
				p.HostPort = 0
			}
		}
	}
}

// pin adds a requirement of the node to every term of the required node affinity.
func pin(p *api.Pod, node string) {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = new(api.Affinity)
	}
	a := p.Spec.Affinity
	if a.NodeAffinity == nil {
		a.NodeAffinity = new(api.NodeAffinity)
	}
	byName := api.NodeSelectorRequirement{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{node}}
	required := &a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if *required == nil {
		*required = &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchFields: []api.NodeSelectorRequirement{byName}}}}
		return
	}
	for i := range (*required).NodeSelectorTerms {
		term := &(*required).NodeSelectorTerms[i]
		if len(term.MatchFields)+len(term.MatchExpressions) > 0 { // an empty one matches no node
			term.MatchFields = append(slices.Clip(term.MatchFields), byName)
		}
	}
}

// lowerRequest lowers what the pod requests of a resource to at most the amount. It
// lowers the largest request of a container, or the pod's own, as long as the sum is
// above, and returns how many rounds that took, at most so many. Overhead cannot be lowered.
func lowerRequest(p *api.Pod, name resource.Name, amount int64, most int) (rounds int, err error) {
	for rounds < most {
		rounds++
		total := requested(p, name)
		if total <= amount {
			return rounds, nil
		}
		list := largestRequest(p, name)
		if list == nil {
			return rounds, &api.InvalidError{Object: "pod " + p.Key(), Field: "spec.overhead", Value: string(name), Err: errors.New("the overhead alone exceeds the request")}
		}
		have := amountOf(name, list[name])
		list[name] = quantity(name, max(0, have-(total-amount)))
	}
	return rounds, &api.InvalidError{Object: "pod " + p.Key(), Field: "spec.containers", Value: string(name), Err: errors.New("there are too many requests to lower")}
}

// requested is what the pod requests of a resource, in the units of vectors.
func requested(p *api.Pod, name resource.Name) int64 {
	return amountOf(name, api.PodRequests(p, api.RequestOptions{PodLevel: true})[name])
}

func amountOf(name resource.Name, q resource.Quantity) int64 {
	if name == resource.CPU {
		return q.MilliValue()
	}
	return q.Value()
}

func quantity(name resource.Name, amount int64) resource.Quantity {
	if name == resource.CPU {
		return resource.Milli(amount)
	}
	return resource.New(amount, resource.BinarySI)
}

// largestRequest returns the requests that hold most of the resource: those of the pod
// as a whole if it has any, otherwise those of a container; nil if all are 0.
func largestRequest(p *api.Pod, name resource.Name) (list resource.List) {
	if r := p.Spec.Resources; r != nil {
		if q, ok := r.Requests[name]; ok && q.Sign() > 0 {
			return r.Requests
		}
	}
	for _, containers := range [][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			r := containers[i].Resources.Requests
			if q, ok := r[name]; ok && q.Sign() > 0 && (list == nil || q.Cmp(list[name]) > 0) {
				list = r
			}
		}
	}
	return list
}
