package expr

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/semver"
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
	long bool  // a quantity that may have many digits
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
func computed(q resource.Quantity, long bool) value {
	return value{kind: vQuantity, i: 1, long: long, ref: q}
}

func list(elements []value) value { return value{kind: vList, ref: elements} }

func optional(v value) value { return value{kind: vOptional, ref: &v} }

var noValue = value{kind: vOptional, ref: (*value)(nil)}

// size is how many bytes a comparison may read.
func (v value) size() int {
	switch {
	case v.kind == vVersion:
		return v.version().Size
	case v.long:
		return longNumber
	case v.kind == vQuantity:
		return 0
	}
	return len(v.s)
}

func (v value) isNaN() bool { return v.kind == vDouble && math.IsNaN(v.f) }

func (v value) isError() bool { return v.kind == vError }

func (v value) isTrue() bool { return v.kind == vBool && v.i != 0 }

func (v value) isFalse() bool { return v.kind == vBool && v.i == 0 }

func (v value) quantity() resource.Quantity { return v.ref.(resource.Quantity) }

// quantityText is the text that a quantity was read from, or what an API server stores of it.
func (v value) quantityText() string {
	if v.s != "" {
		return v.s
	}
	return v.quantity().String()
}

func (v value) version() *semver.Version { return v.ref.(*semver.Version) }

func (v value) list() []value { return v.ref.([]value) }

func (v value) domain() *domain { return v.ref.(*domain) }

func (v value) domains() *domains { return v.ref.(*domains) }

func (v value) optional() *value { return v.ref.(*value) }

// find returns the value of a key, and whether there is one. It is an error value if v
// has no keys.
func (v value) find(key value) (value, bool) {
	switch {
	case v.kind == vMap && key.kind == vString:
		return v.domain().find(key.s)
	case v.kind == vDomains && key.kind == vString:
		d, _ := v.domains().find(key.s)
		return value{kind: vMap, ref: d}, true
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

// entries returns how many keys a map has.
func (v value) entries() int {
	if v.kind == vMap {
		return len(v.domain().entries)
	}
	return len(v.domains().list)
}

// keys returns the keys of a map in order.
func (v value) keys() []value {
	keys := make([]value, 0, v.entries())
	if v.kind == vMap {
		for i := range v.domain().entries {
			keys = append(keys, text(v.domain().entries[i].name))
		}
		return keys
	}
	for i := range v.domains().list {
		keys = append(keys, text(v.domains().list[i].name))
	}
	return keys
}

// domains are maps of values, in the order of their names: attributes or capacity of a
// device. There are few, so they are no Go maps.
type domains struct{ list []domain }

// A domain is a map of values, in the order of their names.
type domain struct {
	name    string
	entries []entry
}

type entry struct {
	name  string
	value value
}

// find returns the domain of a name, an empty one if there is none.
func (d *domains) find(name string) (*domain, bool) {
	if i, ok := d.index(name); ok {
		return &d.list[i], true
	}
	return new(domain), false
}

func (d *domains) index(name string) (int, bool) {
	return slices.BinarySearchFunc(d.list, name, func(x domain, name string) int { return strings.Compare(x.name, name) })
}

// find returns the value of a name.
func (d *domain) find(name string) (value, bool) {
	if i, ok := d.index(name); ok {
		return d.entries[i].value, true
	}
	return value{}, false
}

func (d *domain) index(name string) (int, bool) {
	return slices.BinarySearchFunc(d.entries, name, func(x entry, name string) int { return strings.Compare(x.name, name) })
}

// A Device is a device as expressions see it.
type Device struct {
	driver     string
	shareable  bool
	attributes domains
	capacity   domains
	err        error // of an attribute: every expression fails
}

// NewDevice returns the device as published by the driver.
func NewDevice(driver string, d *api.Device) *Device {
	x := &Device{driver: driver, shareable: d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations}
	var few [8]string // memory
	names := slices.AppendSeq(few[:0], maps.Keys(d.Attributes))
	slices.Sort(names)
	for _, name := range names {
		v, err := attribute(d.Attributes[name])
		if err != nil {
			x.err = fmt.Errorf("attribute %s: %w", name, err)
			return x
		}
		x.attributes.put(driver, name, v)
	}
	names = slices.AppendSeq(names[:0], maps.Keys(d.Capacity))
	slices.Sort(names)
	for _, name := range names {
		x.capacity.put(driver, name, quantity(d.Capacity[name].Value))
	}
	return x
}

// put stores a value under its qualified name.
func (d *domains) put(driver, name string, v value) {
	of, id, qualified := strings.Cut(name, "/")
	if !qualified {
		of, id = driver, name
	}
	i, ok := d.index(of)
	if !ok {
		d.list = slices.Insert(d.list, i, domain{name: of})
	}
	x := &d.list[i]
	if i, ok = x.index(id); ok {
		x.entries[i].value = v
	} else {
		x.entries = slices.Insert(x.entries, i, entry{id, v})
	}
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
	v, err := semver.Parse(s)
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
