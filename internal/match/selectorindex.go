package match

// A SelectorIndex is a label selector for many objects: comparing one takes time for its labels,
// however many requirements and values the selector has.
type SelectorIndex struct {
	conditions map[string]*condition // by key
	needed     int                   // keys that must be there
	nothing    bool
}

// A condition is what all requirements about one key say together.
type condition struct {
	present, absent bool
	allowed         map[string]bool // nil means any value
	forbidden       map[string]bool
}

// NewSelectorIndex indexes a selector of labels. It costs about as much as compiling that.
func NewSelectorIndex(s *LabelSelector) *SelectorIndex {
	x := &SelectorIndex{conditions: map[string]*condition{}, nothing: s.nothing}
	for i := range s.requirements {
		r := &s.requirements[i]
		c := x.conditions[r.key]
		if c == nil {
			c = &condition{}
			x.conditions[r.key] = c
		}
		c.add(r)
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
		both := make(map[string]bool, len(r.values))
		for _, value := range r.values {
			if c.allowed == nil || c.allowed[value] {
				both[value] = true
			}
		}
		c.present, c.allowed = true, both
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

// Matches reports whether the selector selects an object with these labels.
func (x *SelectorIndex) Matches(labels map[string]string) bool {
	if x.nothing || x.needed > len(labels) {
		return false
	}
	there := 0
	for key, value := range labels {
		c := x.conditions[key]
		if c == nil {
			continue
		}
		if c.absent || c.forbidden[value] || c.allowed != nil && !c.allowed[value] {
			return false
		}
		if c.present {
			there++
		}
	}
	return there == x.needed
}
