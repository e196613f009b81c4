package rival

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"
)

// ErrTimedOut says that a search for devices took longer than filterTimeout.
var ErrTimedOut = errors.New("a search for devices timed out")

// tries is how often PostFilter is asked. It picks one of few claims at random.
const tries = 48

// AnswerDevices takes the pods of a case through the real plugin DynamicResources, and
// writes its answers into the steps. Next is asked for the node to reserve, given those
// that passed, and for what comes then; an empty node reserves nothing.
//
// It empties the scheduler first.
func (s *Scheduler) AnswerDevices(c *golden.DeviceCase, next func(step int, passed []string) (node, then string)) error {
	if err := s.Reset(); err != nil {
		return err
	}
	if err := s.FillDevices(c); err != nil {
		return err
	}
	a := &deviceAnswerer{Scheduler: s, c: c, next: next}
	defer a.end()
	for i := range c.Steps {
		if err := a.step(i); err != nil {
			return err
		}
	}
	return nil
}

// FillDevices puts the cluster of a case, without its pods, into an empty scheduler.
func (s *Scheduler) FillDevices(c *golden.DeviceCase) error {
	for _, n := range c.Nodes {
		node, err := workload.Convert[v1.Node](n)
		if err != nil {
			return err
		}
		s.AddNode(node)
	}
	classes := slices.SortedFunc(slices.Values(c.Classes), func(a, b *api.DeviceClass) int { return strings.Compare(a.Name, b.Name) })
	err := errors.Join(
		putAs[resourceapi.DeviceClass](s, classes),
		putAs[resourceapi.ResourceSlice](s, c.Slices),
		putAs[resourceapi.DeviceTaintRule](s, c.TaintRules),
	)
	for _, x := range c.Claims {
		claim, convertErr := workload.Convert[resourceapi.ResourceClaim](x)
		if convertErr != nil {
			return convertErr
		}
		err = errors.Join(err, s.claims.put(claim))
	}
	return errors.Join(err, s.sched.Cache.UpdateSnapshot(s.logger, s.snapshot))
}

func putAs[T, B any, P interface {
	*T
	runtime.Object
}](s *Scheduler, list []*B) error {
	for _, x := range list {
		o, err := workload.Convert[T](x)
		if err != nil {
			return err
		}
		if err := s.known.put(P(o)); err != nil {
			return err
		}
	}
	return nil
}

// A deviceAnswerer asks the plugin about the pods of one case.
type deviceAnswerer struct {
	*Scheduler
	c      *golden.DeviceCase
	next   func(step int, passed []string) (node, then string)
	plugin fwk.Plugin
	fit    fwk.Plugin
	flying []flyingPod
}

// A flyingPod is a pod whose devices are in flight.
type flyingPod struct {
	state fwk.CycleState
	pod   *v1.Pod
	node  string
}

// end gives back what is in flight, so that nothing of it is left for the next case.
func (a *deviceAnswerer) end() {
	for _, f := range a.flying {
		a.plugin.(fwk.ReservePlugin).Unreserve(a.ctx, f.state, f.pod, f.node)
	}
	a.client.ClearActions()
}

// step frees a claim, or takes a pod through the plugin.
func (a *deviceAnswerer) step(i int) error {
	step := &a.c.Steps[i]
	if step.Pod == nil {
		namespace, name, _ := strings.Cut(step.Free, "/")
		claim, err := a.claims.get(namespace, name)
		if err != nil {
			return err
		}
		claim.Status = resourceapi.ResourceClaimStatus{}
		return a.claims.put(claim)
	}
	pod, err := workload.Convert[v1.Pod](step.Pod)
	if err != nil {
		return err
	}
	profile, ok := a.sched.Profiles[pod.Spec.SchedulerName]
	if !ok {
		return fmt.Errorf("no profile %q", pod.Spec.SchedulerName)
	}
	all := plugins(profile)
	a.plugin, a.fit = all["DynamicResources"], all["NodeResourcesFit"]
	nodes, err := a.snapshot.NodeInfos().List()
	if err != nil {
		return err
	}
	q := &deviceQuestion{deviceAnswerer: a, pod: pod, nodes: nodes, state: newState(), expect: &step.Expect}
	return q.ask(i, step)
}

