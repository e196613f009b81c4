package framework_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

func claim(namespace, name, volume string) *api.PersistentVolumeClaim {
	c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: namespace, Name: name}}
	c.Spec.VolumeName = volume
	return c
}

func claimKeys(s *framework.Snapshot) []string {
	keys := []string{}
	for _, c := range framework.List[api.PersistentVolumeClaim](s) {
		keys = append(keys, c.Key()+"="+c.Spec.VolumeName)
	}
	return keys
}

func TestOtherObjects(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if framework.List[api.Service](s) != nil || framework.Lookup[api.Service](s, "default/web") != nil || framework.ObjectsVersion[api.Service](s) != 0 {
		t.Error("a new snapshot holds services")
	}
	framework.Delete[api.Service](s, "default/web") // nothing there
	must(t, framework.Put(s, claim("default", "data", "")))
	must(t, framework.Put(s, claim("apps", "zeta", "")))
	listed := framework.List[api.PersistentVolumeClaim](s)
	version, all := framework.ObjectsVersion[api.PersistentVolumeClaim](s), s.Objects()

	f := s.Fork()
	m := f.Begin()
	must(t, framework.Put(f, claim("default", "data", "pv-1")))
	framework.Delete[api.PersistentVolumeClaim](f, "apps/zeta")
	must(t, framework.Put(f, claim("default", "more", "")))
	if diff := cmp.Diff([]string{"default/data=pv-1", "default/more="}, claimKeys(f)); diff != "" {
		t.Errorf("claims of the fork (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"apps/zeta=", "default/data="}, claimKeys(s)); diff != "" {
		t.Errorf("claims of the original (-want +got):\n%s", diff)
	}
	f.Rollback(m)
	if diff := cmp.Diff([]string{"apps/zeta=", "default/data="}, claimKeys(f)); diff != "" {
		t.Errorf("claims after the rollback (-want +got):\n%s", diff)
	}
	if framework.ObjectsVersion[api.PersistentVolumeClaim](f) != version || f.Objects() != all {
		t.Error("the rollback did not bring the versions back")
	}
	must(t, framework.Put(s, claim("default", "more", "")))
	if len(listed) != 2 || listed[0].Name != "zeta" {
		t.Error("a list taken earlier changed")
	}
	if framework.ObjectsVersion[api.PersistentVolumeClaim](s) == version || s.Objects() == all {
		t.Error("a Put left the versions as they were")
	}
	must(t, framework.Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "apps"}}))
	if got := framework.Lookup[api.Namespace](s, "apps"); got == nil || got.Name != "apps" {
		t.Errorf("Lookup of a kind without namespaces = %v", got)
	}
}

func TestPutRefuses(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	wantError(t, framework.Put[api.Service](s, nil), "object: is nil")
	wantError(t, framework.Put(s, &api.PersistentVolumeClaim{}), "persistentvolumeclaim: metadata.name: must not be empty")
	wantError(t, framework.Put(s, plainNode("n1")), "node n1: pods and nodes are added with Snapshot.AddPod and Snapshot.AddNode")
	wantError(t, framework.Put(s, plainPod("p1")), "pod default/p1: pods and nodes are added with Snapshot.AddPod and Snapshot.AddNode")
	if s.Objects() != 0 {
		t.Errorf("Objects() = %d after refused objects, want 0", s.Objects())
	}
}

// An object of a kind without namespaces is found by its name, whatever its
// namespace says.
func TestKeyOf(t *testing.T) {
	meta := api.ObjectMeta{Namespace: "team", Name: "x"}
	s := framework.NewSnapshot(framework.Arrival)
	metric, service := &api.NodeMetric{ObjectMeta: meta}, &api.Service{ObjectMeta: meta}
	if err := errors.Join(framework.Put(s, metric), framework.Put(s, service)); err != nil {
		t.Fatal(err)
	}
	if got := api.KeyOf(metric); got != "x" || framework.Lookup[api.NodeMetric](s, got) != metric {
		t.Errorf("KeyOf(node metric) = %q, want x, and the metric there", got)
	}
	if got := api.KeyOf(service); got != "team/x" || framework.Lookup[api.Service](s, got) != service {
		t.Errorf("KeyOf(service) = %q, want team/x, and the service there", got)
	}
}

// Listing sorts once; goroutines and forks may do it at the same time.
func TestListConcurrently(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for i := range 20 {
		must(t, framework.Put(s, claim("default", fmt.Sprint("c", 19-i), "")))
	}
	f := s.Fork()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			from := s
			if g%2 == 0 {
				from = f
			}
			if got := claimKeys(from); len(got) != 20 || got[0] != "default/c0=" {
				t.Errorf("claims = %v", got)
			}
		})
	}
	wg.Wait()
}

func ExamplePut() {
	s := framework.NewSnapshot(framework.Arrival)
	prod := &api.Namespace{ObjectMeta: api.ObjectMeta{Name: "prod", Labels: map[string]string{"team": "a"}}}
	if err := framework.Put(s, prod); err != nil {
		fmt.Println(err)
	}
	fmt.Println(framework.Lookup[api.Namespace](s, "prod").Labels["team"])
	framework.Delete[api.Namespace](s, "prod")
	fmt.Println(len(framework.List[api.Namespace](s)))
	// Output:
	// a
	// 0
}
