package volumes_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/volumes"
)

// A claim that is made for one pod may be mounted by name by another.
func TestMayShare(t *testing.T) {
	scratch := func(pod, namespace string) api.PodBuilder {
		return api.MakePod(pod).Namespace(namespace).Volume(api.Volume{Name: "scratch", VolumeSource: api.VolumeSource{Ephemeral: &api.EphemeralVolumeSource{}}})
	}
	many := api.MakePod("many").Namespace("x")
	for i := range 20 {
		many = many.Claim(fmt.Sprint("c", i))
	}
	for name, c := range map[string]struct {
		a, b api.PodBuilder
		want bool
	}{
		"by name":                  {scratch("a", "x"), api.MakePod("b").Namespace("x").Claim("a-scratch"), true},
		"by name, of many":         {scratch("a", "x"), many.Claim("a-scratch"), true},
		"another namespace":        {scratch("a", "x"), api.MakePod("b").Namespace("y").Claim("a-scratch"), false},
		"another name":             {scratch("a", "x"), many.Claim("b-scratch"), false},
		"each its own":             {scratch("a", "x"), scratch("b", "x"), false},
		"one claim":                {api.MakePod("a").Namespace("x").Claim("c7"), many, true},
		"a disk":                   {many, api.MakePod("b").Volume(api.Volume{VolumeSource: api.VolumeSource{GCEPersistentDisk: &api.GCEPersistentDiskVolumeSource{PDName: "d"}}}), true},
		"a disk, and no volume":    {api.MakePod("a"), api.MakePod("b").Volume(api.Volume{VolumeSource: api.VolumeSource{GCEPersistentDisk: &api.GCEPersistentDiskVolumeSource{PDName: "d"}}}), false},
		"nothing but a few claims": {api.MakePod("a").Namespace("x").Claim("c"), api.MakePod("b").Namespace("x").Claim("d"), false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := podOf(t, c.a), podOf(t, c.b)
			if got := a.MayShare(b); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if got := b.MayShare(a); got != c.want {
				t.Errorf("the other way: %v, want %v", got, c.want)
			}
		})
	}
}

func podOf(t *testing.T, b api.PodBuilder) *volumes.Pod {
	t.Helper()
	p, err := framework.NewSnapshot(framework.Arrival).NewPodInfo(b.Obj())
	if err != nil {
		t.Fatal(err)
	}
	return volumes.Of(p)
}
