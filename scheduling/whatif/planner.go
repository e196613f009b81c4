package whatif

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/volumes"
	"github.com/berth-sched/berth/scheduling"
)

// A Planner answers questions about one cluster under one profile. Make one with New.
type Planner struct {
	profile  scheduling.Profile
	snapshot *framework.Snapshot // a fork; every question leaves it as it was
	sched    *scheduling.Scheduler
	keepless *scheduling.Scheduler // keeps no answers, for pods that are seen once; see plain
	start    scheduling.Position   // of every question
	memory   memory

	affordable int // see the constant
	comeMost   int // see the constant
	made       int // claims, for a question or for one choice of nodes
}

// New makes a Planner for the snapshot as it is now. It returns the errors of
// [scheduling.New], and an [*api.InvalidError] for a nil snapshot.
func New(profile scheduling.Profile, snapshot *framework.Snapshot) (*Planner, error) {
	p := &Planner{profile: profile, affordable: affordable, comeMost: comeMost}
	var err error
	if p.sched, err = scheduling.New(withBarred(profile)); err != nil {
		return nil, err
	}
	return p, p.Renew(snapshot)
}

// Renew makes the Planner answer for the snapshot as it is now. If it is the earlier
// one or a relative of it, what the scheduler has learnt stays.
func (p *Planner) Renew(snapshot *framework.Snapshot) error {
	if snapshot == nil {
		return &api.InvalidError{Object: "snapshot", Err: errors.New("is nil")}
	}
	p.snapshot = snapshot.Fork()
	barred.Of(p.snapshot) // so that no transaction has to make them
	cordons.Of(p.snapshot)
	return p.snapshot.Broken()
}

// Seek makes every question begin at a scheduler's position, so that ties and samples are
// those of its next decisions. Without it, every question begins with a first decision.
func (p *Planner) Seek(at scheduling.Position) { p.start = at }

// Snapshot returns the Planner's fork, to make and look up pods. Only read it.
func (p *Planner) Snapshot() *framework.Snapshot { return p.snapshot }

// memory is what one question after the other uses of keepless.
type memory struct {
	filtering *scheduling.Filtering
	table     *scheduling.ScoreTable
}

// filters are the filters of keepless for the pod, until the next call.
func (p *Planner) filters(s *framework.Snapshot, pod *framework.PodInfo) (f *scheduling.Filtering, err error) {
	if p.memory.filtering != nil {
		return p.memory.filtering, p.memory.filtering.Renew(s, pod)
	}
	p.memory.filtering, err = p.keepless.Filtering(s, pod)
	return p.memory.filtering, err
}

// table holds the scores of keepless for the pod, until the next call.
func (p *Planner) table(s *framework.Snapshot, pod *framework.PodInfo) (t *scheduling.ScoreTable, err error) {
	if p.memory.table != nil {
		return p.memory.table, p.memory.table.Renew(s, pod)
	}
	p.memory.table, err = p.keepless.ScoreTable(s, pod)
	return p.memory.table, err
}

// Pod returns the pod of that key, "namespace/name", as it waits or waited for a place.
// It is an [*api.InvalidError] if no node has the pod.
func (p *Planner) Pod(key string) (*framework.PodInfo, error) {
	pod, _ := p.snapshot.Pod(key)
	if pod == nil {
		return nil, &api.InvalidError{Object: "pod " + key, Err: errors.New("is on no node")}
	}
	return pod.Pending(), nil
}

// try calls f with the snapshot in a transaction, and takes back what f did. The
// decisions of f follow the position start.
func (p *Planner) try(f func(s *framework.Snapshot) error) error {
	if err := p.snapshot.Broken(); err != nil {
		return err
	}
	mark := p.snapshot.Begin()
	defer p.snapshot.Rollback(mark)
	p.sched.Seek(p.start)
	p.made = 0
	return f(p.snapshot)
}

// inFork is try for changes of the set of nodes.
func (p *Planner) inFork(f func(s *framework.Snapshot) error) error {
	if err := p.snapshot.Broken(); err != nil {
		return err
	}
	p.sched.Seek(p.start)
	p.made = 0
	return f(p.snapshot.Fork())
}

// place places the pod. If it fits nowhere, node is "" and miss says why.
func (p *Planner) place(s *framework.Snapshot, pod *framework.PodInfo) (node string, miss *Unplaced, err error) {
	d, err := p.assume(s, pod)
	if err == nil {
		return d.Node, nil, nil
	}
	miss, err = missed(pod, err)
	return "", miss, err
}

// assume decides about the pod and counts it on its node. It is nominated no longer then. Claims of its ephemeral
// volumes are made before. What its binding changes in claims that it names is done afterwards.
func (p *Planner) assume(s *framework.Snapshot, pod *framework.PodInfo) (scheduling.Decision, error) {
	if err := p.makeClaims(s, pod); err != nil {
		return scheduling.Decision{}, err
	}
	d, err := p.sched.Place(s, pod)
	if err != nil {
		return d, err
	}
	s.ClearNominations(pod)
	if err := devices.Settle(s, pod); err != nil {
		return d, err
	}
	return d, volumes.MakeVolumes(s, pod.Pod, s.Node(d.Node).Node)
}

