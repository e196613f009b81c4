//go:build full

package whatif_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// TestWhyNotOfHugePods asks about pods whose remedies could be searched for hours. The error
// says that it is too much.
func TestWhyNotOfHugePods(t *testing.T) {
	for name, change := range map[string]func(*api.Container, int){
		"host ports": func(c *api.Container, i int) { c.Ports = []api.ContainerPort{{HostPort: int32(1000 + i)}} },
		"requests": func(c *api.Container, i int) {
			c.Resources.Requests = resource.List{resource.CPU: resource.Milli(int64(1000 + i))}
		},
	} {
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("a", "1", "1Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		p := api.MakePod("p").Requests("2", "2Gi").Obj()
		for i := range 800 {
			c := api.Container{Name: fmt.Sprint("c", i)}
			change(&c, i)
			p.Spec.Containers = append(p.Spec.Containers, c)
		}
		pod, err := s.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		planner, err := whatif.New(scheduling.Kubernetes137(), s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = planner.WhyNot(pod, "a")
		var invalid *api.InvalidError
		if !errors.As(err, &invalid) || invalid.Object != "pod default/p" || !strings.Contains(err.Error(), "more than 20000000 steps") {
			t.Errorf("%s: error %v, want one that names the pod and the bound", name, err)
		}
	}
}

// TestWhyNotOfManySelectors asks about a pod whose claims each look through many volumes in each trial.
func TestWhyNotOfManySelectors(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	node := api.MakeNode("a", "1", "1Gi").Unschedulable()
	for i := range 12 {
		node = node.Taint(fmt.Sprint("t", i, ":NoSchedule"))
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.AddNode(node.Obj()))
	must(framework.Put(s, &api.StorageClass{
		ObjectMeta: api.ObjectMeta{Name: "local"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: new(api.VolumeBindingWaitForFirstConsumer),
	}))
	for i := range 90 {
		small, err := s.NewPodInfo(api.MakePod(fmt.Sprint("small", i)).Requests("10m", "1Mi").Obj())
		must(err)
		must(s.AddPod(small, "a"))
	}
	p := api.MakePod("p").Requests("500m", "1Mi")
	for i := range 8000 {
		v := &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("v", i), Labels: map[string]string{"n": fmt.Sprint(i)}}}
		v.Spec.StorageClassName, v.Status.Phase = "local", api.VolumeAvailable
		must(framework.Put(s, v))
	}
	for i := range 200 {
		c := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: fmt.Sprint("c", i)}}
		c.Spec.StorageClassName, c.Spec.Selector = new("local"), &api.LabelSelector{MatchLabels: map[string]string{"n": fmt.Sprint(i)}}
		must(framework.Put(s, c))
		p = p.Claim(c.Name)
	}
	pod, err := s.NewPodInfo(p.Obj())
	must(err)
	planner, err := whatif.New(scheduling.Kubernetes137(), s)
	must(err)
	_, err = planner.WhyNot(pod, "a")
	var invalid *api.InvalidError
	if !errors.As(err, &invalid) || invalid.Object != "pod default/p" || !strings.Contains(err.Error(), "more than 20000000 steps") {
		t.Errorf("error %v, want one that names the pod and the bound", err)
	}
}
