package api

import "errors"

// The built-in priority classes of every cluster.
const (
	SystemClusterCritical = "system-cluster-critical" // 2,000,000,000
	SystemNodeCritical    = "system-node-critical"    // 2,000,001,000

	systemClusterCriticalValue int32 = 2_000_000_000
	systemNodeCriticalValue    int32 = 2_000_001_000
)

var errNoClass = errors.New("there is no such priority class")

// priorityClass returns the class that gives p its priority: the class it names,
// else the global default (the lowest if there are several). It returns nil if
// there is none, or if p has a priority already.
func priorityClass(p *Pod, classes []*PriorityClass) (*PriorityClass, error) {
	name := p.Spec.PriorityClassName
	if p.Spec.Priority != nil {
		return nil, nil
	}
	var best *PriorityClass
	for _, c := range classes {
		switch {
		case c == nil:
		case name != "" && c.Name == name:
			return c, nil
		case name == "" && c.GlobalDefault && (best == nil || c.Value < best.Value):
			best = c
		}
	}
	switch name {
	case "":
		return best, nil
	case SystemClusterCritical:
		return &PriorityClass{ObjectMeta: ObjectMeta{Name: name}, Value: systemClusterCriticalValue}, nil
	case SystemNodeCritical:
		return &PriorityClass{ObjectMeta: ObjectMeta{Name: name}, Value: systemNodeCriticalValue}, nil
	default:
		return nil, &InvalidError{Object: "pod " + p.Key(), Field: "spec.priorityClassName", Value: name, Err: errNoClass}
	}
}

// defaultPriority gives a pod without a priority the priority of class, or 0 if
// class is nil.
func defaultPriority(s *PodSpec, class *PriorityClass) {
	if s.Priority != nil {
		return
	}
	if class == nil {
		class = &PriorityClass{}
	}
	s.Priority = new(class.Value)
	s.PriorityClassName = class.Name
	if s.PreemptionPolicy == nil {
		policy := PreemptLowerPriority
		if class.PreemptionPolicy != nil {
			policy = *class.PreemptionPolicy
		}
		s.PreemptionPolicy = &policy
	}
}
