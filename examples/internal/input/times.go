package input

import (
	"slices"

	"github.com/berth-sched/berth/scheduling/simulate"
)

// Timed reports whether the annotations of some pod set when it arrives or how long
// it runs. Rows of a table do not count, since they all have times.
func (c *Cluster) Timed() bool {
	for i, p := range c.Objects.Pods {
		_, comes := p.Annotations[simulate.AnnotationArrival]
		_, ends := p.Annotations[simulate.AnnotationRunTime]
		inTable := slices.ContainsFunc(c.sources, func(s *source) bool { return s.table != "" && s.pods[0] <= i && i < s.pods[1] })
		if (comes || ends) && !inTable {
			return true
		}
	}
	return false
}
