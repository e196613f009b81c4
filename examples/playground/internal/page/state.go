package page

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
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
	// Steps is what was done, in order.
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

// Bounds of links: browsers shorten or refuse longer ones, and a short link must not
// unfold to a text that fills the memory.
const (
	maxLink  = 1 << 20
	maxState = 32 << 20
	maxSteps = 10_000
)

// linkVersion begins every link.
const linkVersion = "1."

// link returns the fragment of the state. The texts of a sample are left out.
func (s *State) link() (string, error) {
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
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(text); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	link := linkVersion + base64.RawURLEncoding.EncodeToString(b.Bytes())
	if len(link) > maxLink {
		return "", fmt.Errorf("the texts are too large for a link: %d KB, and browsers take about %d; shorten them, or save them as files", len(link)>>10, maxLink>>10)
	}
	return link, nil
}

// openLink returns the state of a fragment, with or without its hash sign.
func openLink(fragment string) (*State, error) {
	text, ok := strings.CutPrefix(strings.TrimPrefix(fragment, "#"), linkVersion)
	if !ok {
		return nil, errors.New("the part after # is no link of this page")
	}
	if len(text) > maxLink {
		return nil, fmt.Errorf("the link is longer than %d bytes", maxLink)
	}
	packed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("the link is damaged: it has a character that links do not have, or its end is missing")
	}
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxState+1))
	switch {
	case err != nil:
		return nil, errors.New("the link is damaged: it cannot be unpacked; copy all of it")
	case len(data) > maxState:
		return nil, fmt.Errorf("the link holds more than %d MB", maxState>>20)
	}
	s := new(State)
	if err := json.Unmarshal(data, s); err != nil {
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
