//go:build full

package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/internal/proof/gen/dump"
)

// decodePlainly is decode without its shortcuts: it shares nothing, and reads the header
// of a list before the items.
func (o *Objects) decodePlainly(data []byte) error {
	d := newDecoder(data)
	d.skipped = new(skippedFields)
	return o.documents(d, 1)
}

// compareWithPlain decodes a text on both ways.
func compareWithPlain(t interface {
	Helper()
	Fatalf(string, ...any)
}, data []byte,
) {
	t.Helper()
	got, want := new(Objects), new(Objects)
	gotErr, wantErr := got.decode(data), want.decodePlainly(data)
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Fatalf("Decode(%q) fails with %v; without shortcuts with %v", data, gotErr, wantErr)
	}
	if wantErr != nil {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("Decode(%q) (-without shortcuts +with):\n%s", data, diff)
	}
}

// Whatever is changed in a text of many objects, the shortcuts decode it to the same
// objects, the same counts of skipped fields, and the same error.
func TestDecodeShortcuts(t *testing.T) {
	whole := dump.Config{Nodes: 1, Pods: 3}
	texts := [][]byte{whole.PodList(), append(whole.NodeList(), whole.PodList()...)}
	for _, data := range texts {
		compareWithPlain(t, data)
	}
	parts := []string{
		`{"apiVersion":"v1","items":[`, `{"kind":"PodList","items":[`, `{"items":[],"items":[`, `{"kind":"Secret"}{"kind":"List","items":[`, `{"items":null,"items":[`,
	}
	ends := []string{
		`],"kind":"List"}`, `]}`, `],"kind":"PodList","apiVersion":"v1"}`, `],"kind":"List","apiVersion":"v2"}`, `],"kind":"Pod","metadata":{"name":"x"}}`,
		`],"x":{"y":1},"kind":"FooList"}`, `],"kind":"List","items":[{"kind":"Pod","metadata":{"name":"x"}}]}`, `],"kind":"NodeList"} {"kind":"Node","metadata":{"name":"n"},"extra":{}}`,
	}
	values := []string{
		`{}`, `null`, `1`, `"x"`, `[]`, `[null]`, `{"a":"b"}`, `{"a":"b","a":"c"}`, `{"a":1}`, `{"cpu":"100m"}`, `{"cpu":"x"}`, `{"cpu":null}`, `[{"key":"a","operator":"Exists","more":1}]`,
		`[{"name":"c","image":"i","x":1,"resources":{"requests":{"cpu":"1"},"y":{}}}]`, `{"nodeAffinity":{"extra":[]}}`, `[`, `{"a"`, strings.Repeat("[", 70) + strings.Repeat("]", 70),
		`{"matchLabels":{"a":"b"},"z":true}`, `"2026-01-02T03:04:05Z"`, `"2026-02-30T03:04:05Z"`, `"2026-01-02T03:04:05.5+01:00"`,
	}
	fields := []string{
		"labels", "annotations", "creationTimestamp", "ownerReferences", "nodeSelector", "tolerations", "containers", "affinity", "overhead", "priority", "unknown", "kind", "volumes", "hostNetwork",
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		b.WriteString(rapid.SampledFrom(parts).Draw(t, "beginning"))
		for i := range rapid.IntRange(0, 5).Draw(t, "items") {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('{')
			b.WriteString(rapid.SampledFrom([]string{`"kind":"Pod",`, `"kind":"Pod",`, ``, `"kind":"Node",`, `"kind":"Secret",`, `"kind":"List","items":[],`}).Draw(t, "kind"))
			for _, part := range []string{"metadata", "spec"} {
				fmt.Fprintf(&b, `%q:{"name":"p%d"`, part, i)
				for range rapid.IntRange(0, 4).Draw(t, "fields") {
					fmt.Fprintf(&b, `,%q:%s`, rapid.SampledFrom(fields).Draw(t, "field"), rapid.SampledFrom(values).Draw(t, "value"))
				}
				b.WriteString("},")
			}
			b.WriteString(`"status":{"phase":"Running"}}`)
		}
		b.WriteString(rapid.SampledFrom(ends).Draw(t, "end"))
		compareWithPlain(t, []byte(b.String()))
	})
}

// The parts that pods of one template have in common are there once.
func TestDecodeShares(t *testing.T) {
	o, err := Decode(dump.Config{Nodes: 1, Pods: 2}.PodList())
	if err != nil {
		t.Fatal(err)
	}
	a, b := o.Pods[0], o.Pods[1]
	if &a.OwnerReferences[0] != &b.OwnerReferences[0] || &a.Spec.Tolerations[0] != &b.Spec.Tolerations[0] || a.Spec.Priority != b.Spec.Priority || a.Spec.Affinity != b.Spec.Affinity {
		t.Error("equal parts of two pods are there twice")
	}
	if &a.Spec.Containers[0] == &b.Spec.Containers[0] {
		t.Error("containers that differ are there once")
	}
	_ = append(a.Spec.Tolerations, Toleration{Key: "mine"})
	if c := cap(b.Spec.Tolerations); c != len(b.Spec.Tolerations) {
		t.Errorf("a shared list has room for %d elements", c)
	}
	labels := a.Labels
	labels["app"] = "changed"
	if b.Labels["app"] != "changed" {
		t.Error("equal labels are there twice")
	}
}

// A site whose values never repeat stops keeping them.
func TestDecodeRests(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"kind":"List","items":[`)
	for i := range 5000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"kind":"Pod","metadata":{"name":"p%d","annotations":{"own":"%d"},"labels":{"app":"x"}}}`, i, i)
	}
	b.WriteString("]}")
	o, err := Decode([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	o.Pods[0].Labels["app"] = "changed"
	if got := o.Pods[4999].Labels["app"]; got != "changed" {
		t.Error("equal labels are there twice, because annotations differ")
	}
	if got := o.Pods[4999].Annotations["own"]; got != "4999" {
		t.Errorf("annotation %q", got)
	}
}

// For any bytes, the shortcuts change nothing.
func FuzzDecodeShortcuts(f *testing.F) {
	for _, seed := range []string{
		"", "{", `{"items":[{"kind":"Pod","metadata":{"name":"a","labels":{"x":"y"},"more":1}},{"kind":"Pod","metadata":{"name":"b","labels":{"x":"y"},"more":1}}],"kind":"List"}`,
		`{"kind":"PodList","items":[{"metadata":{"name":"a"},"spec":{"tolerations":[{"key":"k","z":1}]}},{"metadata":{"name":"b"},"spec":{"tolerations":[{"key":"k","z":1}]}}]}`,
		`{"items":[],"kind":"NodeList"}{"kind":"Node","metadata":{"name":"n"},"x":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { compareWithPlain(t, data) })
}
