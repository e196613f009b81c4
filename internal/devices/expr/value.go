package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// valueKind says which type a value has.
type valueKind uint8

const (
	vError valueKind = iota
	vBool
	vInt
	vDouble
	vString
	vQuantity
	vVersion
	vList
	vMap      // of values by name
	vDomains  // of maps by domain; an unknown domain is an empty map
	vOptional // with or without a value
)

// kindNames are the names of the types in errors.
var kindNames = [...]string{"error", "bool", "int", "double", "string", "kubernetes.Quantity", "kubernetes.Semver", "list", "map", "map", "optional_type"}

// A value is the result of a part of an expression.
type value struct {
	kind valueKind
	i    int64 // an int; 0 or 1 for a bool
	f    float64
	s    string
	ref  any
}

func failed(err error) value { return value{kind: vError, ref: err} }

func boolean(b bool) value {
	if b {
		return value{kind: vBool, i: 1}
	}
	return value{kind: vBool}
}

func integer(i int64) value { return value{kind: vInt, i: i} }

func text(s string) value { return value{kind: vString, s: s} }

func quantity(q resource.Quantity) value { return value{kind: vQuantity, ref: q} }

// computed returns a quantity that add or sub made. The original cannot compare it with
// == if it is the right operand.
func computed(q resource.Quantity) value { return value{kind: vQuantity, i: 1, ref: q} }

func list(elements []value) value { return value{kind: vList, ref: elements} }

func optional(v value) value { return value{kind: vOptional, ref: &v} }

var noValue = value{kind: vOptional, ref: (*value)(nil)}

// size is how many bytes a comparison may read.
func (v value) size() int {
	if v.kind == vVersion {
		return v.version().size
	}
	return len(v.s)
}

func (v value) isError() bool { return v.kind == vError }

func (v value) isTrue() bool { return v.kind == vBool && v.i != 0 }

func (v value) isFalse() bool { return v.kind == vBool && v.i == 0 }

func (v value) quantity() resource.Quantity { return v.ref.(resource.Quantity) }

func (v value) version() *version { return v.ref.(*version) }

func (v value) list() []value { return v.ref.([]value) }

func (v value) named() map[string]value { return v.ref.(map[string]value) }

func (v value) domains() map[string]map[string]value { return v.ref.(map[string]map[string]value) }

func (v value) optional() *value { return v.ref.(*value) }

// find returns the value of a key, and whether there is one. It is an error value if v
// has no keys.
func (v value) find(key value) (value, bool) {
	switch {
	case v.kind == vMap && key.kind == vString:
		x, ok := v.named()[key.s]
		return x, ok
	case v.kind == vDomains && key.kind == vString:
		return value{kind: vMap, ref: v.domains()[key.s]}, true
	case v.kind == vList && key.kind == vInt:
		l := v.list()
		if key.i < 0 || key.i >= int64(len(l)) {
			return value{}, false
		}
		return l[key.i], true
	}
	return failed(refuse("the index of a %s by a %s", kindNames[v.kind], kindNames[key.kind])), true
}

// missing is the error for a key that is not there.
func (v value) missing(key value) value {
	if v.kind == vList {
		return failed(fmt.Errorf("index out of bounds: %d", key.i))
	}
	return failed(noSuchKey(key.s))
}

// keys returns the keys of a map in order.
func (v value) keys() []value {
	var names []string
	if v.kind == vMap {
		names = slices.Sorted(maps.Keys(v.named()))
	} else {
		names = slices.Sorted(maps.Keys(v.domains()))
	}
	keys := make([]value, len(names))
	for i, name := range names {
		keys[i] = text(name)
	}
	return keys
}

// A Device is a device as expressions see it.
type Device struct {
	driver     value
	shareable  value
	attributes value
	capacity   value
	err        error // of an attribute: every expression fails
}

// NewDevice returns the device as published by the driver.
func NewDevice(driver string, d *api.Device) *Device {
	attributes, capacity := map[string]map[string]value{}, map[string]map[string]value{}
	x := &Device{
		driver: text(driver), shareable: boolean(d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations),
		attributes: value{kind: vDomains, ref: attributes}, capacity: value{kind: vDomains, ref: capacity},
	}
	for _, name := range slices.Sorted(maps.Keys(d.Attributes)) {
		v, err := attribute(d.Attributes[name])
		if err != nil {
			x.err = fmt.Errorf("attribute %s: %w", name, err)
			return x
		}
		put(attributes, driver, name, v)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Capacity)) {
		put(capacity, driver, name, quantity(d.Capacity[name].Value))
	}
	return x
}

// put stores a value under its qualified name.
func put(to map[string]map[string]value, driver, name string, v value) {
	domain, id, ok := strings.Cut(name, "/")
	if !ok {
		domain, id = driver, name
	}
	if to[domain] == nil {
		to[domain] = map[string]value{}
	}
	to[domain][id] = v
}

// attribute returns the value of an attribute.
func attribute(a api.DeviceAttribute) (value, error) {
	switch {
	case a.IntValues != nil:
		return listOf(a.IntValues, integer), nil
	case a.BoolValues != nil:
		return listOf(a.BoolValues, boolean), nil
	case a.StringValues != nil:
		return listOf(a.StringValues, text), nil
	case a.VersionValues != nil:
		var elements []value
		for _, s := range a.VersionValues {
			v, err := versionAttribute(s)
			if err != nil {
				return value{}, err
			}
			elements = append(elements, v)
		}
		return list(elements), nil
	case a.IntValue != nil:
		return integer(*a.IntValue), nil
	case a.BoolValue != nil:
		return boolean(*a.BoolValue), nil
	case a.StringValue != nil:
		return text(*a.StringValue), nil
	case a.VersionValue != nil:
		return versionAttribute(*a.VersionValue)
	}
	return value{}, fmt.Errorf("unsupported attribute value")
}

func versionAttribute(s string) (value, error) {
	v, err := parseVersion(s)
	if err != nil {
		return value{}, fmt.Errorf("parse semantic version: %w", err)
	}
	return value{kind: vVersion, ref: v}, nil
}

func listOf[T any](from []T, as func(T) value) value {
	elements := make([]value, len(from))
	for i, x := range from {
		elements[i] = as(x)
	}
	return list(elements)
}
