package devices

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices/expr"
	"github.com/berth-sched/berth/internal/match"
)

// A PoolID names a pool of a driver.
type PoolID struct{ Driver, Pool string }

// String returns "driver/pool".
func (p PoolID) String() string { return p.Driver + "/" + p.Pool }

// A Device is a device of a slice with what is derived from it.
type Device struct {
	*api.Device
	slice     *slice
	index     int               // in the slice
	taints    []api.DeviceTaint // the ones that keep requests off, by rules that name the device too; see slice.taints
	shareable bool
	where     selection // with perDeviceNodeSelection
	plain     consumption
	odd       bool // some capacity may be an error, or a counter gets more by the device
}

// words returns wordsOf an allocation of the device alone.
func (d *Device) words() string { return d.slice.words()[d.index] }

// ID returns "driver/pool/device".
func (d *Device) ID() string { return d.slice.pool.String() + "/" + d.Name }

// A selection says on which nodes a slice or a device can be used.
type selection struct {
	node     string
	all      bool
	object   *api.NodeSelector
	selector match.NodeSelector
	err      error // of the selector
}

func newSelection(node *string, all *bool, s *api.NodeSelector) (x selection) {
	x.all, x.object = isSet(all), s
	if node != nil {
		x.node = *node
	}
	if x.node == "" && !x.all && s != nil {
		x.selector = match.NewNodeSelector(s)
		if err := x.selector.Err(); err != nil {
			x.err = &selectorError{s, err}
		}
	}
	return x
}

// given reports whether the selection selects anything.
func (x *selection) given() bool { return x.node != "" || x.all || x.object != nil }

// matches reports whether the selection selects the node.
func (x *selection) matches(n *api.Node) (bool, error) {
	switch {
	case x.node != "":
		return n.Name == x.node, nil
	case x.all:
		return true, nil
	case x.object == nil:
		return false, nil
	}
	return x.err == nil && x.selector.Matches(n), x.err
}

func isSet(b *bool) bool { return b != nil && *b }

// A slice is a ResourceSlice with what is derived from it and from taint rules.
type slice struct {
	object    *api.ResourceSlice
	pool      PoolID
	where     selection
	perDevice bool
	devices   []Device
	taints    []api.DeviceTaint // of all devices, by rules that name none
	groups    bool              // a device has compatibility groups: the slice does not count
	bindings  bool              // a device has binding conditions
	counters  bool              // a device consumes counters

	views   func() []*expr.Device
	indexes func() map[string]int   // of devices, by name; nil for few
	words   func() []string         // see Device.words
	use     atomic.Pointer[poolUse] // see State.usesOf
	tag     *tag                    // for the answers about the devices
	values  memo[string, []*api.DeviceAttribute]
}

// newSlice derives a slice, with the taints that the rules add.
func newSlice(object *api.ResourceSlice, rules []*api.DeviceTaintRule) *slice {
	spec := &object.Spec
	s := &slice{
		object: object, pool: PoolID{spec.Driver, spec.Pool.Name}, where: newSelection(spec.NodeName, spec.AllNodes, spec.NodeSelector),
		perDevice: isSet(spec.PerDeviceNodeSelection), devices: make([]Device, len(spec.Devices)), tag: new(tag),
	}
	named := s.follow(rules)
	for i := range spec.Devices {
		object := &spec.Devices[i]
		d := &s.devices[i]
		d.Device, d.slice, d.index = object, s, i
		d.shareable, d.taints = isSet(object.AllowMultipleAllocations), acting(nil, object.Taints...)
		if s.perDevice {
			d.where = newSelection(object.NodeName, object.AllNodes, object.NodeSelector)
		}
		d.taints = append(d.taints, named[object.Name]...)
		d.plain = consume(d, nil)
		d.odd = d.plain.err != nil
		for _, c := range object.ConsumesCounters {
			s.counters = true
			s.groups = s.groups || len(c.CompatibilityGroups) > 0
			for _, x := range c.Counters {
				d.odd = d.odd || x.Value.Sign() < 0
			}
		}
		s.bindings = s.bindings || object.BindingConditions != nil
	}
	if len(s.devices) > fewDevices {
		s.indexes = sync.OnceValue(func() map[string]int {
			m := make(map[string]int, len(s.devices))
			for i := range s.devices {
				m[s.devices[i].Name] = i
			}
			return m
		})
	}
	s.words = sync.OnceValue(func() []string { return wordsOfEach(s) })
	s.views = sync.OnceValue(func() []*expr.Device {
		views := make([]*expr.Device, len(s.devices))
		for i := range s.devices {
			views[i] = expr.NewDevice(spec.Driver, s.devices[i].Device)
		}
		return views
	})
	return s
}

// fewDevices is up to how many devices of a slice are compared one by one to find a name.
const fewDevices = 16

