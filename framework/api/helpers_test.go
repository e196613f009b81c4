package api_test

import (
	"os"
	"testing"

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

// plainPod returns a pod with one container and the given requests.
func plainPod(name string, requests ...string) *api.Pod {
	p := &api.Pod{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "default", UID: api.UID("uid-" + name)}}
	p.Spec.Containers = []api.Container{{Name: "main", Image: "app", Resources: api.ResourceRequirements{Requests: quantities(requests...)}}}
	return p
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// decodeFiles decodes files into one set of objects.
func decodeFiles(t testing.TB, names ...string) *api.Objects {
	t.Helper()
	o := new(api.Objects)
	for _, name := range names {
		data, err := os.ReadFile(name)
		must(t, err)
		must(t, o.Decode(data))
	}
	return o
}
