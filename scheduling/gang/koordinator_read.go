package gang

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// annotationReader reads the annotations of one object.
type annotationReader struct {
	object string
	from   map[string]string
	layers []KoordinatorLayer
}

func (r annotationReader) invalid(key, text string) error {
	return &api.InvalidError{Object: r.object, Field: "metadata.annotations[" + key + "]", Value: r.from[key], Err: errors.New(text)}
}

func (r annotationReader) read(k *KoordinatorGang) (err error) {
	if err := r.number(koordMin, &k.Min); err != nil {
		return err
	}
	k.Total = k.Min
	if err := r.number(koordTotal, &k.Total); err != nil {
		return err
	}
	if k.Total < k.Min {
		k.Total = k.Min
	}
	if err := r.policies(k); err != nil {
		return err
	}
	if k.Waiting == 0 {
		k.Waiting = koordDefaultWaiting
	}
	if text, ok := r.from[koordWaitingTime]; ok {
		waiting, err := time.ParseDuration(text)
		if err != nil || waiting < 0 {
			return r.invalid(koordWaitingTime, "must be a duration from 0 on")
		}
		if waiting > 0 { // 0 is the default
			k.Waiting = waiting
		}
	}
	if k.Groups, err = r.groups(k.Key()); err != nil {
		return err
	}
	k.Levels, err = r.levels()
	return err
}

// policies reads the mode, and which pods count for the minimum.
func (r annotationReader) policies(k *KoordinatorGang) error {
	switch mode := r.from[koordMode]; mode {
	case "", koordModeStrict:
	case koordModeNonStrict:
		k.NonStrict = true
	default:
		return r.invalid(koordMode, "must be Strict or NonStrict")
	}
	switch p := MatchPolicy(r.from[koordMatchPolicy]); p {
	case "", OnceSatisfied:
		k.Policy = OnceSatisfied
	case WaitingAndRunning, OnlyWaiting:
		k.Policy = p
	default:
		return r.invalid(koordMatchPolicy, "must be once-satisfied, waiting-and-running or only-waiting")
	}
	return nil
}

// groups returns the keys of the gangs that are placed together, in order; own is among
// them.
func (r annotationReader) groups(own string) (keys []string, err error) {
	text, ok := r.from[koordGroups]
	if !ok {
		return []string{own}, nil
	}
	if err := json.Unmarshal([]byte(text), &keys); err != nil {
		return nil, r.invalid(koordGroups, "must be a list of \"namespace/name\"")
	}
	for _, key := range keys {
		if namespace, name, ok := strings.Cut(key, "/"); !ok || namespace == "" || name == "" || strings.Contains(name, "/") {
			return nil, r.invalid(koordGroups, fmt.Sprintf("%q is not \"namespace/name\"", cut(key)))
		}
	}
	if !slices.Contains(keys, own) {
		keys = append(keys, own)
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

func (r annotationReader) number(key string, to *int) error {
	text, ok := r.from[key]
	if !ok {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return r.invalid(key, "must be a number from 0 on")
	}
	*to = n
	return nil
}

// levels reads the network topology. Layers come in their own order, the coarsest first, whatever the
// order of the rules. A layer above one that must gather gathers by itself, so it must, too.
func (r annotationReader) levels() (list []Level, err error) {
	text, ok := r.from[koordTopology]
	if !ok {
		return nil, nil
	}
	var spec struct {
		GatherStrategy []struct {
			Layer            string `json:"layer"`
			Strategy         string `json:"strategy"`
			PodCountMultiple int    `json:"podCountMultiple"`
		} `json:"gatherStrategy"`
	}
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return nil, r.invalid(koordTopology, "cannot be read: "+cut(err.Error()))
	}
	depth := map[string]int{} // of a level's label
	finest := -1              // layer that must gather
	for _, s := range spec.GatherStrategy {
		at := slices.IndexFunc(r.layers, func(l KoordinatorLayer) bool { return l.Name == s.Layer })
		if at < 0 {
			return nil, r.invalid(koordTopology, fmt.Sprintf("layer %q is unknown", cut(s.Layer)))
		}
		l := Level{Key: r.layers[at].Label, Slice: max(0, s.PodCountMultiple)}
		switch s.Strategy {
		case koordMustGather:
			l.Mode, finest = Required, max(finest, at)
		case koordPreferGather:
			l.Mode = Preferred
		default:
			return nil, r.invalid(koordTopology, fmt.Sprintf("strategy %q of layer %q is unknown", cut(s.Strategy), cut(s.Layer)))
		}
		depth[l.Key] = at
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(a, b Level) int { return cmp.Compare(depth[a.Key], depth[b.Key]) })
	for i := range list {
		if depth[list[i].Key] < finest {
			list[i].Mode = Required
		}
	}
	return list, nil
}
