package simulate

import (
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// maxMade bounds the pods that workloads make in a run, and how often others lose their nodes and wait
// again: pods that end at once, and are replaced, would make a run endless, and nodes that come and go make it
// as long as the product of their number and that of their pods. The history of each takes about 400 bytes. Pods of large
// templates count more than once, see [workload.WeightOf].
const maxMade = 1_000_000

// A workload of n pods may make as many pods in one second of the simulation in place of
// those that ran to their end as n times endedEach, and endedBase more. Pods that run for a
// moment would otherwise be made up to maxMade, which takes a minute of work.
const (
	endedEach = 10
	endedBase = 1000
)

// tooMany returns an error about the run time of the workload's pods if it has made too many
// of them, or has in this second.
func (w *world) tooMany(c *controller, p *api.Pod) error {
	var err error
	w.made += c.weigh()
	switch most := w.mostEnded(c); {
	case w.made > maxMade:
		err = fmt.Errorf("%d pods have been made by workloads, or have lost their nodes, the last of them this one: want pods that run longer, or a run that ends before", maxMade)
	case c.ended > most && c.second == int64(w.now()/time.Second):
		err = fmt.Errorf("%d pods of the workload have run to their end within one second, %v after the start: want at most %d, so pods that run longer", c.ended, time.Duration(c.second)*time.Second, most)
	default:
		return nil
	}
	return &api.InvalidError{
		Object: c.Label(), Field: fmt.Sprintf("spec.template.metadata.annotations[%s]", AnnotationRunTime), Value: p.Annotations[AnnotationRunTime], Err: err,
	}
}

// displacedOften returns an error about a pod that waits again, if that has happened too often.
func (w *world) displacedOften(p *api.Pod) error {
	if w.made++; w.made <= maxMade {
		return nil
	}
	return &api.InvalidError{Object: "pod " + p.Key(), Err: fmt.Errorf("%d pods have been made by workloads, or have lost their nodes, the last of them this one: want fewer nodes that go, or evictions", maxMade)}
}

// mostEnded is how many of the workload's pods may be replaced within one second.
func (w *world) mostEnded(c *controller) int {
	n := len(w.nodes)
	if c.Field != "" {
		n, _ = c.Replicas() // was checked when it came
	}
	return endedEach*n + endedBase
}

// make lets a pod of the workload arrive.
func (w *world) make(c *controller, p *api.Pod) error {
	if err := w.tooMany(c, p); err != nil {
		return err
	}
	p.UID = api.UID(fmt.Sprintf("%s-%d", p.Name, len(w.lives)))
	o := &api.Objects{Pods: []*api.Pod{p}, PriorityClasses: w.classes}
	if err := o.Default(); err != nil {
		return err
	}
	l, err := w.bear(p)
	if err != nil {
		return err
	}
	l.owner = c
	c.live[l] = true
	c.join(l)
	w.arrive(l)
	return nil
}
