package api

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/berth-sched/berth/resource"
)

// ResourceMap is an amount of each of some resources, such as what a pod uses. It
// says what a [resource.List] says, in a sixth of the memory: cpu and memory, which
// every report has and most have alone, lie in the struct itself. The zero value
// has no resource.
//
//	use := api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(250)})
//
// It is a value: a copy does not change with the original. Its JSON form is that of
// Koordinator's ResourceMap, {"resources": {"cpu": "250m"}}.
//
// Source: Koordinator 1.8, apis/slo/v1alpha1.
type ResourceMap struct {
	has    uint8 // which of the following count; first, so that a reader finds it near names
	cpu    resource.Quantity
	memory resource.Quantity
	others resource.List // never written to once it is here
}

// The bits of ResourceMap.has.
const (
	hasCPU = 1 << iota
	hasMemory
	hasOthers
)

// ResourceMapOf returns the amounts of the list, of which it keeps nothing.
func ResourceMapOf(l resource.List) ResourceMap {
	var m ResourceMap
	others := 0
	for name, q := range l {
		switch name {
		case resource.CPU:
			m.cpu, m.has = q, m.has|hasCPU
		case resource.Memory:
			m.memory, m.has = q, m.has|hasMemory
		default:
			others++
		}
	}
	if others > 0 {
		m.others, m.has = l.Clone(), m.has|hasOthers
		delete(m.others, resource.CPU)
		delete(m.others, resource.Memory)
	}
	return m
}

// Set sets the amount of a resource. It costs O(1) for cpu and memory, and
// O(resources) for others.
func (m *ResourceMap) Set(name resource.Name, q resource.Quantity) {
	switch name {
	case resource.CPU:
		m.cpu, m.has = q, m.has|hasCPU
	case resource.Memory:
		m.memory, m.has = q, m.has|hasMemory
	default:
		others := make(resource.List, len(m.others)+1)
		maps.Copy(others, m.others)
		others[name] = q
		m.others, m.has = others, m.has|hasOthers
	}
}

// Quantity returns the amount of a resource, 0 if there is none.
func (m ResourceMap) Quantity(name resource.Name) resource.Quantity {
	q, _ := m.Lookup(name)
	return q
}

// Lookup returns the amount of a resource, and whether there is one; it may be 0.
func (m ResourceMap) Lookup(name resource.Name) (resource.Quantity, bool) {
	switch name {
	case resource.CPU:
		return m.cpu, m.has&hasCPU != 0
	case resource.Memory:
		return m.memory, m.has&hasMemory != 0
	}
	q, ok := m.others[name]
	return q, ok
}

// IsZero reports whether m has no resource.
func (m ResourceMap) IsZero() bool { return m.has == 0 }

// List returns the amounts as a list of its own, nil if there are none.
func (m ResourceMap) List() resource.List {
	if m.IsZero() {
		return nil
	}
	l := make(resource.List, len(m.others)+2)
	maps.Copy(l, m.others)
	if m.has&hasCPU != 0 {
		l[resource.CPU] = m.cpu
	}
	if m.has&hasMemory != 0 {
		l[resource.Memory] = m.memory
	}
	return l
}

// Equal reports whether m and o have the same resources, and as much of each.
func (m ResourceMap) Equal(o ResourceMap) bool {
	return m.has == o.has && m.cpu.Equal(o.cpu) && m.memory.Equal(o.memory) &&
		maps.EqualFunc(m.others, o.others, resource.Quantity.Equal)
}

// String writes what the list of the amounts would.
func (m ResourceMap) String() string { return fmt.Sprint(m.List()) }

// resourceMapJSON is the JSON form of a ResourceMap.
type resourceMapJSON = struct {
	ResourceList resource.List `json:"resources,omitempty"`
}

// MarshalJSON returns a JSON object. It never fails.
func (m ResourceMap) MarshalJSON() ([]byte, error) {
	return json.Marshal(resourceMapJSON{m.List()})
}

// UnmarshalJSON reads a JSON object. Amounts are added to those that m has, replacing
// those of the same resource; null leaves m as it is, and so does an error.
func (m *ResourceMap) UnmarshalJSON(data []byte) error {
	type ResourceMap resourceMapJSON // errors name it
	read := ResourceMap{m.List()}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*m = ResourceMapOf(read.ResourceList)
	return nil
}
