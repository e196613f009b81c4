package estimator

import (
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// The annotations of a pod that set its minimum times of estimation, in whole
// seconds. They are read if LoadConfig.PodAnnotations is set. 0 disables; a
// negative number or other text is ignored.
const (
	AnnotationEstimateScheduled   = "scheduling.koordinator.sh/load-estimated-seconds-after-pod-scheduled"
	AnnotationEstimateInitialized = "scheduling.koordinator.sh/load-estimated-seconds-after-initialized"
)

// A PodLoad is the data that a [Load] derives from a pod alone.
type PodLoad struct {
	// Estimate is the expected use by resource, in the order of Load.Resources; nil
	// if the estimator failed.
	Estimate []int64
	// Err is the error of the estimator, or nil.
	Err error
	// Class is the pod's priority class, and Prod reports whether it is koord-prod.
	Class PriorityClass
	Prod  bool
	// DaemonSet reports that an owner is a DaemonSet: no filter applies.
	DaemonSet bool

	estimated []bool  // resources named by the estimator
	charged   []int64 // Estimate if it is not all 0

	scheduled   time.Time // when it was scheduled, by its conditions
	initialized time.Time
	// minimum times of estimation since then; 0 disables
	afterScheduled, afterInitialized time.Duration
}

// Pod returns the data that the Load derives from the pod. It is computed once.
func (l *Load) Pod(p *framework.PodInfo) *PodLoad { return l.ready().pods.Of(p) }

// AppendKey appends a text that is equal for pods whose nodes are judged alike: their
// estimates are equal, or both failed, and so are Prod and DaemonSet.
func (d *PodLoad) AppendKey(b []byte) []byte {
	flags := byte(0)
	for i, set := range [...]bool{d.Err != nil, d.Prod, d.DaemonSet} {
		if set {
			flags |= 1 << i
		}
	}
	b = append(b, flags)
	for _, amount := range d.Estimate {
		b = binary.AppendVarint(b, amount)
	}
	return b
}

func (l *Load) derivePod(info *framework.PodInfo) *PodLoad {
	p := info.Pod
	room := new(podLoadRoom)
	d := &room.PodLoad
	d.Class = priorityClass(p, l.traits.podLevel)
	d.Prod = d.Class == PriorityProd
	for i := range p.OwnerReferences {
		d.DaemonSet = d.DaemonSet || p.OwnerReferences[i].Kind == "DaemonSet"
	}
	d.Err = l.estimate(p, room)
	d.scheduled = trueSince(p, api.PodScheduled)
	d.initialized = trueSince(p, api.PodInitialized)
	d.afterScheduled, d.afterInitialized = l.config.EstimateScheduled, l.config.EstimateInitialized
	if l.config.PodAnnotations {
		d.afterScheduled = annotatedSeconds(p, AnnotationEstimateScheduled, d.afterScheduled)
		d.afterInitialized = annotatedSeconds(p, AnnotationEstimateInitialized, d.afterInitialized)
	}
	return d
}

// podLoadRoom is a PodLoad with space for the resources of most Loads, so that a
// pod needs one allocation.
type podLoadRoom struct {
	PodLoad

	amounts [4]int64
	named   [4]bool
}

// estimate fills in the pod's estimate.
func (l *Load) estimate(p *api.Pod, room *podLoadRoom) error {
	d, n := &room.PodLoad, len(l.names)
	estimate, estimated := room.amounts[:min(n, len(room.amounts))], room.named[:min(n, len(room.named))]
	if n > len(room.amounts) {
		estimate, estimated = make([]int64, n), make([]bool, n)
	}
	note := func(name resource.Name, x int64) {
		if i, ok := slices.BinarySearch(l.names, name); ok {
			estimate[i], estimated[i] = x, true
			if x != 0 {
				d.charged = estimate
			}
		}
	}
	if e, ok := l.config.Estimator.(*DefaultEstimator); ok {
		class := d.Class
		if e.traits.podLevel != l.traits.podLevel {
			class = priorityClass(p, e.traits.podLevel)
		}
		e.each(p, class, note) // without an intermediate map
	} else {
		use, err := asked(l.config.Estimator, "EstimatePod", func() (map[resource.Name]int64, error) { return l.config.Estimator.EstimatePod(p) })
		if err != nil {
			return err
		}
		for name, x := range use {
			note(name, x)
		}
	}
	d.Estimate, d.estimated = estimate, estimated
	return nil
}

// trueSince returns when the first condition of the type became true, or the zero
// time if it is not true or has no time.
func trueSince(p *api.Pod, t api.PodConditionType) time.Time {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == t {
			if c.Status == api.ConditionTrue {
				return c.LastTransitionTime
			}
			break
		}
	}
	return time.Time{}
}

func annotatedSeconds(p *api.Pod, key string, otherwise time.Duration) time.Duration {
	text, ok := p.Annotations[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return otherwise
	}
	return Seconds(n)
}

// placedAt returns the time since which a pod counts as placed: the time in its
// conditions or, without one, the time of its assignment.
func (d *PodLoad) placedAt(assigned time.Time) time.Time {
	if d.scheduled.IsZero() {
		return assigned
	}
	return d.scheduled
}

// deadline returns the end of the minimum estimation of a pod placed at the given
// time, or the zero time if there is none.
//
// Source: Koordinator 1.8, shouldEstimatePodDeadline.
func (d *PodLoad) deadline(placed time.Time) time.Time {
	switch {
	case d.afterInitialized > 0 && !d.initialized.IsZero():
		return d.initialized.Add(d.afterInitialized)
	case d.afterScheduled > 0 && !placed.IsZero():
		return placed.Add(d.afterScheduled)
	}
	return time.Time{}
}
