package cases

import (
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/resource"
)

// SequenceFamily is the name of the family of sequences.
const SequenceFamily = "sequence"

// A Sequence is a cluster and its history. Its case has no pod.
type Sequence struct {
	*golden.Case
	// Percentage of nodes to score, 0 for kube-scheduler's default.
	Percentage int32 `json:"percentage"`
	// Preempt lets pods that find no node preempt others.
	Preempt bool   `json:"preempt,omitempty"`
	Steps   []Step `json:"steps,omitempty"`
}

// A Step is one of the following.
type Step struct {
	Place      *api.Pod  `json:"place,omitempty"`      // a pod arrives and is scheduled
	Remove     string    `json:"remove,omitempty"`     // a pod leaves, by its key, if it exists
	AddNode    *api.Node `json:"addNode,omitempty"`    // a node is added
	UpdateNode *api.Node `json:"updateNode,omitempty"` // a node is updated, if it exists
	RemoveNode string    `json:"removeNode,omitempty"` // a node is deleted, and its pods with it

	// Each of these names a pod on a node that is not bound yet, or stands for the
	// next such pod in the order of keys. Write writes the reservations of its
	// claims. Finish gives its claims their volumes and binds it. Fail undoes the
	// written reservations and then removes it. Release removes it.
	Write   string `json:"write,omitempty"`
	Finish  string `json:"finish,omitempty"`
	Fail    string `json:"fail,omitempty"`
	Release string `json:"release,omitempty"`
	// A pod with a nominated node, or the next such pod, is tried again.
	Retry string `json:"retry,omitempty"`
	// Victims of preemption that were asked to leave are gone.
	Sweep bool `json:"sweep,omitempty"`

	// Objects are added or updated; others are deleted.
	Volume     *api.PersistentVolume      `json:"volume,omitempty"`
	Claim      *api.PersistentVolumeClaim `json:"claim,omitempty"`
	CSINode    *api.CSINode               `json:"csiNode,omitempty"`
	Capacity   *api.CSIStorageCapacity    `json:"capacity,omitempty"`
	Leaving    string                     `json:"leaving,omitempty"` // a volume is asked to go
	DropVolume string                     `json:"dropVolume,omitempty"`
	DropClaim  string                     `json:"dropClaim,omitempty"`

	// A node gets or loses labels. A pod on a node gets other labels, or begins to
	// leave.
	Node    string            `json:"node,omitempty"`
	Pod     string            `json:"pod,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Without bool              `json:"without,omitempty"`

	Namespace     *api.Namespace           `json:"namespace,omitempty"`
	DropNamespace string                   `json:"dropNamespace,omitempty"`
	Service       *api.Service             `json:"service,omitempty"`
	ReplicaSet    *api.ReplicaSet          `json:"replicaSet,omitempty"`
	Budget        *api.PodDisruptionBudget `json:"budget,omitempty"`
}

// GenerateSequence makes the sequence of that number, with the given number of
// steps.
func GenerateSequence(seed, number uint64, steps int) *Sequence {
	d := newDice(SequenceFamily, seed, number)
	f := families[slices.IndexFunc(families, func(f family) bool { return f.name == "mixed" })]
	f.name = SequenceFamily
	f.volumes, f.names = 0, 1
	f.nodes, f.pods = [2]int{4, 60}, [2]int{0, 60}
	percentage := int32(100)
	if d.chance(20) {
		f.nodes, percentage = [2]int{100, 220}, 0
	}
	for _, share := range []*int{&f.resources, &f.taints, &f.choice, &f.ports, &f.images, &f.spread, &f.interpod} {
		*share = d.IntN(*share + 1)
	}
	s := &Sequence{Percentage: percentage, Case: generate(f, seed, number)}
	s.Pod, s.Nominated = nil, nil
	g := &generator{dice: d, family: f, c: s.Case}
	s.Steps = g.steps(steps)
	return s
}

// steps returns steps that are mostly arrivals of pods of a few classes.
func (g *generator) steps(n int) []Step {
	var templates []*api.Pod
	for range g.between(2, 14) {
		templates = append(templates, g.template())
	}
	nodes, placed := len(g.c.Nodes), []string{}
	for _, p := range g.c.Pods {
		placed = append(placed, p.Key())
	}
	leaving := g.between(5, 45)
	var list []Step
	for i := range n {
		switch k := g.IntN(100); {
		case k < leaving && len(placed) > 0:
			at := g.IntN(len(placed))
			list = append(list, Step{Remove: placed[at]})
			placed = slices.Delete(placed, at, at+1)
		case k == 97:
			list = append(list, Step{AddNode: g.node(nodes)})
			nodes++
		case k == 98:
			list = append(list, Step{UpdateNode: g.changed()})
		case k == 99 && g.chance(50):
			list = append(list, Step{RemoveNode: fmt.Sprintf("n%d", g.IntN(nodes))})
		default:
			p := *templates[g.IntN(len(templates))]
			p.Name = fmt.Sprintf("s%d", i)
			p.UID = api.UID("u-" + p.Namespace + "-" + p.Name)
			list = append(list, Step{Place: &p})
			placed = append(placed, p.Key())
		}
	}
	return list
}

// template makes a pod that many others copy. Its filters must not leave several
// nodes by name, because kube-scheduler searches those in random order.
func (g *generator) template() *api.Pod {
	for {
		p := g.pod("template")
		if a := p.Spec.Affinity; a != nil && a.NodeAffinity != nil {
			required := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			if required != nil && len(required.NodeSelectorTerms) > 1 && slices.ContainsFunc(required.NodeSelectorTerms, byName) {
				continue
			}
		}
		return p
	}
}

func byName(t api.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 }

// changed returns a node with another size, other taints or other labels.
func (g *generator) changed() *api.Node {
	n := g.node(g.IntN(len(g.c.Nodes)))
	if n.Status.Allocatable == nil {
		n.Status.Allocatable = resource.List{}
	}
	if _, ok := n.Status.Allocatable[resource.Pods]; !ok {
		n.Status.Allocatable[resource.Pods] = g.quantity("10")
	}
	return n
}
