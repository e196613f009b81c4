package framework_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/enough"
	"github.com/berth-sched/berth/resource"
)

// A key within a bound is the whole key, or longer than the bound. It costs no more than the bound
// says, however many tolerations and ports there are.
func TestClassKeyWithin(t *testing.T) {
	seen := map[string]int{}
	enough.Check(t, seen, map[string]int{"whole": 10, "longer": 10}, func(t *rapid.T) {
		b := api.MakePod("p").Labels("app", "x").Image(fmt.Sprint("i", rapid.IntRange(0, 9).Draw(t, "image"))).NodeSelector("disk", "ssd")
		for i := range rapid.IntRange(0, 40).Draw(t, "tolerations") {
			b = b.Tolerates(fmt.Sprint("key", i, "=v:NoSchedule"))
		}
		for i := range rapid.IntRange(0, 40).Draw(t, "ports") {
			b = b.HostPort(int32(1 + i))
		}
		for i := range rapid.IntRange(0, 30).Draw(t, "labels") {
			b = b.Labels(fmt.Sprint("k", i), "v").Limit(resource.Name(fmt.Sprint("example.com/r", i)), "1")
		}
		p, err := framework.NewPodInfo(b.Obj(), resource.NewSchema())
		if err != nil {
			t.Fatal(err)
		}
		fields := framework.PodFields(rapid.Uint64Range(0, uint64(framework.FieldsAll)).Draw(t, "fields")) & framework.FieldsAll
		before := []byte("before")
		key := p.AppendClassKey(bytes.Clone(before), fields)
		most := rapid.IntRange(0, 2*len(key)).Draw(t, "most")
		got := p.AppendClassKeyWithin(bytes.Clone(before), fields, most)
		if n := len(key) - len(before); n <= most {
			seen["whole"]++
			if !bytes.Equal(got, key) {
				t.Fatalf("%q within %d bytes, want %q", got, most, key)
			}
			return
		}
		seen["longer"]++
		if len(got)-len(before) <= most {
			t.Fatalf("%d bytes within %d of %d", len(got), most, len(key))
		}
	})

	const many = 10_000
	var pairs []string
	limited := api.MakePod("p")
	for i := range many / 10 {
		pairs = append(pairs, fmt.Sprint("k", i), "v")
		limited = limited.Limit(resource.Name(fmt.Sprint("example.com/r", i)), "1")
	}
	terms := api.MakePod("p").Obj()
	terms.Spec.Affinity = &api.Affinity{
		NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: make([]api.NodeSelectorTerm, many)}},
		PodAffinity:  &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: make([]api.PodAffinityTerm, many)},
	}
	mounts := api.MakePod("p").Obj()
	mounts.Spec.Volumes = slices.Repeat([]api.Volume{{VolumeSource: api.VolumeSource{EmptyDir: &api.EmptyDirVolumeSource{}}}}, many)
	for fields, p := range map[framework.PodFields]*api.Pod{
		framework.FieldTolerations: api.MakePod("p").Tolerates(make([]string, many)...).Obj(),
		framework.FieldHostPorts:   api.MakePod("p").HostPort(sequence(many)...).Obj(),
		framework.FieldNodeChoice:  terms,
		framework.FieldPodAffinity: terms,
		framework.FieldVolumes:     mounts,
		framework.FieldSpec:        terms,
		framework.FieldLabels:      api.MakePod("p").Labels(pairs...).Obj(),
		framework.FieldAnnotations: api.MakePod("p").Annotations("note", strings.Repeat("x", many)).Obj(),
		framework.FieldImages:      api.MakePod("p").Image(strings.Repeat("x", many)).Obj(),
		framework.FieldLimits:      limited.Obj(),
	} {
		i, err := framework.NewPodInfo(p, resource.NewSchema())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(i.AppendClassKeyWithin(nil, fields, 256)); n <= 256 || n > 1024 {
			t.Errorf("field %b: %d bytes within 256", fields, n)
		}
	}
}

func sequence(n int32) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i) + 1
	}
	return list
}
