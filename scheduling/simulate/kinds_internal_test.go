//go:build full

package simulate

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// noItems are the lists of api.Objects that a trace leaves out, with the reason.
var noItems = map[string]string{
	"ResourceQuota": "quotas bound what an API server admits; no scheduler reads them",
	"Cluster":       "Karmada's clusters are placed in by package multicluster, which no trace drives",
}

// Every kind that a list of objects can hold is part of a trace, can be deleted, and is read
// from a line as from a list.
func TestEveryKind(t *testing.T) {
	lists := 0
	for f := range reflect.TypeFor[api.Objects]().Fields() {
		if f.Type.Kind() != reflect.Slice {
			continue
		}
		lists++
		kind := f.Type.Elem().Elem().Name()
		one := reflect.New(f.Type.Elem().Elem())
		one.Elem().FieldByName("Name").SetString("x")
		o := new(api.Objects)
		reflect.ValueOf(o).Elem().FieldByIndex(f.Index).Set(reflect.Append(reflect.Zero(f.Type), one))
		list := items(o)
		trace, err := FromObjects(o)
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if noItems[kind] != "" {
			if len(list)+len(trace.Events) > 0 {
				t.Errorf("%s is part of a trace, and is listed as left out", kind)
			}
			continue
		}
		if len(list) != 1 || list[0].kind != kind || list[0].object != one.Interface() {
			t.Errorf("items of one %s: %v", kind, list)
			continue
		}
		if len(trace.Events) != 1 {
			t.Errorf("%s: a trace of %d events, want 1", kind, len(trace.Events))
		}
		if kind != "Pod" && kind != "Node" { // world.delete takes these itself
			if _, err := deletion(Ref{kind, list[0].name}); err != nil {
				t.Errorf("delete a %s: %v", kind, err)
			}
		}
		text := fmt.Sprintf(`{"trace": "berth/1"}
			{"at": "0s", "apply": {"kind": %q, "metadata": {"name": "x"}}}`, kind)
		read, err := ReadTrace(strings.NewReader(text))
		if err != nil || len(read.Events) != 1 || len(items(read.Events[0].Apply)) != 1 || items(read.Events[0].Apply)[0].kind != kind {
			t.Errorf("%s in a line: %v", kind, err)
		}
	}
	if lists != 30 {
		t.Errorf("%d lists, want 30", lists)
	}
}

// Nil entries of every list are skipped.
func TestNilObjects(t *testing.T) {
	o := new(api.Objects)
	v := reflect.ValueOf(o).Elem()
	for f := range v.Type().Fields() {
		if f.Type.Kind() == reflect.Slice {
			v.FieldByIndex(f.Index).Set(reflect.MakeSlice(f.Type, 1, 1))
		}
	}
	trace, err := FromObjects(o)
	if err != nil || len(trace.Events) != 0 {
		t.Errorf("got %v, %v; want no event", trace, err)
	}
}
