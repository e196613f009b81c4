package gang

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Status says how an attempt for a group ended.
type Status uint8

const (
	// Placed: at least the minimum stands.
	Placed Status = iota
	// Short: too few pods fit, or the minimum stands already and no pod that waits fits.
	Short
	// NoDomain: no node has the labels of the group's levels.
	NoDomain
	// Stuck: the members that are present rule out every domain.
	Stuck
)

var statusNames = [...]string{"Placed", "Short", "NoDomain", "Stuck"}

// String returns the status's name.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("Status(%d)", uint8(s))
}

// MarshalText returns the status's name.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// An Outcome is what came of an attempt to place a group. Its JSON form is stable.
type Outcome struct {
	// Group is "namespace/name".
	Group  string `json:"group"`
	Status Status `json:"status"`
	// Proved is set if the group was placed, or if no rule could have placed it: every
	// domain is too small, or was searched to the end.
	//
	// A search tries one order of the pods, so it proves nothing about pods for which the
	// order matters: pods that may fit only after others of the group, pods with claims on
	// devices or volumes, and pods that are nominated. Nor is there a proof for a group of
	// a [Set] that does not stand: it was tried in one domain, beside its siblings.
	Proved bool `json:"proved"`
	// GaveUp is set if the search ended because it had taken all its steps.
	GaveUp bool `json:"gaveUp,omitempty"`
	// Text says why the group does not stand, "" if it does. Under Kubernetes137 it is
	// kube-scheduler's text.
	Text string `json:"text,omitempty"`
	// Domain is the path of the domain that was chosen, coarsest level first; empty if
	// the whole cluster was.
	Domain []Value `json:"domain,omitempty"`
	// Placed are the pods that stand now, in the order in which they were placed, and
	// Left the others, in the order of the group.
	Placed []Placement `json:"placed,omitempty"`
	Left   []Left      `json:"left,omitempty"`
	// Trials are the domains that were tried, in order. Domains that a proof ruled out
	// are among them.
	Trials []*Trial `json:"trials,omitempty"`
	// TiedDomains is how many domains were as good as the chosen one.
	TiedDomains int `json:"tiedDomains,omitempty"`
	// Steps is how many steps the search took.
	Steps int `json:"steps,omitempty"`

	best *Trial // that a refusal tells of
}

// Best is the trial that was kept, or else the one closest to success; nil if no domain
// was tried.
func (o *Outcome) Best() *Trial { return o.best }

// A Value is a label of nodes with its value.
type Value struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// A Placement is a pod and its node.
type Placement struct {
	// Pod is "namespace/name".
	Pod   string `json:"pod"`
	Node  string `json:"node"`
	Score int64  `json:"score"`

	index int // among the group's pods
}

// Index is the place of the pod among the group's pods.
func (p Placement) Index() int { return p.index }

// A Left is a pod that does not stand.
type Left struct {
	// Pod is "namespace/name".
	Pod string `json:"pod"`
	// Err is why it was rejected: a [*scheduling.FitError] or [scheduling.ErrNoNodes]. It
	// is nil if the pod was not tried, or fell with its group.
	Err error `json:"-"`

	index int
}

// Index is the place of the pod among the group's pods.
func (l Left) Index() int { return l.index }

// MarshalJSON writes the error as text.
func (l Left) MarshalJSON() ([]byte, error) {
	text := ""
	if l.Err != nil {
		text = l.Err.Error()
	}
	return json.Marshal(struct {
		Pod   string `json:"pod"`
		Error string `json:"error,omitempty"`
	}{l.Pod, text})
}

// A Trial is an attempt to place a group in one domain.
type Trial struct {
	// Domain is the path of the domain, coarsest level first.
	Domain []Value `json:"domain,omitempty"`
	// Nodes is how many nodes it has.
	Nodes int `json:"nodes"`
	// Succeeded is set if at least the minimum fits. Pods is how many fit.
	Succeeded bool `json:"succeeded"`
	Pods      int  `json:"pods"`
	// Text says how many members stood and remained when the trial ended.
	Text string `json:"text,omitempty"`
	// Placed are the pods that fit, and Left those that were rejected, in the order in
	// which they were tried. Both are empty if counts gave the answer.
	Placed []Placement `json:"placed,omitempty"`
	Left   []Left      `json:"left,omitempty"`
	// Scores are the placement scores, and Total their sum, if several domains were
	// successful under Kubernetes137.
	Scores []Score `json:"scores,omitempty"`
	Total  int64   `json:"total,omitempty"`
	// Capacity is how many of the pods the domain takes, -1 if it was not counted.
	Capacity int `json:"capacity"`
	// Bound, if not "", proves that the group cannot stand in the domain.
	Bound string `json:"bound,omitempty"`
	// Missing is what keeps the group from standing there; nil if it does.
	Missing *Missing `json:"missing,omitempty"`

	domain   *domain
	searched bool // to the end, without success
}

// Name joins the values of the domain's path with "/", as in "b2/r7"; "" for the whole
// cluster.
func (t *Trial) Name() string {
	if t.domain != nil {
		return t.domain.name
	}
	return pathName(t.Domain)
}

func pathName(path []Value) string {
	values := make([]string, len(path))
	for i, v := range path {
		values[i] = v.Value
	}
	return strings.Join(values, "/")
}

// describe names the domain for people: "rack r7 of block b2".
func (t *Trial) describe() string {
	if len(t.Domain) == 0 {
		return "the cluster"
	}
	var b strings.Builder
	for i := len(t.Domain) - 1; i >= 0; i-- {
		if b.Len() > 0 {
			b.WriteString(" of ")
		}
		v := t.Domain[i]
		b.WriteString(nameOfKey(v.Key) + " " + v.Value)
	}
	return b.String()
}

// nameOfKey is a label without its prefix.
func nameOfKey(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// A Score is a placement score of a domain.
type Score struct {
	Plugin string `json:"plugin"`
	// Raw is the plugin's score; Weighted is the normalized score times the weight.
	Raw      int64 `json:"raw"`
	Weighted int64 `json:"weighted"`
}
