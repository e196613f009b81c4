package scheduling

import (
	"errors"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Filtering holds the filters of a profile, bound to one pod, for questions outside
// the decisions: may the pod run on this node, why not, how many of it. It makes no
// decision and asks no extender. It follows the snapshot: before an answer, the PreFilter
// plugins run again if what they read may have changed. Of plugins of your own, those are
// asked again that skip the pod, and those that declare to read nodes, other objects or time
// ([framework.ReadsNodeSet] and others), when these have changed. So are those that read the
// cluster, or domains without a class key ([framework.ReadsCluster], [framework.ReadsDomain]),
// and those whose class key has changed. If yours finds something else in PreFilter, call
// Rebind. If a PreFilter plugin fails, so does the answer, and the plugin is asked again
// before the next one.
//
// It belongs to its scheduler and snapshot: one goroutine at a time may use the three.
type Filtering struct {
	scheduler *Scheduler
	path      *referencePath
	some      *choice       // the filters that are bound
	single    singleFilters // see Rejections
	basis     basis
}

// Filtering runs the PreFilter plugins for the pod. It returns the errors of
// [Scheduler.Schedule], but not that the pod fits nowhere.
func (s *Scheduler) Filtering(snap *framework.Snapshot, pod *framework.PodInfo) (*Filtering, error) {
	f := &Filtering{scheduler: s, path: new(referencePath)}
	if err := f.Renew(snap, pod); err != nil {
		return nil, err
	}
	return f, nil
}

// Renew makes f the Filtering that [Scheduler.Filtering] would return now, and uses its
// memory again. After an error the Filtering is of no use until Renew succeeds.
func (f *Filtering) Renew(snap *framework.Snapshot, pod *framework.PodInfo) error {
	if err := f.scheduler.begin(f.path, snap, pod); err != nil {
		return err
	}
	f.some = &f.path.plugins.allFilters
	return f.bind()
}

// Rebind runs the PreFilter plugins again.
func (f *Filtering) Rebind() error {
	c := &f.path.cycle
	if err := c.Snapshot.Broken(); err != nil {
		return err
	}
	c.Reset(c.Pod, c.Snapshot, c.Number, c.Seed)
	return f.bind()
}

// bind runs the PreFilter plugins in a cycle that begins.
func (f *Filtering) bind() error {
	r := f.path
	f.single.ready = false
	f.basis.begin(r)
	if err := r.plugins.bindFilters(&r.cycle, allOf(r.cycle.Pod), &r.bound, f.some); err != nil {
		return err
	}
	f.basis.set(r, f.some)
	return nil
}

// Node asks the filters about a node of the snapshot, and counts the pods nominated to
// it. The first rejection decides. A nil node is an [*api.InvalidError].
func (f *Filtering) Node(node *framework.NodeInfo) (NodeVerdict, error) {
	if node == nil {
		return NodeVerdict{}, &api.InvalidError{Object: "node", Err: errNilNode}
	}
	if err := f.follow(); err != nil {
		return NodeVerdict{}, err
	}
	r := f.path
	switch b := &r.bound; {
	case !b.rejected.IsSuccess():
		return NodeVerdict{b.rejectedBy, b.rejected}, nil
	case b.restrict && !b.allows(node.Name()):
		return NodeVerdict{Status: b.absent}, nil
	}
	v, err := r.tryNominated(r.cycle.Snapshot, node)
	if err != nil || v.filter == passed {
		return NodeVerdict{}, err
	}
	return NodeVerdict{r.plugins.filterName(v.filter), v.status}, nil
}

// NodeOnly reports whether the answer for a node depends on the pod, this node and its
// pods, and the objects and time of the snapshot, but not on pods of other nodes. It
// goes by the scopes of the plugins; a plugin that has nothing to do for the pod does
// not count. It may become false if pods come, and is up to date after Rebind.
func (f *Filtering) NodeOnly() bool {
	t, pod := f.path.plugins, f.path.cycle.Pod
	if len(t.extenders) > 0 || !f.path.bound.rejected.IsSuccess() {
		return false
	}
	for _, b := range f.path.bound.filters {
		if t.filters[b.At].scope.looksBeyond(pod) {
			return false
		}
	}
	for _, i := range f.some.pre {
		p := &t.preFilters[i]
		idle := p.filter >= 0 && f.path.bound.perFilter[p.filter] == nil
		if !idle && p.scope.looksBeyond(pod) {
			return false
		}
	}
	return true
}

// beyondNode is what an answer reads that does not depend on one node only.
const beyondNode = framework.ReadsDomain | framework.ReadsCluster | framework.ReadsFeasible

// anyObjects is what an answer reads that depends on objects besides pods and nodes.
const anyObjects = framework.ReadsObjects | framework.ReadsVolumes | framework.ReadsDevices

// ChangesWithPods reports whether a pod that comes or goes may change what the PreFilter plugins
// found, and so NodeOnly, while [Scheduler.ClassKeysAt] is the same.
func (f *Filtering) ChangesWithPods() bool { return f.basis.wide }

// Place counts a pod on the node and runs the Reserve plugins, or changes nothing. It
// does not ask the filters. The pod is the one of the Filtering or a replica of it; see
// [framework.PodInfo.Named]. Take it off with [Scheduler.Release] or a rollback.
func (f *Filtering) Place(pod *framework.PodInfo, node *framework.NodeInfo) error {
	r := f.path
	pod, err := current(r.cycle.Snapshot, pod)
	if err != nil {
		return err
	}
	if node == nil {
		return &api.InvalidError{Object: "node", Err: errNilNode}
	}
	of := r.cycle.Pod
	r.cycle.Pod = pod
	defer func() { r.cycle.Pod = of }()
	return f.scheduler.assume(&r.cycle, r.cycle.Snapshot, pod, f.scheduler.plugins.partsIn(r.cycle.Snapshot, pod), node)
}

// TryPlace is Place if the filters pass the node. It reports whether the pod counts there now.
func (f *Filtering) TryPlace(pod *framework.PodInfo, node *framework.NodeInfo) (bool, error) {
	v, err := f.Node(node)
	if err != nil || !v.Status.IsSuccess() {
		return false, err
	}
	err = f.Place(pod, node)
	var fit *FitError
	if errors.As(err, &fit) {
		return false, nil
	}
	return err == nil, err
}
