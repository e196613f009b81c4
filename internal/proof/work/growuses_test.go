//go:build full

package work

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/extender"
	"github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/multicluster"
	"github.com/berth-sched/berth/scheduling/preemption"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scheduling/virtualclock"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/berth-sched/berth/scoring"
)

// now is the time of all clusters.
var now = time.Date(2030, 1, 1, 0, 0, 20, 0, time.UTC)

// A use is something that is done with objects that have grown. Its error is one of the objects, which is
// no fault: many that have grown are not valid, and to find that must not take long either.
type use struct {
	name string
	do   func(tree map[string]any) error
}

// clusterUses are done with the objects of a cluster.
var clusterUses = []use{
	{"decode", func(tree map[string]any) error {
		o, err := objects(tree)
		if err == nil {
			o.Doubts()
			o.Warnings()
			err = o.Validate()
		}
		return err
	}},
	{"place", func(tree map[string]any) error { return place(tree, profile(), false) }},
	{"reference", func(tree map[string]any) error {
		p := profile()
		p.Cache.Off = true
		return place(tree, p, false)
	}},
	{"place as 1.18", func(tree map[string]any) error { return place(tree, scheduling.Kubernetes118(), false) }},
	{"preempt", func(tree map[string]any) error { return place(tree, profile(), true) }},
	{"handle", handle},
	{"drive", drive},
	{"headroom", planner(headroom)},
	{"nodes needed", planner(nodesNeeded)},
	{"drain", planner(drainNode)},
	{"rebalance", planner(rebalance)},
	{"simulate", simulated},
}

// objects are the objects of the tree, as a user's would be read.
func objects(tree map[string]any) (*api.Objects, error) {
	var items []any
	for _, role := range sortedKeys(tree) {
		items = append(items, tree[role])
	}
	o, err := api.Decode(text(map[string]any{"kind": "List", "apiVersion": "v1", "items": items}))
	if err != nil {
		return nil, err
	}
	return o, o.Default()
}

// profile is kube-scheduler's with the plugins of Koordinator, and groups.
func profile() scheduling.Profile {
	load, err := estimator.NewLoad(estimator.LoadConfig{
		Expiration: time.Hour, Thresholds: map[resource.Name]int64{"cpu": 90}, ProdThresholds: map[resource.Name]int64{"cpu": 90},
	})
	if err != nil {
		panic(err)
	}
	p := scheduling.Kubernetes137()
	p.Filter = append(p.Filter, filter.LoadAware{Load: load})
	p.Score = append(p.Score, scheduling.Weighted{Plugin: scoring.LoadAware{Load: load}, Weight: 1})
	p.PostFilter = []framework.Plugin{preemption.DefaultPreemption{PodGroups: true}}
	return p
}

// larger is the pod with a request for cpu that only fits once others have left.
func larger(p *api.Pod, cpu string) *api.Pod {
	q := api.Clone(p)
	if len(q.Spec.Containers) > 0 {
		c := &q.Spec.Containers[0]
		requests := resource.List{}
		for name, amount := range c.Resources.Requests {
			requests[name] = amount
		}
		requests[resource.CPU] = resource.MustParse(cpu)
		c.Resources.Requests = requests
	}
	q.Spec.Resources = nil
	return q
}

