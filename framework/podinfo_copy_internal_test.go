package framework

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A replica has all that its pod has, requests for resources that no node has among it.
func TestNamedHasEverything(t *testing.T) {
	schema := resource.NewSchema()
	for i := range resource.MaxGuests + 1 {
		if _, err := NewPodInfo(api.MakePod("p").Request(resource.Name(fmt.Sprint("example.com/r", i)), "1").Obj(), schema); err != nil {
			t.Fatal(err)
		}
	}
	p, err := NewPodInfo(api.MakePod("p").Priority(7).HostPort(80).NodeAffinity("metadata.name=n").Tolerates("").
		Requests("1", "1Gi").Request("example.com/last", "1").Obj(), schema)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Unknown) == 0 {
		t.Fatal("the pod has no unknown request")
	}
	replica, err := p.Named("replica")
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := NewPodInfo(replica.Pod, schema)
	if err != nil {
		t.Fatal(err)
	}
	got, want := reflect.ValueOf(replica).Elem(), reflect.ValueOf(fresh).Elem()
	for i := range got.NumField() {
		if f := got.Type().Field(i); f.IsExported() && !reflect.DeepEqual(got.Field(i).Interface(), want.Field(i).Interface()) {
			t.Errorf("%s is %v, want %v", f.Name, got.Field(i), want.Field(i))
		}
	}
	if replica.runner.Parts != fresh.runner.Parts || replica.runner.OnlyNode != fresh.runner.OnlyNode {
		t.Errorf("the parts are %b and %q, want %b and %q", replica.runner.Parts, replica.runner.OnlyNode, fresh.runner.Parts, fresh.runner.OnlyNode)
	}
}
