package loadaware

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// Diff lists the differences between two answers, nothing if they are equal. If want
// has several reasons, any of them is right. If it has no classes or estimates of
// pods, these are not compared.
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
	d.compare("number of questions", len(want.Questions), len(got.Questions))
	for i := range min(len(want.Questions), len(got.Questions)) {
		d.compareNodes(fmt.Sprintf("question %d: ", i), want.Questions[i], got.Questions[i])
	}
	d.compareNodes("", want.Nodes, got.Nodes)
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

func (d *differences) compareNodes(question string, want, got []NodeAnswer) {
	d.compare(question+"number of nodes", len(want), len(got))
	for i := range min(len(want), len(got)) {
		w, g := &want[i], &got[i]
		name := question + w.Name
		d.compare(question+"name of node", w.Name, g.Name)
		d.compare(name+": filter", w.FilterCode, g.FilterCode)
		if !slices.Contains(w.FilterReasons, g.FilterReason) {
			d.compare(name+": reason", w.FilterReason, g.FilterReason)
		}
		d.compare(name+": score", w.Score, g.Score)
		d.compare(name+": resources", len(w.EstimateNode), len(g.EstimateNode))
		for r, q := range w.EstimateNode {
			if !q.Equal(g.EstimateNode[r]) {
				other := g.EstimateNode[r]
				d.compare(fmt.Sprintf("%s: estimated %s", name, r), q.String(), other.String())
			}
		}
	}
}

func (d *differences) compareJSON(what string, want, got json.RawMessage) {
	var w, g any
	if json.Unmarshal(want, &w) != nil || json.Unmarshal(got, &g) != nil || !reflect.DeepEqual(w, g) {
		*d = append(*d, fmt.Sprintf("%s = %s, want %s", what, got, want))
	}
}
