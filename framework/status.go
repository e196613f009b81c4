package framework

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/berth-sched/berth/internal/errtext"
)

// A Code says how a plugin answered. The numbers and names are those of the
// Kubernetes scheduling framework.
type Code uint8

// The codes of the Kubernetes scheduling framework.
const (
	// Success: the plugin has no objection. It is the zero value.
	Success Code = iota
	// Error: the plugin could not decide. The pod's cycle ends and the pod is
	// tried again.
	Error
	// Unschedulable: no for now; removing pods from the node may help.
	Unschedulable
	// UnschedulableAndUnresolvable: no, and removing pods cannot help.
	UnschedulableAndUnresolvable
	// Wait: a Permit plugin asks the pod to wait before it is bound.
	Wait
	// Skip: the plugin has nothing to do for this pod, or a Bind plugin leaves
	// the pod to the next one.
	Skip
	// Pending: no for now; the pod is tried again without a backoff penalty.
	Pending
)

var codeNames = [...]string{
	Success: "Success", Error: "Error", Unschedulable: "Unschedulable",
	UnschedulableAndUnresolvable: "UnschedulableAndUnresolvable",
	Wait:                         "Wait", Skip: "Skip", Pending: "Pending",
}

// String returns the code's name in the Kubernetes scheduling framework.
func (c Code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("Code(%d)", uint8(c))
}

// A Reasoner holds the texts behind a [Status]. It formats them only when they are
// read, so a plugin that rejects thousands of nodes formats nothing.
//
// A Reasoner must be comparable with ==, must not change, and must stay valid after
// the cycle. Rejections with equal reasoner and detail count as one reason.
type Reasoner interface {
	// Reasons returns the texts for the detail that the status was made with.
	Reasons(detail uint64) []string
}

// Text is a Reasoner of one constant text.
type Text string

// Reasons returns the text, whatever the detail.
func (t Text) Reasons(uint64) []string { return []string{string(t)} }

// Texts returns a Reasoner of several texts, in the order given. Two results are never
// equal: if you reject many nodes for the same reasons, make one and keep it.
func Texts(texts ...string) Reasoner { return &textList{texts} }

type textList struct{ texts []string }

func (l *textList) Reasons(uint64) []string { return slices.Clone(l.texts) }

// failure is the Reasoner of a status that carries an error.
type failure struct{ err error }

func (f *failure) Reasons(uint64) []string { return []string{f.err.Error()} }

// A Status is a plugin's answer. The zero Status is Success. It is a small
// value: returning one does not allocate.
type Status struct {
	code   Code
	detail uint64
	why    Reasoner
}

// ErrUnknownCode is the error of a status that was made with a code that does not exist.
var ErrUnknownCode = errors.New("unknown status code")

// NewStatus returns a status with the given code and reasons; why may be nil. An unknown
// code gives an Error status with [ErrUnknownCode].
func NewStatus(code Code, why Reasoner) Status { return Status{why: why}.WithCode(code) }

// DetailedStatus returns a status whose reasons are why.Reasons(detail), so one
// Reasoner serves many different rejections.
func DetailedStatus(code Code, why Reasoner, detail uint64) Status {
	return Status{why: why, detail: detail}.WithCode(code)
}

// maxReason is the number of bytes of a reason, or of an error of a status. They may repeat names from pods and other
// objects, and each pod that fails keeps its own.
const maxReason = 4 << 10

// UnschedulableStatus returns an Unschedulable status with the given reason.
func UnschedulableStatus(reason Text) Status { return Status{code: Unschedulable, why: reason} }

// UnresolvableStatus returns an UnschedulableAndUnresolvable status with the given
// reason: removing pods from the node cannot help.
func UnresolvableStatus(reason Text) Status {
	return Status{code: UnschedulableAndUnresolvable, why: reason}
}

func isLong(text string) bool { return len(text) > maxReason }

// AsStatus returns an Error status that carries err, or Success for nil. If a method of err
// panics, the status carries an error that says so. Beyond 4 KiB, its text is cut.
func AsStatus(err error) Status {
	if err == nil {
		return Status{}
	}
	return Status{code: Error, why: &failure{errtext.Brief(errtext.Safe(err), maxReason)}}
}

// SkipStatus is the status of a plugin that has nothing to do for a pod.
func SkipStatus() Status { return Status{code: Skip} }

// Code returns the status's code.
func (s Status) Code() Code { return s.code }

// IsSuccess reports whether the code is Success.
func (s Status) IsSuccess() bool { return s.code == Success }

// IsSkip reports whether the code is Skip.
func (s Status) IsSkip() bool { return s.code == Skip }

// IsWait reports whether the code is Wait.
func (s Status) IsWait() bool { return s.code == Wait }

// IsRejected reports whether the plugin decided no: Unschedulable,
// UnschedulableAndUnresolvable or Pending.
func (s Status) IsRejected() bool {
	return s.code == Unschedulable || s.code == UnschedulableAndUnresolvable || s.code == Pending
}

// Reasons returns the texts of the status, each of at most 4 KiB, nil if it has none. It allocates. If the
// [Reasoner] panics, the only text says so: reasons may be read long after the
// plugin's call.
func (s Status) Reasons() (texts []string) {
	if s.why == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			texts = []string{fmt.Sprintf("%T: panic: %v", s.why, v)}
		}
	}()
	texts = s.why.Reasons(s.detail)
	if slices.ContainsFunc(texts, isLong) {
		texts = slices.Clone(texts) // they are the reasoner's
		for i, text := range texts {
			texts[i] = errtext.Cut(text, maxReason)
		}
	}
	return texts
}

// Is reports whether the status was made with the reasoner, whatever its detail.
func (s Status) Is(why Reasoner) bool { return s.why != nil && s.why == why }

// Message returns the reasons joined with ", ".
func (s Status) Message() string { return strings.Join(s.Reasons(), ", ") }

// Err returns nil for Success, Wait and Skip. Otherwise it returns the error that the
// status was made from, or an error whose text is the message.
func (s Status) Err() error {
	switch s.code {
	case Success, Wait, Skip:
		return nil
	}
	if f, ok := s.why.(*failure); ok {
		return f.err
	}
	return errors.New(s.Message())
}

// WithCode returns the status with another code and the same reasons. An unknown code
// gives an Error status with [ErrUnknownCode].
func (s Status) WithCode(c Code) Status {
	if c > Pending {
		return AsStatus(fmt.Errorf("%w: %d", ErrUnknownCode, c))
	}
	s.code = c
	return s
}

// Same reports whether two statuses have the same code and the same reasons, without
// formatting them. Two statuses made from equal Text are the same; see [Reasoner].
func (s Status) Same(t Status) bool {
	if s.code != t.code || s.detail != t.detail {
		return false
	}
	switch a := s.why.(type) { // in short, most reasoners
	case nil:
		return t.why == nil
	case Text:
		b, ok := t.why.(Text)
		return ok && a == b
	}
	a := reflect.TypeOf(s.why)
	return a == reflect.TypeOf(t.why) && a.Comparable() && s.why == t.why
}

// String formats the status for people: the code and its message.
func (s Status) String() string {
	if m := s.Message(); m != "" {
		return s.code.String() + ": " + m
	}
	return s.code.String()
}
