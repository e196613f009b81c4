package framework_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// amountsOf are so many resources of one kind.
func amountsOf(kind string, names int) resource.List {
	list := resource.List{resource.CPU: resource.Milli(1000)}
	for i := range names {
		list[resource.Name(fmt.Sprint("example.com/", kind, i))] = resource.New(1, resource.DecimalSI)
	}
	return list
}

// TestUsedNamesStay: a snapshot whose schema is full gives up names that only earlier nodes had, but none that a
// pod on a node requests, or one that is nominated to a node; and none in a transaction, which may bring them back.
func TestUsedNamesStay(t *testing.T) {
	for _, use := range []string{"nobody", "a pod on a node", "a nominated pod", "a transaction"} {
		s := snapshotOf(t, framework.Arrival, "n", "old")
		set := func(node string, list resource.List) error {
			n := plainNode(node)
			n.Status.Allocatable = list
			if s.Node(node) != nil {
				return s.UpdateNode(n)
			}
			return s.AddNode(n)
		}
		must(t, set("old", amountsOf("old", resource.MaxNames-10)))
		pod := plainPod("p")
		pod.Spec.Containers[0].Resources.Requests = resource.List{"example.com/old0": resource.New(1, resource.DecimalSI)}
		p := podInfo(t, s, pod)
		switch use {
		case "a pod on a node":
			must(t, s.AddPod(p, "n"))
		case "a nominated pod":
			must(t, s.Nominate(p, "n", ""))
		}
		must(t, set("old", amountsOf("old", 0)))
		mark := framework.Mark{}
		if use == "a transaction" {
			mark = s.Begin()
		}
		schema, err := s.Schema(), set("new", amountsOf("new", 100))
		if use == "a transaction" {
			if _, full := errors.AsType[*resource.FullError](err); !full || s.Schema() != schema {
				t.Errorf("in a transaction: error %v, schema replaced: %t; want that it is full", err, s.Schema() != schema)
			}
			s.Rollback(mark)
			err = set("new", amountsOf("new", 100))
		}
		must(t, err)
		if s.Schema() == schema {
			t.Errorf("%s: the schema stays, want one without the names of the earlier node", use)
		}
		for name, want := range map[resource.Name]bool{
			"example.com/old0": use == "a pod on a node" || use == "a nominated pod", "example.com/old1": false, "example.com/new0": true,
		} {
			if _, ok := s.Schema().Index(name); ok != want {
				t.Errorf("%s: %s is in the schema: %t, want %t", use, name, ok, want)
			}
		}
	}
}

// TestNamesOfClasses: device classes that come and go leave no names behind, also if their resources are requested, and a class
// that is there keeps its own.
func TestNamesOfClasses(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	class := func(i int) *api.DeviceClass {
		c := &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("class", i)}}
		c.Spec.ExtendedResourceName = new(fmt.Sprint("example.com/r", i))
		return c
	}
	must(t, framework.Put(s, class(-1)))
	for i := range 3 * resource.MaxNames {
		must(t, framework.Put(s, class(i)))
		p := podInfo(t, s, plainPod("p", fmt.Sprint("example.com/r", i), "1"))
		if len(p.Unknown) != 0 {
			t.Fatalf("class %d: its resource has no number", i)
		}
		framework.Delete[api.DeviceClass](s, class(i).Name)
	}
	if n := s.Schema().Len(); n > resource.MaxNames {
		t.Errorf("the schema has %d numbers, want at most %d", n, resource.MaxNames)
	}
	if p := podInfo(t, s, plainPod("p", "example.com/r-1", "1")); len(p.Unknown) != 0 {
		t.Error("a class that is there has lost its resource")
	}
	for i := range resource.MaxNames { // too many that are there: none is refused
		must(t, framework.Put(s, class(i)))
	}
	if p := podInfo(t, s, plainPod("p", fmt.Sprint("example.com/r", resource.MaxNames-1), "1")); len(p.Unknown) != 0 {
		t.Error("the last class has no number for its resource")
	}
}