// place decides about all pods that wait, on both paths, explains, and places them.
func place(tree map[string]any, p scheduling.Profile, preempt bool) error {
	o, err := objects(tree)
	if err != nil {
		return err
	}
	if preempt {
		for i, pod := range o.Pods {
			if pod.Spec.NodeName == "" && pod.Spec.Priority != nil {
				cpu := "4"
				if o.Nodes[0].Status.Allocatable[resource.CPU] == resource.MustParse("8") {
					cpu = "7"
				}
				o.Pods[i] = larger(pod, cpu)
			}
		}
	}
	snap, pending, err := framework.SnapshotOf(o, framework.Arrival)
	if snap == nil {
		return err
	}
	snap.SetNow(now)
	sched, err2 := scheduling.New(p)
	if err2 != nil {
		return err2
	}
	errs := []error{err}
	for _, pod := range pending {
		for range 2 {
			d, err := sched.Schedule(snap, pod)
			errs = append(errs, err)
			if err != nil && preempt {
				_, _, _, err := sched.PostFilter(context.Background(), snap, pod, d)
				errs = append(errs, err)
			}
		}
		if preempt {
			continue
		}
		sched.ExplainAll(snap, pod)
		f, err := sched.Filtering(snap, pod)
		errs = append(errs, err)
		if err == nil {
			for _, n := range snap.All() {
				_, err := f.Rejections(n)
				errs = append(errs, err)
			}
		}
		_, err = sched.ScoreTable(snap, pod)
		errs = append(errs, err)
		d, err := sched.Place(snap, pod)
		errs = append(errs, err)
		if err == nil {
			errs = append(errs, sched.Release(snap, pod, d.Node))
		}
	}
	if !preempt {
		var pods []*framework.PodInfo
		for _, n := range snap.All() {
			pods = append(pods, n.Pods...)
		}
		_, err = gang.KoordinatorGangs(append(pods, pending...), o.PodGroups, nil)
		errs = append(errs, err)
		if len(pods) > 0 {
			errs = append(errs, snap.RemovePod(pods[0], pods[0].Pod.Spec.NodeName))
		}
	}
	return errors.Join(errs...)
}

// handle sends the pods to a handler.
func handle(tree map[string]any) error {
	o, err := objects(tree)
	if err != nil {
		return err
	}
	snap, _, err := framework.SnapshotOf(o, framework.Arrival)
	sched, err2 := scheduling.New(profile())
	if err = errors.Join(err, err2); err2 != nil {
		return err
	}
	h := &extender.Handler{
		Scheduler: sched, Snapshot: func(context.Context) (*framework.Snapshot, error) { return snap, nil },
		Bind: func(context.Context, extender.BindingArgs) error { return nil },
	}
	errs := []error{err}
	send := func(verb string, body any) {
		r := httptest.NewRequest(http.MethodPost, "/"+verb, bytes.NewReader(text(body)))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			errs = append(errs, errors.New(w.Body.String()))
		}
	}
	nodes := []any{"n0", "b"}
	for _, role := range []string{"pod", "waits"} {
		pod, ok := tree[role]
		if !ok {
			continue
		}
		send("filter", map[string]any{"Pod": pod, "NodeNames": nodes})
		send("filter", map[string]any{"Pod": pod, "Nodes": map[string]any{"items": []any{tree["node"]}}})
		send("prioritize", map[string]any{"Pod": pod, "NodeNames": nodes})
		send("preempt", map[string]any{"Pod": pod, "NodeNameToMetaVictims": map[string]any{"n0": map[string]any{"Pods": []any{map[string]any{"UID": "there"}}}}})
		send("preempt", map[string]any{"Pod": pod, "NodeNameToVictims": map[string]any{"n0": map[string]any{"Pods": []any{tree["there"]}}}})
	}
	send("bind", map[string]any{"PodName": "p", "PodNamespace": "s", "PodUID": "p", "Node": "n0"})
	return errors.Join(errs...)
}

// an event is an update of an object, and its deletion.
type event struct{ update, change, delete lifecycle.Event }

func eventsOf[T api.Object](events []event, list []*T, meta func(*T) *api.ObjectMeta) []event {
	for _, x := range list {
		y := api.Clone(x)
		m := meta(y)
		labels := map[string]string{"changed": "yes"}
		for k, v := range m.Labels {
			labels[k] = v
		}
		m.Labels, m.ResourceVersion = labels, "2"
		events = append(events, event{lifecycle.Update(x), lifecycle.Update(y), lifecycle.Delete(y)})
	}
	return events
}