// A deviceQuestion is one pod of a case.
type deviceQuestion struct {
	*deviceAnswerer
	pod    *v1.Pod
	nodes  []fwk.NodeInfo
	state  fwk.CycleState
	expect *golden.DeviceExpect
	passed []string
}

// answered returns a status, nil for success.
func answered(s *fwk.Status) *golden.Status {
	if s.IsSuccess() {
		return nil
	}
	x := alone(s)
	return &x
}

func (q *deviceQuestion) ask(i int, step *golden.DeviceStep) error {
	q.expect.PreEnqueue = answered(q.plugin.(fwk.PreEnqueuePlugin).PreEnqueue(q.ctx, q.pod))
	_, status := q.plugin.(fwk.PreFilterPlugin).PreFilter(q.ctx, q.state, q.pod, q.nodes)
	q.expect.PreFilter = answered(status)
	q.expect.Nodes = map[string]golden.DeviceNodeExpect{}
	if status.IsSuccess() || status.IsSkip() {
		if err := q.filter(status.IsSkip()); err != nil {
			return err
		}
		if err := q.score(); err != nil {
			return err
		}
		if q.c.Family == "extended" || q.c.Family == "containers" {
			q.resources()
		}
	}
	if len(q.passed) == 0 {
		q.postFilter()
		return nil
	}
	step.Node, step.Then = q.next(i, q.passed)
	return q.reserve(step)
}

// stateData returns what the plugin keeps for the cycle.
func (q *deviceQuestion) stateData() (any, error) { return q.state.Read("DynamicResources") }

