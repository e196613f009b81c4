package gang_test

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// An image is everything that a snapshot holds, by path: nodes with their pods, totals and
// ports, nominations, objects, and what each extension keeps. Fields that may change are
// left out; see passing and essence.
type image map[string]string

// passing names what an attempt that is taken back may leave otherwise, by type and field
// or by field alone, and why.
var passing = map[string]string{
	"Snapshot.lineage":     "numbers that were given away",
	"Snapshot.generations": "numbers that were given away",
	"Snapshot.journal":     "says which nodes changed, and changed back",
	"Snapshot.undo":        "buffers of earlier rollbacks",
	"chunk.runs":           "a rollback gives a new number",
	"NodeInfo.amounts":     "memory of the totals, which they may have outgrown",
	"Schema.guests":        "names of resources that pods have brought",
	"owner":                "who may write: changes with every fork",
	"freeOwner":            "who may write: changes with every fork",
	"shared":               "who may write: changes with every fork",
}

// essence lists the fields of a type that are compared, if the others are caches.
var essence = map[string][]string{
	"Tables":        {"counters", "classes"}, // the others find these, or say when they changed
	"counter":       {"counts", "total"},
	"class":         {"pods", "places"},
	"State":         {"uses", "charged", "flights", "holds", "special"},
	"nodeState":     {"pages"},
	"podIndex":      nil,                            // Snapshot.Check finds it anew
	"table":         {"none", "objects", "version"}, // Snapshot.Check sorts them anew
	"budgetIndex":   nil,                            // budgets as objects have them, at a version
	"catalog":       nil,                            // volumes as objects have them, sorted
	"Attached":      nil,                            // volumes of the pods of a node; Snapshot.Check reads them anew
	"Classes":       nil,                            // compiled selectors of DeviceClasses
	"workloadIndex": nil,                            // Services by their labels
}

// imageOf returns the image of a snapshot.
func imageOf(s *framework.Snapshot) image {
	w := walker{image: image{}, seen: map[visit]string{}}
	w.walk("", reflect.ValueOf(s))
	if err := s.Check(); err != nil {
		w.image["Check"] = err.Error()
	}
	return w.image
}

// unchanged fails unless the snapshot has its image of before. Extensions that were made
// since are compared with nothing: to make one is no change.
func unchanged(t rapid.TB, s *framework.Snapshot, before image, what string) {
	t.Helper()
	if d := before.differences(imageOf(s)); len(d) > 0 {
		t.Fatalf("%s has changed the snapshot:\n%s", what, strings.Join(d[:min(len(d), 10)], "\n"))
	}
}

// changed reports whether the snapshot has another image.
func (a image) changed(s *framework.Snapshot) bool { return len(a.differences(imageOf(s))) > 0 }

func (a image) differences(b image) (list []string) {
	for path, was := range a {
		if is, ok := b[path]; is != was && !grows(path) && !b.lacks(path, "Tables.counters[") {
			list = append(list, fmt.Sprintf("%s: %q, was %q (there: %t)", path, is, was, ok))
		}
	}
	made := []string{"Tables.counters["}
	for _, list := range ofExtensions {
		made = append(made, list+"[")
	}
	if a[tracking] == "" {
		made = append(made, "Tables.classes[")
	}
	for path, is := range b {
		if _, ok := a[path]; !ok && path != tracking && !a.lacks(path, made...) {
			list = append(list, fmt.Sprintf("%s: %q, was not there", path, is))
		}
	}
	slices.Sort(list)
	return list
}

// tracking is there if classes of pods are counted: that begins with the first question.
const tracking = "tracking"

// ofExtensions are what changes in a snapshot when an extension is made.
var ofExtensions = []string{".extensions", ".podWatchers", ".watched", ".podHolders", ".commitWatchers"}

// grows reports whether the path is one of them.
func grows(path string) bool { return slices.Contains(ofExtensions, path) }

// lacks reports whether the path is in an element of one of the lists that the image does
// not have: to make an extension is no change, nor to make or give up a counter of pods.
func (a image) lacks(path string, lists ...string) bool {
	for end, c := range path {
		if c != ']' {
			continue
		}
		part := path[:end+1]
		if _, had := a[part]; had {
			continue
		}
		for _, list := range lists {
			if i := strings.Index(part, list); i >= 0 && !strings.Contains(part[i+len(list):end], "]") {
				return true
			}
		}
	}
	return false
}

type visit struct {
	at uintptr
	of reflect.Type
}

// A walker follows all pointers, each once.
type walker struct {
	image image
	seen  map[visit]string
}

func (w *walker) walk(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		w.image[path] = "nil"
	case reflect.Pointer:
		w.pointer(path, v)
	case reflect.Interface:
		if v.IsNil() {
			w.image[path] = "nil"
			return
		}
		w.image[path] = v.Elem().Type().String()
		w.walk(path+"."+w.image[path], v.Elem())
	case reflect.Struct:
		w.image[path] = v.Type().String()
		w.structure(path, v)
	case reflect.Slice, reflect.Array:
		amounts := v.Type() == reflect.TypeFor[resource.Vector]() // zeros at its end mean nothing
		if !amounts {
			w.image[path] = strconv.Itoa(v.Len())
		}
		for i := range v.Len() {
			if x := v.Index(i); v.Kind() == reflect.Slice && !amounts || !x.IsZero() {
				w.walk(path+"["+strconv.Itoa(i)+"]", x)
			}
		}
	case reflect.Map:
		w.table(path, v)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		w.image[path] = fmt.Sprint(v.IsNil())
	default:
		w.image[path] = fmt.Sprint(v)
	}
}

