package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/whatif"
	"github.com/berth-sched/berth/scheduling/workload"
)

// kinds are the kinds of workloads by the names that kubectl takes for them.
var kinds = map[string]string{
	"deployment": "Deployment", "deployments": "Deployment", "deploy": "Deployment",
	"replicaset": "ReplicaSet", "replicasets": "ReplicaSet", "rs": "ReplicaSet",
	"statefulset": "StatefulSet", "statefulsets": "StatefulSet", "sts": "StatefulSet",
	"daemonset": "DaemonSet", "daemonsets": "DaemonSet", "ds": "DaemonSet",
	"job": "Job", "jobs": "Job",
	"replicationcontroller": "ReplicationController", "rc": "ReplicationController",
	"pod": "Pod", "pods": "Pod", "po": "Pod",
}

// targetHelp says what names a pod.
const targetHelp = `A TARGET is a pod, NAME or NAMESPACE/NAME, or a workload, KIND/NAME as for kubectl
(deployment/web, sts/db, job/load), whose pods are meant.`

// A target is what an argument names.
type target struct{ kind, key string }

// target reads an argument.
func (s *session) target(text string) (target, error) {
	first, rest, found := strings.Cut(text, "/")
	kind := "Pod"
	if k := kinds[strings.ToLower(first)]; found && k != "" {
		kind, text = k, rest
	}
	namespace, name, found := strings.Cut(text, "/")
	if !found {
		namespace, name = s.namespace, text
	}
	if namespace == "" || name == "" || strings.Contains(name, "/") {
		return target{}, fmt.Errorf("%q: want NAME, NAMESPACE/NAME or KIND/NAME", text)
	}
	return target{kind, namespace + "/" + name}, nil
}

// find returns the workload that a target names, nil for a pod.
func (s *session) find(t target) (*workload.Workload, error) {
	if t.kind == "Pod" {
		return nil, nil
	}
	all := workload.Of(&s.cluster.Objects)
	i := slices.IndexFunc(all, func(w workload.Workload) bool { return w.Kind == t.kind && w.Key() == t.key })
	if i < 0 {
		return nil, fmt.Errorf("%s %s: no such workload in %s%s", t.kind, t.key, s.cluster.Title, s.similar(t.key))
	}
	return &all[i], nil
}

// pattern returns a pod to ask about: one that waits or runs, or the template of a
// workload. It is in the form of one that waits.
func (s *session) pattern(text string) (*framework.PodInfo, error) {
	t, err := s.target(text)
	if err != nil {
		return nil, err
	}
	w, err := s.find(t)
	if err != nil {
		return nil, err
	}
	if w != nil {
		pod := w.Pod()
		pod.Name = w.Name
		return s.derive(pod)
	}
	if pod := s.waiting(t.key); pod != nil {
		return pod, nil
	}
	if pod, _ := s.snapshot.Pod(t.key); pod != nil {
		return pod.Pending(), nil
	}
	return nil, s.unknownPod(t.key)
}

// derive gives a pod of a workload its defaults.
func (s *session) derive(pod *api.Pod) (*framework.PodInfo, error) {
	if err := api.DefaultPod(pod, s.cluster.Objects.PriorityClasses); err != nil {
		return nil, s.cluster.Explain(err)
	}
	return s.snapshot.NewPodInfo(pod)
}

func (s *session) unknownPod(key string) error {
	return fmt.Errorf("pod %s: no such pod waits or runs in %s%s", key, s.cluster.Title, s.similar(key))
}

// similar suggests the same name in another namespace.
func (s *session) similar(key string) string {
	_, name, _ := strings.Cut(key, "/")
	keys := make([]string, 0, len(s.cluster.Objects.Pods))
	for _, p := range s.cluster.Objects.Pods {
		keys = append(keys, p.Key())
	}
	for _, w := range workload.Of(&s.cluster.Objects) {
		keys = append(keys, w.Key())
	}
	for _, k := range keys {
		if k != key && strings.HasSuffix(k, "/"+name) {
			return "; did you mean " + k + "? -n names the namespace"
		}
	}
	return ""
}