// release takes a pod off its node. Claims that were made for it go with it: the pod that is made in its place
// gets others. A claim for devices that only this pod used gives them back.
func (p *Planner) release(s *framework.Snapshot, pod *framework.PodInfo, node string) error {
	if err := p.sched.Release(s, pod, node); err != nil {
		return err
	}
	return leaveClaims(s, pod)
}

// leaveClaims takes from the snapshot what goes with a pod that has left its node.
func leaveClaims(s *framework.Snapshot, pod *framework.PodInfo) error {
	if err := devices.Leave(s, pod); err != nil {
		return err
	}
	volumes.DropClaims(s, pod.Pod)
	return s.Broken()
}

// TakeOff takes a pod off its node, if it has one, as the questions of a [Planner] do before they
// place it again, and returns it as it waits. Claims that were made for it go with it, and a claim for
// devices that no other pod uses gives them back. Claims of its ephemeral volumes are made. The snapshot changes.
// A volume that a scheduler has chosen for it in this snapshot stays chosen: [scheduling.Scheduler.Release] gives it
// back.
func TakeOff(s *framework.Snapshot, pod *framework.PodInfo) (*framework.PodInfo, error) {
	if err := s.CheckPod(pod); err != nil {
		return nil, err
	}
	if placed, n := s.Pod(pod.Pod.Key()); placed != nil {
		if err := s.RemovePodAt(placed, n); err != nil {
			return nil, err
		}
		if err := leaveClaims(s, placed); err != nil {
			return nil, err
		}
		pod = pod.Pending()
	}
	_, err := volumes.MakeClaims(s, pod.Pod)
	return pod, err
}

var errTooManyClaims = fmt.Errorf("this question would make more than %d claims of ephemeral volumes; ask about fewer pods", volumes.MadeMost)

// makeClaims makes the claims of the pod's ephemeral volumes.
func (p *Planner) makeClaims(s *framework.Snapshot, pod *framework.PodInfo) error {
	if !pod.HasVolumeClaims() {
		return nil
	}
	made, err := volumes.MakeClaims(s, pod.Pod)
	p.made += made
	if p.made > volumes.MadeMost && err == nil {
		err = &api.InvalidError{Object: "pod " + pod.Pod.Key(), Field: "spec.volumes", Value: strconv.Itoa(len(pod.Pod.Spec.Volumes)), Err: errTooManyClaims}
	}
	return err
}

// node returns a node of the snapshot by name.
func node(s *framework.Snapshot, name string) (*framework.NodeInfo, error) {
	if n := s.Node(name); n != nil {
		return n, nil
	}
	return nil, &api.InvalidError{Object: "node " + name, Err: errUnknownNode}
}

var errUnknownNode = errors.New("is not in the snapshot")

// nodes looks up all names, each once, in the order given.
func nodes(s *framework.Snapshot, names []string) ([]*framework.NodeInfo, error) {
	list := make([]*framework.NodeInfo, 0, len(names))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		n, err := node(s, name)
		if err != nil {
			return nil, err
		}
		if !seen[name] {
			seen[name] = true
			list = append(list, n)
		}
	}
	return list, nil
}

// check refuses pods that cannot be used with the snapshot, and pods that are listed twice.
func (p *Planner) check(pods []*framework.PodInfo) error {
	seen := make(map[string]int, len(pods))
	for i, pod := range pods {
		if err := p.snapshot.CheckPod(pod); err != nil {
			return fmt.Errorf("pods[%d]: %w", i, err)
		}
		key := pod.Pod.Key()
		if first, ok := seen[key]; ok {
			return &api.InvalidError{Object: fmt.Sprintf("pods[%d]", i), Value: key, Err: fmt.Errorf("is listed before, as pods[%d]", first)}
		}
		seen[key] = i
	}
	return nil
}

// Replicas returns n replicas of the pod, named "name-0", "name-1" and so on.
func Replicas(pod *framework.PodInfo, n int) ([]*framework.PodInfo, error) {
	if pod == nil {
		return nil, &api.InvalidError{Object: "pod", Err: errors.New("is nil")}
	}
	if n < 0 {
		return nil, &api.InvalidError{Object: "pod " + pod.Pod.Key(), Field: "replicas", Value: fmt.Sprint(n), Err: errors.New("must not be negative")}
	}
	list := make([]*framework.PodInfo, n)
	for i := range list {
		var err error
		if list[i], err = named(pod, i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func named(pod *framework.PodInfo, i int) (*framework.PodInfo, error) {
	return pod.Pending().Named(pod.Pod.Name + "-" + strconv.Itoa(i))
}

// byPriority sorts pods as a queue takes them: higher priority first, then by key.
func byPriority(pods []running) {
	slices.SortStableFunc(pods, func(a, b running) int {
		return cmp.Or(cmp.Compare(b.pod.Priority, a.pod.Priority), cmp.Compare(a.pod.Pod.Key(), b.pod.Pod.Key()))
	})
}