// named returns the place of the device of a name; of the last, if there are several.
func (s *slice) named(device string) (i int, ok bool) {
	if s.indexes != nil {
		i, ok = s.indexes()[device]
		return i, ok
	}
	for i := len(s.devices) - 1; i >= 0; i-- {
		if s.devices[i].Name == device {
			return i, true
		}
	}
	return 0, false
}

// hasNames reports whether the devices have names of their own.
func (s *slice) hasNames() bool {
	if s.indexes != nil {
		return len(s.indexes()) == len(s.devices)
	}
	sorted := true
	for i := 1; i < len(s.devices) && sorted; i++ {
		sorted = s.devices[i-1].Name < s.devices[i].Name
	}
	for i := 0; i < len(s.devices) && !sorted; i++ {
		if k, _ := s.named(s.devices[i].Name); k != i {
			return false
		}
	}
	return true
}

// wordsOfEach returns the words of all devices of a slice. They share their memory.
func wordsOfEach(s *slice) []string {
	pool := s.pool.String()
	size := len(s.devices) * (len(pool) + len(" "))
	for i := range s.devices {
		size += len(s.devices[i].Name)
	}
	var b strings.Builder
	b.Grow(size)
	list := make([]string, len(s.devices))
	for i := range s.devices {
		start := b.Len()
		b.WriteString(pool)
		b.WriteByte(' ')
		b.WriteString(s.devices[i].Name)
		list[i] = b.String()[start:]
	}
	return list
}

// acting appends the taints that keep requests off.
func acting(to []api.DeviceTaint, taints ...api.DeviceTaint) []api.DeviceTaint {
	for _, t := range taints {
		if t.Effect == api.DeviceTaintEffectNoSchedule || t.Effect == api.DeviceTaintEffectNoExecute {
			to = append(to, t)
		}
	}
	return to
}

// follow takes the taints of rules that select all devices of the slice, and returns those of rules that name a device, by its
// name.
func (s *slice) follow(rules []*api.DeviceTaintRule) (named map[string][]api.DeviceTaint) {
	for _, r := range rules {
		switch by := r.Spec.DeviceSelector; {
		case by == nil || by.Driver != nil && *by.Driver != s.pool.Driver || by.Pool != nil && *by.Pool != s.pool.Pool:
		case by.Device == nil:
			s.taints = acting(s.taints, r.Spec.Taint)
		default:
			if named == nil {
				named = map[string][]api.DeviceTaint{}
			}
			named[*by.Device] = acting(named[*by.Device], r.Spec.Taint)
		}
	}
	return named
}

// tolerated reports whether a request tolerates all taints of the device.
func (d *Device) tolerated(by []api.DeviceToleration) bool {
	for _, list := range [2][]api.DeviceTaint{d.taints, d.slice.taints} {
		for i := range list {
			if !slices.ContainsFunc(by, func(t api.DeviceToleration) bool { return tolerates(&t, &list[i]) }) {
				return false
			}
		}
	}
	return true
}

func tolerates(o *api.DeviceToleration, t *api.DeviceTaint) bool {
	if o.Effect != "" && o.Effect != t.Effect || o.Key != "" && o.Key != t.Key {
		return false
	}
	switch o.Operator {
	case api.DeviceTolerationOpExists:
		return true
	case "", api.DeviceTolerationOpEqual:
		return o.Value == t.Value
	}
	return false
}

// relevant reports whether the slice counts for the node.
func (s *slice) relevant(n *api.Node) (bool, error) {
	if s.where.given() {
		ok, err := s.where.matches(n)
		if err != nil {
			return false, &sliceError{s.object.Name, "", err}
		}
		return ok, nil
	}
	if !s.perDevice {
		return false, nil
	}
	for i := range s.devices {
		ok, err := s.devices[i].where.matches(n)
		switch {
		case err != nil:
			return false, &sliceError{s.object.Name, s.devices[i].Name, err}
		case ok:
			return true, nil
		}
	}
	return false, nil
}

// reaches reports whether an answer about the node may read the slice. One without any
// selection counts for extended resources; see [slice.offers].
func (s *slice) reaches(n *api.Node) bool {
	if !s.perDevice {
		ok, err := s.where.matches(n)
		return ok || err != nil || !s.where.given()
	}
	for i := range s.devices {
		if ok, err := s.devices[i].where.matches(n); ok || err != nil {
			return true
		}
	}
	return false
}

// isPinned reports whether the device, once allocated, can be used on one node only.
func (d *Device) isPinned() bool { return d.selectionOf().node != "" || isSet(d.BindsToNode) }

// selectionOf returns the selection that says where an allocated device can be used.
func (d *Device) selectionOf() *selection {
	if d.slice.perDevice {
		return &d.where
	}
	return &d.slice.where
}
