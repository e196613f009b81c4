package input

import "github.com/berth-sched/berth/scheduling/simulate"

// Timed reports whether the annotations of some pod set when it arrives or how long
// it runs. Rows of a table do not count, since they all have times.
func (c *Cluster) Timed() bool {
	for _, p := range c.Objects.Pods {
		_, comes := p.Annotations[simulate.AnnotationArrival]
		_, ends := p.Annotations[simulate.AnnotationRunTime]
		if (comes || ends) && !c.tables[c.files["pod "+p.Key()]] {
			return true
		}
	}
	return false
}
