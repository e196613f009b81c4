package api

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// checkOf returns what checks a struct that has rules of its own: the values of the
// operators Gt and Lt, and the names of resources. It is nil for other types.
func checkOf(t reflect.Type) func(w *valueWalk, v reflect.Value, path []string) {
	switch t {
	case reflect.TypeFor[NodeSelectorRequirement]():
		return (*valueWalk).requirement
	case reflect.TypeFor[Toleration]():
		return (*valueWalk).toleration
	case reflect.TypeFor[ResourceRequirements]():
		return (*valueWalk).requirements
	case reflect.TypeFor[ContainerPort]():
		return (*valueWalk).port
	case reflect.TypeFor[ObjectMeta]():
		return (*valueWalk).namespace
	case reflect.TypeFor[NodeStatus]():
		return (*valueWalk).nodeStatus
	}
	return nil
}

// requirement checks that Gt and Lt have one value, and that it is an integer.
func (w *valueWalk) requirement(v reflect.Value, path []string) {
	r := v.Addr().Interface().(*NodeSelectorRequirement)
	if r.Operator != NodeSelectorOpGt && r.Operator != NodeSelectorOpLt {
		return
	}
	path = append(path[:len(path):len(path)], "values")
	if len(r.Values) != 1 {
		w.found(foundValue{w, path, fmt.Sprint(r.Values), "want exactly one value for Gt and Lt", true})
		return
	}
	if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
		w.found(foundValue{w, append(path, "[0]"), r.Values[0], "want an integer for Gt and Lt; with this value the pod fits nowhere", false})
	}
}

// toleration checks that Gt and Lt have a decimal integer.
func (w *valueWalk) toleration(v reflect.Value, path []string) {
	t := v.Addr().Interface().(*Toleration)
	if t.Operator != TolerationOpGt && t.Operator != TolerationOpLt {
		return
	}
	if n, err := strconv.ParseInt(t.Value, 10, 64); err != nil || strconv.FormatInt(n, 10) != t.Value {
		w.found(foundValue{w, append(path[:len(path):len(path)], "value"), t.Value, "want a decimal integer for Gt and Lt", true})
	}
}

// port checks a host port; 0 means none.
func (w *valueWalk) port(v reflect.Value, path []string) {
	p := v.Addr().Interface().(*ContainerPort)
	if p.HostPort < 0 || p.HostPort > 65535 {
		w.found(foundValue{w, append(path[:len(path):len(path)], "hostPort"), strconv.Itoa(int(p.HostPort)), "want a port from 1 to 65535, or 0 for none", true})
	}
}

// namespace checks that a namespace has no slash: then "namespace/name" has one meaning.
func (w *valueWalk) namespace(v reflect.Value, path []string) {
	m := v.Addr().Interface().(*ObjectMeta)
	if strings.Contains(m.Namespace, "/") {
		w.found(foundValue{w, append(path[:len(path):len(path)], "namespace"), m.Namespace, "must not have a slash", true})
	}
}
