package loadaware

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Diff lists what differs between two answers, nothing if they are equal. Where
// want knows several reasons, any of them will do; where it has no classes or
// estimates of pods, they are not compared.
func Diff(want, got *Answer) []string {
	var d differences
	d.compare("error of the arguments", want.ArgsError, got.ArgsError)
	d.compareJSON("arguments", want.DefaultedArgs, got.DefaultedArgs)
	d.compare("class", want.PriorityClass, got.PriorityClass)
	d.compare("estimate", want.EstimatePod, got.EstimatePod)
	for uid, class := range want.PodClasses {
		d.compare(fmt.Sprintf("class of pod %s", uid), class, got.PodClasses[uid])
	}
	for uid, estimate := range want.PodEstimates {
		d.compare(fmt.Sprintf("estimate of pod %s", uid), estimate, got.PodEstimates[uid])
	}
	d.compare("number of nodes", len(want.Nodes), len(got.Nodes))
	for i := range min(len(want.Nodes), len(got.Nodes)) {
		w, g := &want.Nodes[i], &got.Nodes[i]
		d.compare("name of node", w.Name, g.Name)
		d.compare(w.Name+": filter", w.FilterCode, g.FilterCode)
		if !slices.Contains(w.FilterReasons, g.FilterReason) {
			d.compare(w.Name+": reason", w.FilterReason, g.FilterReason)
		}
		d.compare(w.Name+": score", w.Score, g.Score)
		d.compare(w.Name+": resources", len(w.EstimateNode), len(g.EstimateNode))
		for name, q := range w.EstimateNode {
			if !q.Equal(g.EstimateNode[name]) {
				other := g.EstimateNode[name]
				d.compare(fmt.Sprintf("%s: estimated %s", w.Name, name), q.String(), other.String())
			}
		}
	}
	return d
}

type differences []string

func (d *differences) compare(what string, want, got any) {
	if w, g := reflect.ValueOf(want), reflect.ValueOf(got); w.Kind() == reflect.Map && w.Len() == 0 && g.Len() == 0 {
		return
	}
	if !reflect.DeepEqual(want, got) {
		*d = append(*d, fmt.Sprintf("%s = %v, want %v", what, got, want))
	}
}

func (d *differences) compareJSON(what string, want, got json.RawMessage) {
	var w, g any
	if json.Unmarshal(want, &w) != nil || json.Unmarshal(got, &g) != nil || !reflect.DeepEqual(w, g) {
		*d = append(*d, fmt.Sprintf("%s = %s, want %s", what, got, want))
	}
}
