package gang

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/framework/api"
)

// The annotations of Kueue's topology-aware scheduling.
const (
	kueueRequired      = "kueue.x-k8s.io/podset-required-topology"
	kueuePreferred     = "kueue.x-k8s.io/podset-preferred-topology"
	kueueUnconstrained = "kueue.x-k8s.io/podset-unconstrained-topology"
	kueueSlice         = "kueue.x-k8s.io/podset-slice-required-topology"
	kueueSliceSize     = "kueue.x-k8s.io/podset-slice-size"
	kueueSlices        = "kueue.x-k8s.io/podset-slice-required-topology-constraints"

	// KueueGroup names the pod sets that are placed as one group: a leader with its
	// workers. Put their pods into one [Group].
	KueueGroup = "kueue.x-k8s.io/podset-group-name"
)

const kueueLayersMost = 3

// KueueLevels returns the levels that Kueue's annotations of a pod template ask for, and
// the choice that Kueue makes for them. labels are those of the Topology object, the
// coarsest first.
//
//	required       one domain of the label
//	preferred      one domain of the label, else of a coarser one, else as few as possible
//	unconstrained  any nodes, the fullest first
//	slices         so many pods together within one domain of a label
//
// Without annotations it returns no levels. Slices alone do not restrict the group: it is
// unconstrained. An [*api.InvalidError] names the annotation and its value if annotations
// contradict each other, if nothing reads one, or if a label is not among labels. It is
// also an error if two layers of slices have one label, if a layer is above the group's own
// label, or if sizes cannot be read or do not divide those of the coarser layer.
//
// Source: Kueue, Topology Aware Scheduling (KEP-2724).
func KueueLevels(annotations map[string]string, labels []string) ([]Level, Choice, error) {
	r := kueueReader{annotations, labels}
	at, mode, err := r.mode()
	if err != nil || at == none {
		return nil, BestFit, err
	}
	choice := BestFit
	if at == unconstrained {
		choice = LeastFree
	}
	list := make([]Level, len(labels))
	for i, label := range labels {
		list[i] = Level{Key: label, Mode: Counted}
		if i <= at {
			list[i].Mode = mode
		}
	}
	return list, choice, r.slices(list, at)
}

// What an annotation names instead of a place among the labels.
const (
	unconstrained = -1
	none          = -2
)

type kueueReader struct {
	from   map[string]string
	labels []string
}

func (r *kueueReader) invalid(key, text string) error {
	return &api.InvalidError{Object: "pod template", Field: "metadata.annotations[" + key + "]", Value: r.from[key], Err: errors.New(text)}
}

// mode returns the place of the label that the group is to be in, and how strictly.
func (r *kueueReader) mode() (at int, mode Mode, err error) {
	at = none
	count := 0
	for _, x := range []struct {
		key  string
		mode Mode
	}{{kueueRequired, Required}, {kueuePreferred, Preferred}, {kueueUnconstrained, Counted}} {
		text, ok := r.from[x.key]
		set, notBool := strconv.ParseBool(text) // as Kueue reads it
		if !ok || x.mode == Counted && notBool == nil && !set {
			continue
		}
		if count++; count > 1 {
			return none, 0, r.invalid(x.key, "only one of required, preferred and unconstrained may be set")
		}
		if mode = x.mode; mode == Counted {
			if notBool != nil {
				return none, 0, r.invalid(x.key, "must be true or false")
			}
			at = unconstrained
			continue
		}
		if at = slices.Index(r.labels, text); at < 0 {
			return none, 0, r.invalid(x.key, fmt.Sprintf("is none of the labels %v", r.labels))
		}
	}
	_, single := r.from[kueueSlice]
	_, several := r.from[kueueSlices]
	if count == 0 && (single || several) {
		at, mode = unconstrained, Counted
	}
	if _, ok := r.from[kueueSliceSize]; ok && !single {
		return none, 0, r.invalid(kueueSliceSize, "may only be set together with "+kueueSlice)
	}
	return at, mode, nil
}

// slices sets the slices of the levels. at is the place of the label that the group is to
// be in.
func (r *kueueReader) slices(list []Level, at int) error {
	type layer struct {
		Topology string `json:"topology"`
		Size     int    `json:"size"`
	}
	var layers []layer
	text, single := r.from[kueueSlice]
	many, several := r.from[kueueSlices]
	switch {
	case single && several:
		return r.invalid(kueueSlices, "must not be set together with "+kueueSlice)
	case single:
		size, err := strconv.Atoi(r.from[kueueSliceSize])
		if err != nil || size < 1 {
			return r.invalid(kueueSliceSize, "must be a number above 0")
		}
		layers = []layer{{text, size}}
	case several:
		if err := json.Unmarshal([]byte(many), &layers); err != nil {
			return r.invalid(kueueSlices, "cannot be read: "+cut(err.Error()))
		}
		if len(layers) == 0 || len(layers) > kueueLayersMost {
			return r.invalid(kueueSlices, "must have 1 to 3 layers")
		}
	}
	key := kueueSlice
	if several {
		key = kueueSlices
	}
	for _, l := range layers {
		i := slices.Index(r.labels, l.Topology)
		switch {
		case i < 0:
			return r.invalid(key, fmt.Sprintf("%q is none of the labels %v", cut(l.Topology), r.labels))
		case l.Size < 1:
			return r.invalid(key, "sizes must be above 0")
		case list[i].Slice > 0:
			return r.invalid(key, fmt.Sprintf("two layers have the label %q", l.Topology))
		case i < at:
			return r.invalid(key, fmt.Sprintf("slices of %q do not fit the group, which is to be in one domain of %q", l.Topology, r.labels[at]))
		}
		list[i].Slice = l.Size
	}
	outer := 0
	for _, l := range list {
		switch {
		case l.Slice == 0:
			continue
		case outer%l.Slice != 0:
			return r.invalid(key, fmt.Sprintf("slices of %d pods in a domain of %q do not divide the slices of %d of the coarser label", l.Slice, l.Key, outer))
		}
		outer = l.Slice
	}
	return nil
}