// drive gives the objects to a driver, which tries the pods, changes each, deletes it, and gives it again.
func drive(tree map[string]any) error {
	o, err := objects(tree)
	if err != nil {
		return err
	}
	for _, p := range o.Pods {
		if p.Spec.NodeName == "" {
			q := larger(p, "100")
			q.Name, q.UID = q.Name+"-large", q.UID+"-large"
			o.Pods = append(o.Pods, q)
		}
	}
	errs := []error{}
	p := profile()
	clock := virtualclock.New(now)
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Groups: &gang.Rules{}, Clock: clock,
		Binder:       lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { return nil }),
		ErrorHandler: func(err error) { errs = append(errs, err) },
	})
	if err != nil {
		return err
	}
	var events []event
	events = eventsOf(events, o.Namespaces, func(x *api.Namespace) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.PodDisruptionBudgets, func(x *api.PodDisruptionBudget) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.Services, func(x *api.Service) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.ReplicaSets, func(x *api.ReplicaSet) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.StatefulSets, func(x *api.StatefulSet) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.ReplicationControllers, func(x *api.ReplicationController) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.StorageClasses, func(x *api.StorageClass) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.PersistentVolumes, func(x *api.PersistentVolume) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.PersistentVolumeClaims, func(x *api.PersistentVolumeClaim) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.CSINodes, func(x *api.CSINode) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.CSIDrivers, func(x *api.CSIDriver) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.CSIStorageCapacities, func(x *api.CSIStorageCapacity) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.VolumeAttachments, func(x *api.VolumeAttachment) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.DeviceClasses, func(x *api.DeviceClass) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.ResourceSlices, func(x *api.ResourceSlice) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.ResourceClaims, func(x *api.ResourceClaim) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.ResourceClaimTemplates, func(x *api.ResourceClaimTemplate) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.DeviceTaintRules, func(x *api.DeviceTaintRule) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.PodGroups, func(x *api.PodGroup) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.CompositePodGroups, func(x *api.CompositePodGroup) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.NodeMetrics, func(x *api.NodeMetric) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.Nodes, func(x *api.Node) *api.ObjectMeta { return &x.ObjectMeta })
	events = eventsOf(events, o.Pods, func(x *api.Pod) *api.ObjectMeta { return &x.ObjectMeta })
	step := func(e lifecycle.Event) {
		d.Apply(e)
		d.Flush(context.Background())
		for range 8 {
			if _, ok := d.ScheduleOne(context.Background()); !ok {
				break
			}
		}
	}
	for _, e := range events {
		d.Apply(e.update)
	}
	d.Flush(context.Background())
	for range 16 {
		if _, ok := d.ScheduleOne(context.Background()); !ok {
			break
		}
	}
	for _, e := range events {
		step(e.change)
		step(e.update)
	}
	for _, e := range events {
		step(e.delete)
		step(e.update)
	}
	return errors.Join(errs...)
}

// planner makes a planner of the objects, and asks it with the pods that wait.
func planner(ask func(p *whatif.Planner, pending []*framework.PodInfo) error) func(map[string]any) error {
	return func(tree map[string]any) error {
		o, err := objects(tree)
		if err != nil {
			return err
		}
		snap, pending, err := framework.SnapshotOf(o, framework.Arrival)
		if snap == nil {
			return err
		}
		snap.SetNow(now)
		p, err2 := whatif.New(profile(), snap)
		if err2 != nil {
			return err2
		}
		return errors.Join(err, ask(p, pending))
	}
}

func headroom(p *whatif.Planner, pending []*framework.PodInfo) (err error) {
	for _, pod := range pending {
		_, err2 := p.Headroom(pod, 3)
		err = errors.Join(err, err2)
	}
	return err
}

func nodesNeeded(p *whatif.Planner, pending []*framework.PodInfo) error {
	n := p.Snapshot().Node("n0")
	if n == nil {
		return errors.New("no node n0")
	}
	_, err := p.NodesNeeded(pending, whatif.TypeLike("like", n))
	return err
}

func drainNode(p *whatif.Planner, _ []*framework.PodInfo) error {
	_, err := p.Drain("n0")
	_, err2 := p.Removable()
	_, err3 := p.Consolidate()
	return errors.Join(err, err2, err3)
}

func rebalance(p *whatif.Planner, _ []*framework.PodInfo) error {
	c := whatif.RebalanceConfig{Low: map[resource.Name]float64{"cpu": 40}, High: map[resource.Name]float64{"cpu": 45}}
	_, err := p.Rebalance(c)
	c.UseRequests = true
	_, err2 := p.Rebalance(c)
	return errors.Join(err, err2)
}

// simulated runs a simulation of the objects, for an hour.
func simulated(tree map[string]any) error {
	o, err := objects(tree)
	if err != nil {
		return err
	}
	trace, err := simulate.FromObjects(o)
	if err != nil {
		return err
	}
	for _, change := range []string{"x", "y"} {
		next := &api.Objects{}
		for _, x := range o.Deployments {
			y := api.Clone(x)
			annotations := map[string]string{"berth": change}
			for k, v := range y.Spec.Template.Annotations {
				annotations[k] = v
			}
			y.Spec.Template.Annotations = annotations
			next.Deployments = append(next.Deployments, y)
		}
		next.Nodes = append(next.Nodes, o.Nodes...)
		next.DaemonSets = append(next.DaemonSets, o.DaemonSets...)
		trace.Events = append(trace.Events, simulate.Event{At: time.Duration(len(trace.Events)) * time.Minute, Apply: next})
	}
	_, err = simulate.Run(context.Background(), simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace, SampleEvery: -1})
	return err
}

