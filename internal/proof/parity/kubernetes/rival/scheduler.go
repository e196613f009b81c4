package rival

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// A Scheduler is a kube-scheduler without an API server.
type Scheduler struct {
	ctx      context.Context
	logger   klog.Logger
	sched    *scheduler.Scheduler
	snapshot *cache.Snapshot    // the one that sched reads
	known    *factory           // the simulated API server
	pods     toolscache.Indexer // its pods; handlers are not notified of them
	claims   *claimServer       // its resource claims, as plugins write them
	client   *fake.Clientset
	batching bool
}

// New builds a kube-scheduler. It runs until ctx ends, which stops its goroutines;
// end ctx when you no longer need the Scheduler.
func New(ctx context.Context, o Options) (*Scheduler, error) {
	logger := logr.Discard()
	klog.SetLogger(logger)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	ctx = klog.NewContext(ctx, logger)

	c, err := o.load()
	if err != nil {
		return nil, err
	}
	if o.Refuse {
		enableRefuse(c)
	}
	known := newFactory()
	for _, object := range o.Objects {
		if err := known.put(object); err != nil {
			return nil, err
		}
	}
	snapshot := cache.NewEmptySnapshot()
	client := fake.NewClientset()
	claims := &claimServer{known: known}
	claims.serve(client)
	sched, err := scheduler.New(ctx, client, known, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithComponentConfigVersion(c.APIVersion),
		scheduler.WithProfiles(c.Profiles...),
		scheduler.WithPercentageOfNodesToScore(c.PercentageOfNodesToScore),
		scheduler.WithParallelism(c.Parallelism),
		scheduler.WithExtenders(c.Extenders...),
		scheduler.WithNodeInfoSnapshot(snapshot),
		scheduler.WithFrameworkOutOfTreeRegistry(refusing()),
	)
	if err != nil {
		return nil, err
	}
	return &Scheduler{
		ctx:      ctx,
		logger:   logger,
		sched:    sched,
		snapshot: snapshot,
		known:    known,
		pods:     known.of(&v1.Pod{}),
		claims:   claims,
		client:   client,
		batching: o.Batching,
	}, nil
}

// AddNode adds a node to the cache. The order of additions counts: it is the order
// of the snapshot within a zone.
func (s *Scheduler) AddNode(n *v1.Node) { s.sched.Cache.AddNode(s.logger, n) }

// UpdateNode replaces a node that was added.
func (s *Scheduler) UpdateNode(before, after *v1.Node) {
	s.sched.Cache.UpdateNode(s.logger, before, after)
}

// RemoveNode removes a node from the cache; its pods stay until they are removed.
func (s *Scheduler) RemoveNode(n *v1.Node) error { return s.sched.Cache.RemoveNode(s.logger, n) }

// AddPod adds a pod that already has a node, in spec.nodeName.
func (s *Scheduler) AddPod(p *v1.Pod) error {
	if p.Spec.NodeName == "" {
		return fmt.Errorf("pod %s/%s: spec.nodeName is empty, want the node it is placed on", p.Namespace, p.Name)
	}
	return s.sched.Cache.AddPod(s.logger, p)
}

// RemovePod removes a placed pod, or one that Schedule has assumed.
func (s *Scheduler) RemovePod(p *v1.Pod) error {
	known, err := s.sched.Cache.GetPod(p) // knows the node of an assumed pod
	if err != nil {
		return err
	}
	assumed, err := s.sched.Cache.IsAssumedPod(known)
	if err != nil {
		return err
	}
	if assumed {
		return s.sched.Cache.ForgetPod(s.logger, known)
	}
	return s.sched.Cache.RemovePod(s.logger, known)
}

// Nominate puts into the queue a pod that preemption has nominated to a node, in
// status.nominatedNodeName. From then on its room on the node is taken for pods of
// no higher priority, until Schedule has placed the pod.
func (s *Scheduler) Nominate(p *v1.Pod) error {
	if s.batching {
		return fmt.Errorf("pod %s/%s: with batching, Prepare would take it out of the queue", p.Namespace, p.Name)
	}
	// The queue nominates only pods that the API server still has.
	if err := s.pods.Add(p); err != nil {
		return err
	}
	s.sched.SchedulingQueue.Add(s.ctx, p)
	return nil
}

