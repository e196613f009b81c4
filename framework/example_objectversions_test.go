package framework_test

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// An answer that read volumes stands when a service comes, and no longer when a claim does.
func ExampleObjectVersions() {
	s := framework.NewSnapshot(framework.Arrival)
	read := s.ObjectVersions()
	stands := func() bool { return read.Differ(s.ObjectVersions())&framework.ReadsVolumes == 0 }

	service := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "web"}}
	fmt.Println(framework.Put(s, service), stands())
	claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: "data"}}
	fmt.Println(framework.Put(s, claim), stands())
	// Output:
	// <nil> true
	// <nil> false
}
