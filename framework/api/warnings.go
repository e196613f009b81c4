package api

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-sched/berth/internal/errtext"
)

// Warnings lists the skipped fields that look misspelt, sorted, one line each, and then
// the values that [Objects.Doubts] finds:
//
//	Pod: spec.nodeselector: unknown field, 3 times; did you mean nodeSelector?
//	Pod: spec.restartPolicy: "Sometimes": unknown value; want Always, OnFailure or Never
//
// A skipped field is listed if it differs from a known field of the same object only in
// case or in one or two letters. Nothing else counts: most skipped fields are fields of
// Kubernetes that scheduling does not read. See SkippedFields for all of them.
func (o *Objects) Warnings() []string {
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(o.SkippedFields)) {
		kind, field, ok := strings.Cut(path, ": ")
		if !ok {
			continue // OtherFields
		}
		steps := strings.Split(field, ".")
		name := steps[len(steps)-1]
		meant := nearest(name, fieldsAt(typeOfKind(kind), steps[:len(steps)-1]))
		if meant == "" {
			continue
		}
		times := ""
		if n := o.SkippedFields[path]; n > 1 {
			times = fmt.Sprintf(", %d times", n)
		}
		lines = append(lines, fmt.Sprintf("%s: unknown field%s; did you mean %s?", path, times, meant))
	}
	return append(lines, o.doubts()...)
}

// typeOfKind returns the type of the objects of a kind, nil if there is none.
func typeOfKind(kind string) reflect.Type {
	t := reflect.TypeFor[Objects]()
	for i := range t.NumField() {
		if list := t.Field(i).Type; list.Kind() == reflect.Slice && list.Elem().Elem().Name() == kind {
			return list.Elem().Elem()
		}
	}
	return nil
}

// fieldsAt returns the JSON names of the fields of the struct that a path leads to.
// Steps do not name elements of lists and maps.
func fieldsAt(t reflect.Type, path []string) []string {
	for _, step := range path {
		t = jsonField(structBehind(t), step)
	}
	if t = structBehind(t); t == nil {
		return nil
	}
	var names []string
	eachJSONField(t, func(name string, _ reflect.Type) { names = append(names, name) })
	return names
}

// structBehind follows pointers, lists and maps to a struct; nil if there is none.
func structBehind(t reflect.Type) reflect.Type {
	for t != nil {
		switch t.Kind() {
		case reflect.Struct:
			return t
		case reflect.Pointer, reflect.Slice, reflect.Map:
			t = t.Elem()
		default:
			return nil
		}
	}
	return nil
}

func jsonField(t reflect.Type, name string) (found reflect.Type) {
	if t == nil {
		return nil
	}
	eachJSONField(t, func(n string, typ reflect.Type) {
		if n == name {
			found = typ
		}
	})
	return found
}

// eachJSONField calls f for each field of a struct, and of structs embedded in it
// without a JSON name.
func eachJSONField(t reflect.Type, f func(name string, typ reflect.Type)) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "":
			f(name, field.Type)
		case field.Anonymous && field.Type.Kind() == reflect.Struct:
			eachJSONField(field.Type, f)
		}
	}
}

// nearest returns the known name that a misspelt one most likely means, "" if none is
// near: equal but for case, or, for names of five letters and more, at most two edits
// away and the only one as near.
func nearest(name string, known []string) string {
	const most = 2
	best, distance, unique := "", most+1, true
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return k
		}
		if min(len(k), len(name)) < 5 {
			continue
		}
		switch d := errtext.Distance(name, k); {
		case d < distance:
			best, distance, unique = k, d, true
		case d == distance:
			unique = false
		}
	}
	if distance > most || !unique {
		return ""
	}
	return best
}
