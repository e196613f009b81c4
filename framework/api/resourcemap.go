package api

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/berth-sched/berth/resource"
)

// ResourceMap holds amounts of resources, such as the use of a pod. It has the
// content of a [resource.List] in a sixth of the memory: cpu and memory, present in
// every report and usually alone, lie in the struct itself. The zero value has no
// resource.
//
//	use := api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(250)})
//
// It is a value: a copy does not change with the original. It has the JSON form of
// Koordinator's ResourceMap, {"resources": {"cpu": "250m"}}.
//
// Source: Koordinator 1.8, apis/slo/v1alpha1.
type ResourceMap struct {
	has    uint8 // which of the following are present; first, so that it lies near the names in PodMetricInfo
	cpu    resource.Quantity
	memory resource.Quantity
	others resource.List // shared by copies, so never written to
}

// The bits of ResourceMap.has.
const (
	hasCPU = 1 << iota
	hasMemory
	hasOthers
)

// ResourceMapOf returns the amounts in l. It does not keep l.
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

// Quantity returns the amount of a resource, or 0 if it is absent.
func (m ResourceMap) Quantity(name resource.Name) resource.Quantity {
	q, _ := m.Lookup(name)
	return q
}

// Lookup returns the amount of a resource and whether it is present; a present
// amount may be 0.
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

// List returns the amounts as a new list, or nil if there are none.
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

// Equal reports whether m and o have the same resources with equal amounts.
func (m ResourceMap) Equal(o ResourceMap) bool {
	return m.has == o.has && m.cpu.Equal(o.cpu) && m.memory.Equal(o.memory) &&
		maps.EqualFunc(m.others, o.others, resource.Quantity.Equal)
}

// String returns the text of the list of the amounts.
func (m ResourceMap) String() string { return fmt.Sprint(m.List()) }

// resourceMapJSON is the JSON form of a ResourceMap.
type resourceMapJSON = struct {
	ResourceList resource.List `json:"resources,omitempty"`
}

// MarshalJSON returns a JSON object. It never fails.
func (m ResourceMap) MarshalJSON() ([]byte, error) {
	return json.Marshal(resourceMapJSON{m.List()})
}

// UnmarshalJSON reads a JSON object. It adds the amounts to m and replaces amounts
// of the same resource. Null and errors leave m unchanged.
func (m *ResourceMap) UnmarshalJSON(data []byte) error {
	type ResourceMap resourceMapJSON // errors name it
	read := ResourceMap{m.List()}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*m = ResourceMapOf(read.ResourceList)
	return nil
}
