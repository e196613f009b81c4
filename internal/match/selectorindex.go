package match

// A selectorIndex is a long label selector. Comparing an object with it takes time for the object's
// labels or for the selector's keys, whichever are fewer, however many values there are.
type selectorIndex struct {
	conditions map[string]condition // by key
	needed     int                  // keys that must be there
}

// A condition is what all requirements about one key say together. Most name one value, which needs
// no map.
type condition struct {
	present, absent bool
	one             bool            // value is the only one that is allowed
	value           string          // if one is set
	allowed         map[string]bool // if one is not set; nil means any value
	forbidden       map[string]bool
}

// shortParts is up to how many requirements and values are compared one by one.
const shortParts = 32

// indexed returns the selector with an index if it is long.
func (s LabelSelector) indexed() LabelSelector {
	parts := 0
	for i := range s.requirements {
		parts += 1 + len(s.requirements[i].values)
	}
	if parts > shortParts {
		s.index = newSelectorIndex(s.requirements)
	}
	return s
}

func newSelectorIndex(requirements []requirement) *selectorIndex {
	x := &selectorIndex{conditions: map[string]condition{}}
	for i := range requirements {
		r := &requirements[i]
		c := x.conditions[r.key]
		c.add(r)
		x.conditions[r.key] = c
	}
	for _, c := range x.conditions {
		if c.present {
			x.needed++
		}
	}
	return x
}

func (c *condition) add(r *requirement) {
	switch r.op {
	case in:
		if len(r.values) == 1 && !c.one && c.allowed == nil {
			c.present, c.one, c.value = true, true, r.values[0]
			return
		}
		both := make(map[string]bool, len(r.values))
		for _, value := range r.values {
			if c.admits(value) {
				both[value] = true
			}
		}
		c.present, c.one, c.allowed = true, false, both
	case notIn:
		if c.forbidden == nil {
			c.forbidden = make(map[string]bool, len(r.values))
		}
		for _, value := range r.values {
			c.forbidden[value] = true
		}
	case exists:
		c.present = true
	case doesNotExist:
		c.absent = true
	}
}

// matches walks the labels or the conditions, whichever are fewer: either may be a million.
func (x *selectorIndex) matches(labels map[string]string) bool {
	if x.needed > len(labels) {
		return false
	}
	if len(labels) <= len(x.conditions) {
		there := 0
		for key, value := range labels {
			c, ok := x.conditions[key]
			if !ok {
				continue
			}
			if !c.allows(value) {
				return false
			}
			if c.present {
				there++
			}
		}
		return there == x.needed
	}
	for key, c := range x.conditions {
		value, ok := labels[key]
		if !ok && c.present || ok && !c.allows(value) {
			return false
		}
	}
	return true
}

func (c *condition) allows(value string) bool {
	return !c.absent && !c.forbidden[value] && c.admits(value)
}

// admits reports whether the value is among those of each operator In.
func (c *condition) admits(value string) bool {
	if c.one {
		return value == c.value
	}
	return c.allowed == nil || c.allowed[value]
}