// federate places the workload of a federation.
func federate(tree map[string]any) error {
	o, err := objects(map[string]any{"cluster": tree["cluster"], "other cluster": tree["other cluster"], "node": tree["node"], "pod": tree["pod"]})
	if err != nil {
		return err
	}
	var w multicluster.Workload
	if err := json.Unmarshal(text(tree["workload"]), &w); err != nil {
		return err
	}
	snap, pending, err := framework.SnapshotOf(&api.Objects{Nodes: o.Nodes, Pods: o.Pods}, framework.Arrival)
	errs := []error{err}
	pod := o.Pods[0]
	others := []*multicluster.Workload{}
	for _, name := range []string{"s/w2", "s/w3"} {
		other := w
		other.Name = name
		others = append(others, &other)
	}
	plain, divided, estimated := w, w, w
	// Overflow affinities do not go with static weights.
	for _, x := range []*multicluster.Workload{&plain, &divided} {
		x.Placement.ClusterAffinities = slices.Clone(x.Placement.ClusterAffinities)
		for i := range x.Placement.ClusterAffinities {
			x.Placement.ClusterAffinities[i].OverflowAffinities = nil
		}
	}
	plain.Components, plain.Replica = nil, capacity.ReplicaOf(pod)
	divided.Components, divided.Replica, divided.Evicting = nil, &capacity.Replica{Request: w.Components[0].Request}, nil
	estimated = divided
	estimated.Placement.ClusterAffinities = w.Placement.ClusterAffinities
	estimated.Placement.ReplicaScheduling = &multicluster.ReplicaScheduling{ReplicaSchedulingType: "Divided", ReplicaDivisionPreference: "Aggregated"}
	estimated.Placement.SpreadConstraints = nil
	w.Placement.ReplicaScheduling, w.Placement.ClusterAffinities = nil, divided.Placement.ClusterAffinities
	for _, s := range []multicluster.Scheduler{
		{},
		multicluster.Karmada113(), multicluster.Karmada118(),
		{Filters: append(multicluster.DefaultFilters(), multicluster.AffinityToWorkloads{Others: others}, multicluster.AntiAffinityToWorkloads{Others: others})},
		{Estimators: []capacity.ClusterEstimator{capacity.General{}, multicluster.Nodes{Snapshots: map[string]*framework.Snapshot{"c0": snap}}}},
	} {
		for _, x := range []multicluster.Workload{w, plain, divided, estimated} {
			errs = append(errs, x.Placement.Validate())
			_, err := s.Schedule(o.Clusters, &x)
			errs = append(errs, err)
			s.Explain(o.Clusters, &x)
		}
	}
	f, err := multicluster.NewFederation(multicluster.Scheduler{}, scheduling.Kubernetes137(), []multicluster.Member{{Cluster: o.Clusters[0], Snapshot: snap}})
	errs = append(errs, err)
	if err == nil {
		for _, x := range []multicluster.Workload{plain, estimated} {
			x.Replica = capacity.ReplicaOf(pod)
			_, err := f.Place(&x)
			errs = append(errs, err)
		}
	}
	_ = pending
	return errors.Join(errs...)
}

// configure reads a configuration, builds its profiles, and places a pod.
func configure(tree map[string]any) error {
	file := text(tree["file"])
	c, err := config.Load(file, config.LoadConfig{Registry: scheduling.Kubernetes137Registry()})
	if err != nil {
		return err
	}
	c.Effective()
	built, err := c.Build(config.BuildConfig{})
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range built.Profiles[:1] {
		p.Extenders = nil
		errs = append(errs, place(map[string]any{"node": tree["node"], "pod": tree["pod"]}, p, false))
	}
	return errors.Join(errs...)
}

func sortedKeys(tree map[string]any) []string {
	return slices.Sorted(maps.Keys(tree))
}