// NodeOrder returns the names of the nodes in the order of the snapshot.
func (s *Scheduler) NodeOrder() ([]string, error) {
	if err := s.sched.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return nil, err
	}
	infos, err := s.snapshot.NodeInfos().List()
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(infos))
	for _, n := range infos {
		names = append(names, n.Node().Name)
	}
	return names, nil
}

// Refresh makes the next cycle look at every node anew, as after a restart.
// kube-scheduler looks again only at nodes that have changed, so its data about the
// others can be from different times: how many nodes have an image, and the place of
// a node whose zone changed.
func (s *Scheduler) Refresh() { *s.snapshot = *cache.NewEmptySnapshot() }

// A Pending is a pod that is ready for its cycle.
type Pending struct {
	info    *framework.QueuedPodInfo
	profile framework.Framework

	// Results of Place: the state of the cycle, and why no node is feasible.
	state fwk.CycleState
	fit   *framework.FitError
}

// errBlocked reports that a pod did not leave the queue.
var errBlocked = errors.New("the queue does not give the pod out: is it gated?")

// Prepare does the work before a pod's cycle. It derives the pod's terms and, with
// Options.Batching, sends the pod through the queue, which signs it. A pod that is
// prepared with batching must be scheduled next.
func (s *Scheduler) Prepare(p *v1.Pod) (*Pending, error) {
	profile, ok := s.sched.Profiles[p.Spec.SchedulerName]
	if !ok {
		return nil, fmt.Errorf("pod %s/%s: spec.schedulerName %q has no profile", p.Namespace, p.Name, p.Spec.SchedulerName)
	}
	if !s.batching {
		// The queue continues with the readable part of the pod's affinity, too;
		// InterPodAffinity reports the errors in it.
		info, err := framework.NewPodInfo(p)
		if info == nil {
			return nil, err
		}
		return &Pending{info: &framework.QueuedPodInfo{PodInfo: info}, profile: profile}, nil
	}
	q := s.sched.SchedulingQueue
	q.Add(s.ctx, p)
	if len(q.PodsInActiveQ()) == 0 {
		return nil, fmt.Errorf("pod %s/%s: %w", p.Namespace, p.Name, errBlocked)
	}
	entity, err := q.Pop(s.logger)
	if err != nil {
		return nil, err
	}
	q.Done(p.UID)
	info, ok := entity.(*framework.QueuedPodInfo)
	if !ok || info.Pod.UID != p.UID {
		return nil, fmt.Errorf("pod %s/%s: the queue gave out something else", p.Namespace, p.Name)
	}
	return &Pending{info: info, profile: profile}, nil
}

// A Result is the decision of a cycle.
type Result struct {
	Node      string // node where the pod is assumed now
	Evaluated int    // nodes that were examined
	Feasible  int    // examined nodes that fit
}

// Schedule runs the cycle of a prepared pod and assumes the pod on the chosen node.
// The error is a *framework.FitError if no node fits.
func (s *Scheduler) Schedule(p *Pending) (Result, error) {
	r, err := s.Decide(p)
	if err != nil {
		return Result{}, err
	}
	// A shallow copy: kube-scheduler itself pays for a deep one.
	assumed := *p.info.Pod
	assumed.Spec.NodeName = r.Node
	if err := s.sched.Cache.AssumePod(s.logger, &assumed); err != nil {
		return Result{}, err
	}
	s.sched.SchedulingQueue.DeleteNominatedPodIfExists(&assumed)
	return r, nil
}

// Decide runs the cycle of a prepared pod and leaves the cache as it is.
func (s *Scheduler) Decide(p *Pending) (Result, error) {
	if err := s.sched.Cache.UpdateSnapshot(s.logger, s.snapshot); err != nil {
		return Result{}, err
	}
	r, err := s.sched.SchedulePod(s.ctx, p.profile, newState(), p.info)
	if err != nil {
		return Result{}, err
	}
	return Result{Node: r.SuggestedHost, Evaluated: r.EvaluatedNodes, Feasible: r.FeasibleNodes}, nil
}

// newState returns the state of a cycle as kube-scheduler prepares it, but without
// the metrics of single plugins, which it records for one pod in ten.
func newState() fwk.CycleState {
	state := framework.NewCycleState()
	state.Write(framework.PodsToActivateKey, framework.NewPodsToActivate())
	return state
}