func (s *session) waiting(key string) *framework.PodInfo {
	i := slices.IndexFunc(s.pending, func(p *framework.PodInfo) bool { return p.Pod.Key() == key })
	if i < 0 {
		return nil
	}
	return s.pending[i]
}

// take returns the pod of that name as one that waits. If it runs, it is taken off its
// node first, so ask for the planner afterwards.
func (s *session) take(text string) (*framework.PodInfo, error) {
	pod, err := s.pattern(text)
	if err != nil {
		return nil, err
	}
	if t, _ := s.target(text); t.kind != "Pod" { // pattern has read it
		return pod, nil // it may have the name of a pod that runs
	}
	return whatif.TakeOff(s.snapshot, pod)
}

// A wanted is what the flags of a question say about the pods to ask about.
type wanted struct {
	requests string
	replicas int
}

// planFor returns what answers questions, and the pods to ask about.
func (s *session) planFor(w *wanted) (*whatif.Planner, []*framework.PodInfo, error) {
	plan, err := s.planner()
	if err != nil {
		return nil, nil, err
	}
	pods, err := s.pods(w)
	return plan, pods, err
}

// pods returns the pods to ask about: those that the arguments name, or the pods of
// -requests, or all that wait. A pod that several arguments name counts once.
func (s *session) pods(w *wanted) ([]*framework.PodInfo, error) {
	if w.replicas < 0 || w.replicas > maxReplicas {
		return nil, fmt.Errorf("-replicas: %d: want a number from 1 to %d", w.replicas, maxReplicas)
	}
	if w.requests != "" {
		if len(s.args) > 0 {
			return nil, fmt.Errorf("-requests and %q: give one of the two", s.args[0])
		}
		pod, err := s.requesting(w.requests)
		if err != nil {
			return nil, err
		}
		return whatif.Replicas(pod, max(w.replicas, 1))
	}
	if len(s.args) == 0 {
		if w.replicas > 0 {
			return nil, errors.New("-replicas: name a pod or workload, or give -requests")
		}
		return s.pending, nil
	}
	var all []*framework.PodInfo
	asked, seen := map[target]bool{}, map[string]*framework.PodInfo{}
	for _, text := range s.args {
		pods, err := s.podsOf(text, w.replicas)
		if err != nil {
			return nil, err
		}
		t, _ := s.target(text) // podsOf has read it
		if asked[t] {
			continue
		}
		asked[t] = true
		for _, pod := range pods {
			first := seen[pod.Pod.Key()]
			if first == pod {
				continue
			}
			if first != nil { // a replica of another workload of that name
				if pod, err = pod.Named(fmt.Sprintf("%s-%d", pod.Pod.Name, len(all))); err != nil {
					return nil, err
				}
			}
			seen[pod.Pod.Key()] = pod
			all = append(all, pod)
		}
	}
	return all, nil
}

const maxReplicas = 1_000_000

// podsOf returns so many replicas of what an argument names. With 0 replicas these are its
// pods that wait; if a workload has none, as many as its controller would make.
func (s *session) podsOf(text string, replicas int) ([]*framework.PodInfo, error) {
	pod, err := s.pattern(text)
	if err != nil {
		return nil, err
	}
	if replicas > 0 {
		return whatif.Replicas(pod, replicas)
	}
	t, _ := s.target(text) // pattern has read it
	w, _ := s.find(t)
	if w == nil {
		if s.waiting(t.key) == nil {
			_, node := s.snapshot.Pod(t.key)
			return nil, fmt.Errorf("pod %s runs on %s already; ask about more like it with -replicas", t.key, node.Name())
		}
		return []*framework.PodInfo{pod}, nil
	}
	var own []*framework.PodInfo
	for _, p := range s.pending {
		if s.owns(w, p.Pod) {
			own = append(own, p)
		}
	}
	if len(own) > 0 {
		return own, nil
	}
	return s.makes(w)
}