// structure walks the fields that are compared.
func (w *walker) structure(path string, v reflect.Value) {
	name, _, _ := strings.Cut(v.Type().Name(), "[")
	only, limited := essence[name]
	switch name {
	case "Tables":
		for _, list := range only {
			w.named(path+"."+list, v.FieldByName(list))
		}
		if v.FieldByName("tracking").Bool() {
			w.image[tracking] = "true"
		}
		return
	case "Map": // of package cow
		w.layers(path, v)
		return
	case "places": // a log of pods that came and left, or pages
		pods := map[int64]int64{} // by slot
		for i := range v.FieldByName("log").Len() {
			m := v.FieldByName("log").Index(i).Int()
			pods[m/2] += 1 - m%2*2
		}
		for slot, n := range pods {
			if n != 0 {
				w.image[fmt.Sprintf("%s[%d]", path, slot)] = fmt.Sprint(n)
			}
		}
		w.pages(path, v.FieldByName("many"))
		return
	case "poolUse": // by device: where a use lies, and whether devices share it, may change
		for device, x := range usesOf(v) {
			w.walk(fmt.Sprintf("%s[%s]", path, device), x.Elem())
		}
		return
	}
	for i := range v.NumField() {
		f := v.Type().Field(i)
		_, byType := passing[name+"."+f.Name]
		_, byField := passing[f.Name]
		if byType || byField || shared(f.Type) || limited && !slices.Contains(only, f.Name) {
			continue
		}
		if t, ok := v.Field(i).Type(), f.Type.Kind() == reflect.Slice; ok && strings.HasPrefix(t.Name(), "Pages[") {
			w.pages(path+"."+f.Name, v.Field(i))
			continue
		}
		w.walk(path+"."+f.Name, v.Field(i))
	}
}

// table walks a map in the order of its keys.
func (w *walker) table(path string, v reflect.Value) {
	w.image[path] = fmt.Sprint(v.Len())
	for _, key := range keysOf(v) {
		w.walk(fmt.Sprintf("%s[%v]", path, key), v.MapIndex(key))
	}
}

func keysOf(m reflect.Value) []reflect.Value {
	keys := m.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return keys
}

// named walks a list whose elements have a text of their own and may have changed places.
func (w *walker) named(path string, v reflect.Value) {
	for i := range v.Len() {
		e := v.Index(i)
		if e.IsNil() {
			continue
		}
		if pods := e.Elem().FieldByName("pods"); pods.Kind() != reflect.Int || pods.Int() > 0 { // a class without pods may be dropped
			w.walk(fmt.Sprintf("%s[%s]", path, strings.ReplaceAll(e.Elem().FieldByName("text").String(), "]", ")")), e)
		}
	}
}

// layers walks a map that is kept in two layers.
func (w *walker) layers(path string, v reflect.Value) {
	base, top := v.FieldByName("base"), v.FieldByName("top")
	for _, key := range keysOf(base) {
		if x := base.MapIndex(key); !top.MapIndex(key).IsValid() && !hollow(x) {
			w.walk(fmt.Sprintf("%s[%v]", path, key), x)
		}
	}
	for _, key := range keysOf(top) {
		if l := top.MapIndex(key); !l.FieldByName("gone").Bool() && !hollow(l.FieldByName("value")) {
			w.walk(fmt.Sprintf("%s[%v]", path, key), l.FieldByName("value"))
		}
	}
}

// hollow reports whether a pool of devices is kept although none is in use.
func hollow(v reflect.Value) bool {
	return v.Type().String() == "*devices.poolUse" && len(usesOf(v.Elem())) == 0
}

// usesOf returns the uses of a devices.poolUse by the name of the device: those beside the
// devices of its only slice, and the others.
func usesOf(pool reflect.Value) map[string]reflect.Value {
	uses := map[string]reflect.Value{}
	for i, dense := 0, pool.FieldByName("dense"); i < dense.Len(); i++ {
		if x := dense.Index(i); !x.IsNil() {
			device := pool.FieldByName("slice").Elem().FieldByName("devices").Index(i)
			uses[reflect.Indirect(device).FieldByName("Name").String()] = x
		}
	}
	others := pool.FieldByName("others")
	for _, key := range others.MapKeys() {
		uses[key.String()] = others.MapIndex(key)
	}
	return uses
}

// pages walks what is not zero.
func (w *walker) pages(path string, v reflect.Value) {
	for k := range v.Len() {
		if v.Index(k).IsNil() {
			continue
		}
		values := v.Index(k).Elem().FieldByName("Values")
		for i := range values.Len() {
			if x := values.Index(i); !x.IsZero() {
				w.walk(fmt.Sprintf("%s[%d]", path, k*values.Len()+i), x)
			}
		}
	}
}

func (w *walker) pointer(path string, v reflect.Value) {
	if v.IsNil() {
		w.image[path] = "nil"
		return
	}
	at := visit{v.Pointer(), v.Type()}
	if first, ok := w.seen[at]; ok {
		w.image[path] = "as " + first
		return
	}
	w.seen[at] = path
	w.walk(path, v.Elem())
}

// shared reports whether a field is a lock, or a cache that several goroutines fill.
func shared(t reflect.Type) bool {
	return t.PkgPath() == "sync" || t.PkgPath() == "sync/atomic"
}
