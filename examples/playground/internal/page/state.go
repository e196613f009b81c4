package page

import (
	"encoding/json"
	"fmt"
)

// State is all that a link holds.
type State struct {
	// Preset is the release whose plugins and defaults count, or load-aware.
	Preset string `json:"preset"`
	// Sample names the sample that Texts has; then a link leaves them out.
	Sample string `json:"sample,omitempty"`
	Texts
	// Seed determines ties that are drawn.
	Seed uint64 `json:"seed,omitempty"`
	// Steps lists what the user did, in order.
	Steps []Step `json:"steps,omitempty"`
	// Pod is the waiting pod that is looked at, "" for the first. Node is the node that is
	// looked at.
	Pod  string `json:"pod,omitempty"`
	Node string `json:"node,omitempty"`
}

// Texts are what the user may write.
type Texts struct {
	Nodes  string `json:"nodes,omitempty"`
	Pods   string `json:"pods,omitempty"`
	Config string `json:"config,omitempty"`
}

// The steps.
const (
	stepPlace = "place" // the first N waiting pods, or the pod Name
	stepWeigh = "weigh" // gives the profile Name these weights
	stepAdd   = "add"   // a node like Name
	stepDrain = "drain" // the node Name
	stepEvict = "evict" // the pod Name
)

// A Step is one thing that was done.
type Step struct {
	Do      string           `json:"do"`
	N       int              `json:"n,omitempty"`
	Name    string           `json:"name,omitempty"`
	Weights map[string]int64 `json:"weights,omitempty"`
}

// Bounds of the text of a state. A link is short, and what it unpacks to must not fill the
// memory: the script unpacks no more than maxState.
const (
	maxState = 32 << 20
	maxSteps = 10_000
)

// text returns the state as JSON, which the script packs into the link. The texts of a
// sample are left out.
func (s *State) text() (string, error) {
	short := *s
	if sample, ok := sampleTexts(s.Sample); ok && sample.Texts == s.Texts {
		short.Texts = Texts{}
	} else {
		short.Sample = ""
	}
	text, err := json.Marshal(&short)
	if err != nil {
		return "", err
	}
	if len(text) > maxState {
		return "", fmt.Errorf("the texts are too large for a link: %d KB, and a link holds %d; shorten them, or save them as files", len(text)>>10, maxState>>10)
	}
	return string(text), nil
}

// stateOf returns the state of a text.
func stateOf(text string) (*State, error) {
	s := new(State)
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, fmt.Errorf("the link is damaged: %v", err)
	}
	if len(s.Steps) > maxSteps {
		return nil, fmt.Errorf("the link has %d steps, more than %d", len(s.Steps), maxSteps)
	}
	if s.Sample != "" {
		sample, ok := sampleTexts(s.Sample)
		if !ok {
			return nil, fmt.Errorf("the link names the sample %q, which this page does not have", s.Sample)
		}
		s.Texts = sample.Texts
	}
	return s, nil
}