// makes returns the pods that a workload makes. Those of a DaemonSet are for the nodes that admit one and have none.
func (s *session) makes(w *workload.Workload) (list []*framework.PodInfo, err error) {
	has := map[string]bool{}
	for _, p := range s.cluster.Objects.Pods {
		if s.owns(w, p) {
			has[workload.TargetNode(p)] = true
		}
	}
	pods, err := w.Pods(slices.DeleteFunc(slices.Clone(s.cluster.Objects.Nodes), func(n *api.Node) bool { return has[n.Name] }))
	if err != nil {
		return nil, err
	}
	for i, p := range pods {
		if p.Name == "" {
			w.NumberPod(p, int(w.Start)+i)
		}
		info, err := s.derive(p)
		if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	return list, nil
}

// owns reports whether the workload made the pod, perhaps through a ReplicaSet.
func (s *session) owns(w *workload.Workload, p *api.Pod) bool {
	ref := p.ControllerRef()
	switch {
	case ref == nil || p.Namespace != w.Namespace:
		return false
	case ref.Kind == w.Kind:
		return ref.Name == w.Name
	case ref.Kind == "ReplicaSet" && w.Kind == "Deployment":
		if set := s.replicaSet(p.Namespace, ref.Name); set != nil {
			r := set.ControllerRef()
			return r != nil && r.Kind == w.Kind && r.Name == w.Name
		}
		return workload.DeploymentOf(p) == w.Name
	}
	return false
}

// replicaSet returns the ReplicaSet among the objects, nil if there is none.
func (s *session) replicaSet(namespace, name string) *api.ReplicaSet {
	list := s.cluster.Objects.ReplicaSets
	i := slices.IndexFunc(list, func(x *api.ReplicaSet) bool { return x.Namespace == namespace && x.Name == name })
	if i < 0 {
		return nil
	}
	return list[i]
}

// requesting makes a pod of requests such as "cpu=500m,memory=1Gi".
func (s *session) requesting(text string) (*framework.PodInfo, error) {
	builder := api.MakePod("new").Namespace(s.namespace)
	amounts, err := amountsOf("-requests", text)
	if err != nil {
		return nil, err
	}
	for _, a := range amounts {
		builder = builder.Request(a.name, a.amount)
	}
	pod := builder.Obj()
	if err := checkNames("-requests", &api.Objects{Pods: []*api.Pod{pod}}); err != nil {
		return nil, err
	}
	if err := api.DefaultPod(pod, s.cluster.Objects.PriorityClasses); err != nil {
		return nil, err
	}
	return s.snapshot.NewPodInfo(pod)
}

// checkNames refuses resources that an object made of flags cannot have.
func checkNames(where string, o *api.Objects) error {
	for _, d := range o.Doubts() {
		key := d.Field[strings.LastIndexByte(d.Field, '[')+1:]
		return fmt.Errorf("%s: %q: %w", where, strings.TrimSuffix(key, "]"), d.Err)
	}
	return nil
}

// An amount is an amount of a resource, as text.
type amount struct {
	name   resource.Name
	amount string
}

// amountsOf reads "cpu=500m,memory=1Gi"; where names the flag in errors.
func amountsOf(where, text string) (amounts []amount, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(part, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("%s: %q: want RESOURCE=AMOUNT,..., such as cpu=500m,memory=1Gi", where, part)
		}
		if slices.ContainsFunc(amounts, func(a amount) bool { return string(a.name) == name }) {
			return nil, fmt.Errorf("%s: %q is given twice", where, name)
		}
		if q, err := resource.Parse(value); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", where, name, err)
		} else if q.Sign() < 0 {
			return nil, fmt.Errorf("%s: %s: %q: must not be negative", where, name, value)
		}
		amounts = append(amounts, amount{resource.Name(name), value})
	}
	return amounts, nil
}

// group names what made a pod: its workload, or the pod itself.
func group(p *api.Pod) string {
	if ref := p.ControllerRef(); ref != nil {
		return p.Namespace + "/" + ref.Name
	}
	return p.Key()
}

// tally counts equal names, and lists the four most frequent ones.
func tally(names []string) string {
	counts := map[string]int{}
	var distinct []string
	for _, name := range names {
		if counts[name]++; counts[name] == 1 {
			distinct = append(distinct, name)
		}
	}
	slices.SortFunc(distinct, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	const most = 4
	var parts []string
	for i, name := range distinct {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(distinct)-most))
			break
		}
		if counts[name] > 1 {
			name = fmt.Sprintf("%s x%d", name, counts[name])
		}
		parts = append(parts, name)
	}
	return strings.Join(parts, ", ")
}
