package framework_test

import (
	"errors"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// quantities reads name, text, name, text, ... as a resource list.
func quantities(pairs ...string) resource.List {
	l := resource.List{}
	for i := 0; i < len(pairs); i += 2 {
		l[resource.Name(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

// plainNode returns a node with 4 CPUs, 8 GiB and room for 10 pods.
func plainNode(name string, labels ...string) *api.Node {
	n := &api.Node{ObjectMeta: api.ObjectMeta{Name: name, Labels: map[string]string{}}}
	for i := 0; i < len(labels); i += 2 {
		n.Labels[labels[i]] = labels[i+1]
	}
	n.Status.Allocatable = quantities("cpu", "4", "memory", "8Gi", "pods", "10")
	return n
}

// plainPod returns a pod of one container with the given requests.
func plainPod(name string, requests ...string) *api.Pod {
	p := &api.Pod{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID("uid-" + name)}}
	p.Spec.Containers = []api.Container{{Name: "main", Image: "app", Resources: api.ResourceRequirements{Requests: quantities(requests...)}}}
	return p
}

// snapshotOf returns a snapshot of plain nodes.
func snapshotOf(t testing.TB, order framework.NodeOrder, names ...string) *framework.Snapshot {
	t.Helper()
	s := framework.NewSnapshot(order)
	for _, name := range names {
		must(t, s.AddNode(plainNode(name)))
	}
	return s
}

func podInfo(t testing.TB, s *framework.Snapshot, p *api.Pod) *framework.PodInfo {
	t.Helper()
	info, err := s.NewPodInfo(p)
	must(t, err)
	return info
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError checks the text of an error, and that it is an InvalidError.
func wantError(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %q", text)
		return
	}
	if err.Error() != text {
		t.Errorf("error is\n  %s\nwant\n  %s", err, text)
	}
	if invalid := (*api.InvalidError)(nil); !errors.As(err, &invalid) {
		t.Errorf("error %q is a %T, want an *InvalidError", err, err)
	}
}

// nodeNames returns the names in the snapshot's order.
func nodeNames(s *framework.Snapshot) []string {
	names := []string{}
	for _, n := range s.All() {
		names = append(names, n.Name())
	}
	return names
}

// podNames returns the names of the node's pods, in their order.
func podNames(n *framework.NodeInfo) []string {
	names := []string{}
	for _, p := range n.Pods {
		names = append(names, p.Pod.Name)
	}
	return names
}