// inner gives access to a field of a field that the plugin does not export.
func inner(v reflect.Value, names ...string) reflect.Value {
	for _, name := range names {
		v = v.FieldByName(name)
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// filter asks about every node, and notes what each would give.
func (q *deviceQuestion) filter(skip bool) error {
	var of reflect.Value
	var claims []*resourceapi.ResourceClaim
	if !skip {
		data, err := q.stateData()
		if err != nil {
			return err
		}
		of = reflect.ValueOf(data).Elem()
		claims = *claimsOf(data)
	}
	for _, c := range claims {
		if c.Status.Allocation == nil {
			q.expect.ToAllocate = append(q.expect.ToAllocate, c.Name)
		}
	}
	for _, n := range q.nodes {
		name := n.Node().Name
		if skip {
			q.passed = append(q.passed, name)
			continue
		}
		status := q.plugin.(fwk.FilterPlugin).Filter(q.ctx, q.state, q.pod, n)
		if strings.Contains(status.Message(), "timed out trying to allocate") {
			return ErrTimedOut
		}
		e := golden.DeviceNodeExpect{Filter: answered(status)}
		if status.IsSuccess() {
			q.passed = append(q.passed, name)
			if err := noteAllocation(inner(of, "nodeAllocations"), name, &e); err != nil {
				return err
			}
		}
		q.expect.Nodes[name] = e
	}
	if !skip {
		for i := range *inner(of, "unavailableClaims").Addr().Interface().(*sets.Set[int]) {
			q.expect.Unavailable = append(q.expect.Unavailable, claims[i].Name)
		}
		slices.Sort(q.expect.Unavailable)
	}
	return nil
}

// noteAllocation notes what the plugin keeps for a node.
func noteAllocation(nodes reflect.Value, name string, e *golden.DeviceNodeExpect) error {
	entry := nodes.MapIndex(reflect.ValueOf(name))
	if !entry.IsValid() {
		return nil
	}
	p := reflect.New(entry.Type())
	p.Elem().Set(entry)
	results := *field[[]resourceapi.AllocationResult](p.Interface(), "allocationResults")
	for i := range results {
		a, err := back[api.AllocationResult](&results[i])
		if err != nil {
			return err
		}
		e.Allocations = append(e.Allocations, a)
	}
	if claim := *field[*resourceapi.ResourceClaim](p.Interface(), "extendedResourceClaim"); claim != nil {
		for i := range claim.Spec.Devices.Requests {
			r, err := back[api.DeviceRequest](&claim.Spec.Devices.Requests[i])
			if err != nil {
				return err
			}
			e.ExtendedRequests = append(e.ExtendedRequests, *r)
		}
	}
	for _, m := range *field[[]v1.ContainerExtendedResourceRequest](p.Interface(), "containerResourceRequestMappings") {
		e.Mappings = append(e.Mappings, golden.DeviceMapping{Container: m.ContainerName, Resource: m.ResourceName, Request: m.RequestName})
	}
	return nil
}

// back returns berth's object with the JSON of a Kubernetes object.
func back[T any](object any) (*T, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	x := new(T)
	return x, json.Unmarshal(text, x)
}

// score scores the nodes that passed.
func (q *deviceQuestion) score() error {
	p := q.plugin.(fwk.ScorePlugin)
	var list fwk.NodeScoreList
	for _, n := range q.nodes {
		if !slices.Contains(q.passed, n.Node().Name) {
			continue
		}
		score, status := p.Score(q.ctx, q.state, q.pod, n)
		if !status.IsSuccess() {
			return status.AsError()
		}
		list = append(list, fwk.NodeScore{Name: n.Node().Name, Score: score})
	}
	raw := slices.Clone(list)
	if len(list) > 0 {
		p.ScoreExtensions().NormalizeScore(q.ctx, q.state, q.pod, list)
	}
	for i := range list {
		e := q.expect.Nodes[list[i].Name]
		e.Score, e.Normalized = &raw[i].Score, &list[i].Score
		q.expect.Nodes[list[i].Name] = e
	}
	return nil
}

// resources asks NodeResourcesFit about every node.
func (q *deviceQuestion) resources() {
	state := newState()
	_, status := q.fit.(fwk.PreFilterPlugin).PreFilter(q.ctx, state, q.pod, q.nodes)
	if !status.IsSuccess() {
		return
	}
	for _, n := range q.nodes {
		e := q.expect.Nodes[n.Node().Name]
		if e.Fit = answered(q.fit.(fwk.FilterPlugin).Filter(q.ctx, state, q.pod, n)); e.Fit != nil {
			slices.Sort(e.Fit.Reasons)
		}
		q.expect.Nodes[n.Node().Name] = e
	}
}

// postFilter collects what the plugin proposes. Its writes have no effect.
func (q *deviceQuestion) postFilter() {
	q.claims.deaf = true
	defer func() { q.claims.deaf = false }()
	for range tries {
		q.claims.written = nil
		_, status := q.plugin.(fwk.PostFilterPlugin).PostFilter(q.ctx, q.state, q.pod, nil)
		x := golden.DevicePostFilter{Code: status.Code().String(), Message: status.Message()}
		for _, w := range q.claims.written {
			what, name, _ := strings.Cut(w, " ")
			switch what {
			case "free":
				x.Freed = name
			case "delete":
				x.Deleted = name
			}
		}
		if x.Deleted != "" {
			x.Freed = "" // a deletion begins with an update of the finalizers
		}
		if !slices.Contains(q.expect.PostFilter, x) {
			q.expect.PostFilter = append(q.expect.PostFilter, x)
		}
	}
}

// reserve reserves the node, and does what comes then. It keeps off what differs on
// purpose or takes time, and leaves the devices in flight instead.
func (q *deviceQuestion) reserve(step *golden.DeviceStep) error {
	twice := len(slices.Compact(slices.Sorted(slices.Values(q.expect.ToAllocate)))) < len(q.expect.ToAllocate)
	if step.Node == "" || step.Then == "none" || twice {
		step.Node, step.Then = "", "none"
		return nil
	}
	if step.Then == "bind" && !q.mayBind(step.Node) || step.Then == "unreserve" && q.unreserveWrites() {
		step.Then = ""
	}
	p := q.plugin.(fwk.ReservePlugin)
	status := p.Reserve(q.ctx, q.state, q.pod, step.Node)
	if q.expect.Reserve = answered(status); !status.IsSuccess() {
		return nil
	}
	switch step.Then {
	case "unreserve":
		p.Unreserve(q.ctx, q.state, q.pod, step.Node)
		return nil
	case "bind":
		return q.bind(step)
	}
	q.flying = append(q.flying, flyingPod{q.state, q.pod, step.Node})
	return nil
}

// unreserveWrites reports whether Unreserve would write claims, which berth leaves to the
// driver: it takes back reservations of the pod, and deletes the claim that an earlier cycle
// made for its extended resources.
func (q *deviceQuestion) unreserveWrites() bool {
	data, err := q.stateData()
	return err == nil && slices.ContainsFunc(*claimsOf(data), func(c *resourceapi.ResourceClaim) bool {
		made := c.Annotations[resourceapi.ExtendedResourceClaimAnnotation] == "true" && c.Name != "<extended-resources>"
		return made || slices.ContainsFunc(c.Status.ReservedFor, func(r resourceapi.ResourceClaimConsumerReference) bool { return r.UID == q.pod.UID })
	})
}

// claimsOf returns the claims in what the plugin keeps for a cycle.
func claimsOf(data any) *[]*resourceapi.ResourceClaim {
	return inner(reflect.ValueOf(data).Elem(), "claims", "claims").Addr().Interface().(*[]*resourceapi.ResourceClaim)
}

// mayBind reports whether binding needs no waiting, and has no claim without requests.
func (q *deviceQuestion) mayBind(node string) bool {
	e := q.expect.Nodes[node]
	special := len(q.expect.ToAllocate) > 0 && q.expect.ToAllocate[len(q.expect.ToAllocate)-1] == "<extended-resources>"
	if special && len(e.Mappings) == 0 && len(e.Allocations) > 0 {
		return false
	}
	data, err := q.stateData()
	if err != nil {
		return false
	}
	list := slices.Clone(e.Allocations)
	for _, c := range *claimsOf(data) {
		if c.Status.Allocation != nil {
			a, err := back[api.AllocationResult](c.Status.Allocation)
			if err != nil {
				return false
			}
			list = append(list, a)
		}
	}
	return !slices.ContainsFunc(list, func(a *api.AllocationResult) bool {
		return slices.ContainsFunc(a.Devices.Results, func(r api.DeviceRequestAllocationResult) bool { return len(r.BindingConditions) > 0 })
	})
}

// bind writes the claims, and notes what was written.
func (q *deviceQuestion) bind(step *golden.DeviceStep) error {
	status := q.plugin.(fwk.PreBindPlugin).PreBind(q.ctx, q.state, q.pod, step.Node)
	if q.expect.Bind = answered(status); !status.IsSuccess() {
		q.plugin.(fwk.ReservePlugin).Unreserve(q.ctx, q.state, q.pod, step.Node)
		return nil
	}
	data, err := q.stateData()
	if err != nil {
		return err
	}
	for _, c := range *claimsOf(data) {
		if c.Status.Allocation == nil {
			continue // of extended resources that the node offers itself
		}
		b := golden.DeviceBound{Claim: c.Name}
		if b.Allocation, err = back[api.AllocationResult](c.Status.Allocation); err != nil {
			return err
		}
		b.Allocation.AllocationTimestamp = nil
		for i := range b.Allocation.Devices.Results {
			if r := &b.Allocation.Devices.Results[i]; r.ShareID != nil {
				r.ShareID = new(api.UID("*"))
			}
		}
		for _, r := range c.Status.ReservedFor {
			b.ReservedFor = append(b.ReservedFor, string(r.UID))
		}
		q.expect.Bound = append(q.expect.Bound, b)
	}
	return nil
}
