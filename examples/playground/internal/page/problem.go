package page

import (
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
	for _, err := range parts[:min(len(parts), maxProblems)] {
		p := Problem{Area: "pods", Text: err.Error()}
		var invalid *api.InvalidError
		if errors.As(err, &invalid) {
			p.Area, p.Line = c.find(invalid)
		}
		list = append(list, p)
	}
	return list
}

// find returns the text and the line of an error about an object.
func (c *cluster) find(e *api.InvalidError) (area string, line int) {
	object, field := e.Object, e.Field
	if workload, ok := c.made[object]; ok {
		object, field = workload, "spec.template."+field
	}
	for _, s := range c.sources {
		if line, found := s.Find(object, field); found {
			return s.Name, line
		}
	}
	return "pods", 0
}
