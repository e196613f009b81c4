package openb

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand"
	"slices"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// A Trace is a cluster and a workload of pods that ask for its GPUs.
type Trace struct {
	// Name is the name of the workload.
	Name string
	// Nodes and Pods are sorted by name. All pods are pending.
	Nodes []*api.Node
	Pods  []*api.Pod
	// Demands is what each pod asks for, and Typical what is typical of the workload.
	Demands []devices.Demand
	Typical []devices.Typical
	// Milli is the sum of all GPUs, in thousandths.
	Milli int64
}

// typicalPart is the part of the pods that is typical.
const typicalPart = 0.95

// Read reads the tables of nodes and pods, as [simulate.DecodeOpenB] does.
func Read(name string, nodes, pods []byte) (*Trace, error) {
	var o, workload api.Objects
	if err := simulate.DecodeOpenB(&o, nodes); err != nil {
		return nil, err
	}
	if err := simulate.DecodeOpenB(&workload, pods); err != nil {
		return nil, err
	}
	switch {
	case len(o.Pods) > 0:
		return nil, errors.New("the table of nodes has pods")
	case len(workload.Nodes) > 0:
		return nil, errors.New("the table of pods has nodes")
	}
	o.Pods = workload.Pods
	return New(name, &o)
}

// New makes a trace of nodes and pods. It is an error if the pods ask for so little that a
// sequence would need more than a million copies of them.
func New(name string, o *api.Objects) (*Trace, error) {
	t := &Trace{Name: name, Nodes: slices.Clone(o.Nodes), Pods: slices.Clone(o.Pods)}
	slices.SortFunc(t.Nodes, func(a, b *api.Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(t.Pods, func(a, b *api.Pod) int { return cmp.Compare(a.Name, b.Name) })
	s, pods, err := framework.SnapshotOf(&api.Objects{Nodes: t.Nodes, Pods: t.Pods}, framework.Arrival)
	if err != nil {
		return nil, err
	}
	if len(pods) < len(t.Pods) {
		return nil, fmt.Errorf("workload %s: %d of %d pods are not pending", name, len(t.Pods)-len(pods), len(t.Pods))
	}
	var gpus *devices.GPUs
	for _, p := range pods {
		if _, err := gpus.Request(p); err != nil {
			return nil, err
		}
		t.Demands = append(t.Demands, gpus.Demand(p))
	}
	for _, n := range s.All() {
		if err := checkGPUs(n.Node); err != nil {
			return nil, err
		}
		free := gpus.Free(s, n)
		t.Milli += free.Total()
	}
	if t.Milli == 0 || len(t.Pods) == 0 {
		return nil, fmt.Errorf("workload %s: %w", name, errors.New("there are no GPUs or no pods"))
	}
	if n := t.copies(); n > mostCopies {
		return nil, fmt.Errorf("workload %s: about %.0f copies of pods must come until all ask for %v times the GPUs: want at most %d", name, n, tuneRatio, mostCopies)
	}
	t.Typical = devices.TypicalPods(t.Demands, typicalPart)
	come := float64(len(t.Pods)) + t.copies()
	if looks := come * float64(len(t.Nodes)) * float64(len(t.Typical)); looks > mostLooks {
		return nil, fmt.Errorf("workload %s: %.0f pods that come, %d nodes and %d typical pods are %.3g comparisons: want at most %.3g; leave out pods or nodes, or make more pods alike",
			name, come, len(t.Nodes), len(t.Typical), looks, float64(mostLooks))
	}
	return t, nil
}

// mostLooks bounds how often a policy compares a node with a typical pod, in a run: about 100 s. The trace of the paper
// takes 5e8.
const mostLooks = 2e10

// checkGPUs refuses a node with more GPUs than formulas know of: the others would not be used,
// and the figures would be of another cluster.
func checkGPUs(n *api.Node) error {
	const name, most = devices.Vendor + "/gpu-milli", devices.MaxGPUs * devices.MilliPerGPU
	if q := n.Status.Allocatable[name]; q.Value() > most {
		return &api.InvalidError{
			Object: "node " + n.Name, Field: "status.allocatable[" + name + "]", Value: q.String(),
			Err: fmt.Errorf("want at most %d, which are %d GPUs", most, devices.MaxGPUs),
		}
	}
	return nil
}

// mostCopies bounds the copies of pods in a sequence: small pods and large nodes would make
// it long without end.
const mostCopies = 1 << 20

// copies is about how many copies of pods a sequence has.
func (t *Trace) copies() float64 {
	sum := float64(t.asked())
	if sum == 0 {
		return 0
	}
	return float64(len(t.Pods)) * max(0, t.goal()/sum-1)
}

// asked is what the pods ask of GPUs, in thousandths.
func (t *Trace) asked() (sum int64) {
	for _, d := range t.Demands {
		sum += d.GPU.Total()
	}
	return sum
}

// goal is what the pods of a sequence ask for, in thousandths.
func (t *Trace) goal() float64 { return tuneRatio * float64(t.Milli) }

// A Sequence is what chance decides about a run.
type Sequence struct {
	// Arrivals are the pods in the order in which they come, by index of Trace.Pods. A
	// pod may come more than once.
	Arrivals []int
	// Rank is the place of each node in the order that breaks ties.
	Rank []int
}

// tuneRatio is how many times the GPUs of the cluster the pods ask for.
const tuneRatio = 1.3

// drawsBetween are drawn by other parts of the simulator between pods and nodes.
const drawsBetween = 10

// SequenceOf draws the sequence of a seed.
//
// Two oddities of the original are kept. It draws numbers that it does not use, and while
// it adds pods, it compares the goal with what one GPU of the next pod would add, instead
// of all its GPUs.
func (t *Trace) SequenceOf(seed int64) Sequence {
	r := rand.New(rand.NewSource(seed))
	r.Int() // printed for debugging
	arrivals := make([]int, len(t.Pods))
	for i := range arrivals {
		arrivals[i] = i
	}
	r.Shuffle(len(arrivals), func(i, j int) { arrivals[i], arrivals[j] = arrivals[j], arrivals[i] })
	arrivals = t.tune(arrivals, r)
	for range drawsBetween {
		r.Float64()
	}
	return Sequence{arrivals, r.Perm(len(t.Nodes))}
}

// gone marks a pod that is taken away.
const gone = -1

// tune adds copies of random pods, or takes random ones away, until they ask for about
// tuneRatio times all GPUs.
func (t *Trace) tune(arrivals []int, r *rand.Rand) []int {
	goal, sum := int64(t.goal()), t.asked()
	if sum > goal {
		staying := newPlaces(len(arrivals))
		for n := len(arrivals); sum > goal; n-- {
			i := staying.take(r.Intn(n))
			sum -= t.Demands[arrivals[i]].GPU.Total()
			arrivals[i] = gone
		}
		arrivals = slices.DeleteFunc(arrivals, func(at int) bool { return at == gone })
	}
	if len(arrivals) < len(t.Pods) || sum == 0 {
		return arrivals
	}
	for {
		i := r.Intn(len(t.Pods))
		if sum+t.Demands[i].GPU.Milli > goal {
			return arrivals
		}
		arrivals = append(arrivals, i)
		sum += t.Demands[i].GPU.Total()
	}
}
