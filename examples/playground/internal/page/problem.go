package page

import (
	"cmp"
	"errors"
	"strings"

	"github.com/berth-sched/berth/examples/internal/manifest"
	"github.com/berth-sched/berth/framework/api"
)

// A Problem is what is wrong with a text.
type Problem struct {
	// Area is nodes, pods, config, link, weights or page.
	Area string `json:"area"`
	// Line is counted from 1; 0 if the problem concerns all of the area.
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// problemOf says what is wrong with an area, and where.
func problemOf(area string, err error) Problem {
	var fault *manifest.FaultError
	if errors.As(err, &fault) {
		return Problem{area, fault.Line, fault.Err.Error()}
	}
	return Problem{Area: area, Text: strings.TrimPrefix(err.Error(), area+": ")}
}

// maxProblems bounds the problems of a cluster that are shown.
const maxProblems = 20

// problems finds the lines of errors about the cluster as a whole.
func (c *cluster) problems(err error) (list []Problem) {
	parts := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		parts = joined.Unwrap()
	}
	list = make([]Problem, min(len(parts), maxProblems))
	var invalid []*api.InvalidError
	var at []*Problem // of these
	for i := range list {
		list[i] = Problem{Area: "pods", Text: parts[i].Error()}
		if e := (*api.InvalidError)(nil); errors.As(parts[i], &e) {
			invalid, at = append(invalid, e), append(at, &list[i])
		}
	}
	for i, p := range c.locate(invalid) {
		at[i].Area, at[i].Line = p.Area, p.Line
	}
	return list
}

// locate returns the text and the line of errors about objects. Each text is read at most once.
func (c *cluster) locate(list []*api.InvalidError) []Problem {
	fields := manifest.FieldsOf(list, c.made)
	places := make([]Problem, len(list))
	for _, s := range c.sources {
		s.Find(fields)
		for i, f := range fields {
			if f.Found && places[i].Area == "" {
				places[i] = Problem{Area: s.Name, Line: f.Line}
			}
		}
	}
	for i := range places {
		places[i].Area = cmp.Or(places[i].Area, "pods")
	}
	return places
}
