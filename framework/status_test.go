package framework_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework"
)

// shortage is a Reasoner with a detail word, as a plugin would have one.
type shortage struct{ what string }

func (s shortage) Reasons(detail uint64) []string {
	return []string{fmt.Sprintf("%d %s short", detail, s.what)}
}

func TestStatus(t *testing.T) {
	failure := errors.New("disk on fire")
	tests := []struct {
		name                         string
		status                       framework.Status
		code                         framework.Code
		success, skip, wait, refused bool
		reasons                      []string
		message, text                string
		err                          string // "" for nil
	}{
		{name: "zero", success: true, text: "Success"},
		{
			name: "reject", status: framework.UnschedulableStatus("no room"),
			code: framework.Unschedulable, refused: true,
			reasons: []string{"no room"}, message: "no room", text: "Unschedulable: no room", err: "no room",
		},
		{
			name: "for good", status: framework.UnresolvableStatus("wrong node"),
			code: framework.UnschedulableAndUnresolvable, refused: true,
			reasons: []string{"wrong node"}, message: "wrong node",
			text: "UnschedulableAndUnresolvable: wrong node", err: "wrong node",
		},
		{
			name: "pending", status: framework.NewStatus(framework.Pending, framework.Texts("b", "a")),
			code: framework.Pending, refused: true,
			reasons: []string{"b", "a"}, message: "b, a", text: "Pending: b, a", err: "b, a",
		},
		{
			name: "no texts", status: framework.NewStatus(framework.Unschedulable, framework.Texts()),
			code: framework.Unschedulable, refused: true, text: "Unschedulable", err: "",
		},
		{
			name: "detail", status: framework.DetailedStatus(framework.Unschedulable, shortage{"cpu"}, 3),
			code: framework.Unschedulable, refused: true,
			reasons: []string{"3 cpu short"}, message: "3 cpu short", text: "Unschedulable: 3 cpu short", err: "3 cpu short",
		},
		{
			name: "error", status: framework.AsStatus(failure),
			code:    framework.Error,
			reasons: []string{"disk on fire"}, message: "disk on fire", text: "Error: disk on fire", err: "disk on fire",
		},
		{name: "no error", status: framework.AsStatus(nil), success: true, text: "Success"},
		{name: "skip", status: framework.SkipStatus(), code: framework.Skip, skip: true, text: "Skip"},
		{
			name: "wait", status: framework.NewStatus(framework.Wait, framework.Text("a minute")),
			code: framework.Wait, wait: true,
			reasons: []string{"a minute"}, message: "a minute", text: "Wait: a minute",
		},
		{
			name: "other code", status: framework.AsStatus(failure).WithCode(framework.Unschedulable),
			code: framework.Unschedulable, refused: true,
			reasons: []string{"disk on fire"}, message: "disk on fire", text: "Unschedulable: disk on fire", err: "disk on fire",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := test.status
			if s.Code() != test.code {
				t.Errorf("Code() = %v, want %v", s.Code(), test.code)
			}
			got := [...]bool{s.IsSuccess(), s.IsSkip(), s.IsWait(), s.IsRejected()}
			if want := [...]bool{test.success, test.skip, test.wait, test.refused}; got != want {
				t.Errorf("IsSuccess, IsSkip, IsWait, IsRejected = %v, want %v", got, want)
			}
			if diff := cmp.Diff(test.reasons, s.Reasons()); diff != "" {
				t.Errorf("Reasons() (-want +got):\n%s", diff)
			}
			if s.Message() != test.message {
				t.Errorf("Message() = %q, want %q", s.Message(), test.message)
			}
			if s.String() != test.text {
				t.Errorf("String() = %q, want %q", s, test.text)
			}
			err := s.Err()
			if none := test.success || test.skip || test.wait; (err == nil) != none {
				t.Errorf("Err() = %v, want nil: %t", err, none)
			}
			if err != nil && err.Error() != test.err {
				t.Errorf("Err() = %q, want %q", err, test.err)
			}
		})
	}
}

func TestStatusErrIsTheError(t *testing.T) {
	wrapped := fmt.Errorf("reading: %w", io.ErrUnexpectedEOF)
	if err := framework.AsStatus(wrapped).Err(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Err() = %v, want one that wraps io.ErrUnexpectedEOF", err)
	}
}

func TestStatusSame(t *testing.T) {
	texts := framework.Texts("a", "b")
	failed := framework.AsStatus(io.EOF)
	tests := []struct {
		name string
		s, t framework.Status
		want bool
	}{
		{"zeros", framework.Status{}, framework.AsStatus(nil), true},
		{"equal texts", framework.UnschedulableStatus("no room"), framework.UnschedulableStatus("no room"), true},
		{"other text", framework.UnschedulableStatus("no room"), framework.UnschedulableStatus("no disk"), false},
		{"other code", framework.UnschedulableStatus("no room"), framework.UnresolvableStatus("no room"), false},
		{"one list", framework.NewStatus(framework.Pending, texts), framework.NewStatus(framework.Pending, texts), true},
		{"two lists", framework.NewStatus(framework.Pending, texts), framework.NewStatus(framework.Pending, framework.Texts("a", "b")), false},
		{"detail", framework.DetailedStatus(framework.Unschedulable, shortage{"cpu"}, 1), framework.DetailedStatus(framework.Unschedulable, shortage{"cpu"}, 1), true},
		{"other detail", framework.DetailedStatus(framework.Unschedulable, shortage{"cpu"}, 1), framework.DetailedStatus(framework.Unschedulable, shortage{"cpu"}, 2), false},
		{"other reasoner", framework.DetailedStatus(framework.Unschedulable, shortage{"cpu"}, 1), framework.DetailedStatus(framework.Unschedulable, shortage{"gpu"}, 1), false},
		{"one failure", failed, failed, true},
		{"two failures", failed, framework.AsStatus(io.EOF), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := test.s.Same(test.t); got != test.want {
				t.Errorf("Same(%v, %v) = %t, want %t", test.s, test.t, got, test.want)
			}
			if got := test.t.Same(test.s); got != test.want {
				t.Errorf("Same(%v, %v) = %t, want %t", test.t, test.s, got, test.want)
			}
		})
	}
}

// The numbers and names are those of the Kubernetes scheduling framework.
func TestCode(t *testing.T) {
	names := []string{"Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip", "Pending", "Code(7)"}
	for i, want := range names {
		if got := framework.Code(i).String(); got != want {
			t.Errorf("Code(%d).String() = %q, want %q", i, got, want)
		}
	}
	if framework.Pending != 6 {
		t.Errorf("Pending = %d, want 6", framework.Pending)
	}
}

func TestTextsAreCopied(t *testing.T) {
	r := framework.Texts("a", "b")
	r.Reasons(0)[0] = "changed"
	if diff := cmp.Diff([]string{"a", "b"}, r.Reasons(0)); diff != "" {
		t.Errorf("Reasons after the caller changed an earlier result (-want +got):\n%s", diff)
	}
}

var statusSink framework.Status

func TestStatusAllocations(t *testing.T) {
	cpu := &shortage{"cpu"}
	text := framework.Text(fmt.Sprint("made ", "at run time"))
	kept := framework.NewStatus(framework.Unschedulable, text)
	tests := []struct {
		name string
		make func()
	}{
		{"zero", func() { statusSink = framework.Status{} }},
		{"Reject", func() { statusSink = framework.UnschedulableStatus("no room") }},
		{"RejectForGood", func() { statusSink = framework.UnresolvableStatus("no room") }},
		{"NewStatus", func() { statusSink = framework.NewStatus(framework.Unschedulable, framework.Text("no room")) }},
		{"DetailedStatus", func() { statusSink = framework.DetailedStatus(framework.Unschedulable, cpu, 7) }},
		{"SkipStatus", func() { statusSink = framework.SkipStatus() }},
		{"AsStatus of nil", func() { statusSink = framework.AsStatus(nil) }},
		{"WithCode", func() { statusSink = kept.WithCode(framework.Pending) }},
		{"Same", func() { _ = kept.Same(statusSink) }},
	}
	for _, test := range tests {
		if got := testing.AllocsPerRun(100, test.make); got != 0 {
			t.Errorf("%s allocates %v times, want 0", test.name, got)
		}
	}
}

// nilError is an error whose methods panic for the nil pointer.
type nilError struct{ cause error }

func (e *nilError) Error() string { return e.cause.Error() }
func (e *nilError) Unwrap() error { return e.cause }

func TestAsStatusOfNilPointer(t *testing.T) {
	var none *nilError
	s := framework.AsStatus(none)
	if text := s.Err().Error(); s.Code() != framework.Error || !strings.Contains(text, "nilError") {
		t.Errorf("AsStatus(nil pointer) = %v, want an error that names the type", s)
	}
	if errors.Is(s.Err(), io.EOF) {
		t.Error("the error is another one")
	}
}

// TestLongReasons: reasons and errors that repeat long names are cut, and errors stay what they are.
func TestLongReasons(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	cause := fmt.Errorf("no such class: %s: %w", long, io.ErrUnexpectedEOF)
	shared := framework.Texts("short", long)
	for _, s := range []framework.Status{
		framework.UnschedulableStatus(framework.Text(long)), framework.UnresolvableStatus(framework.Text(long)),
		framework.NewStatus(framework.Unschedulable, shared), framework.AsStatus(cause),
	} {
		if err, message := s.Err(), s.Message(); len(err.Error()) > 5<<10 || len(message) > 5<<10 || !strings.HasSuffix(message, " bytes)") {
			t.Errorf("%v: an error of %d bytes and a message of %d: %.80s", s.Code(), len(err.Error()), len(message), message)
		}
	}
	if !errors.Is(framework.AsStatus(cause).Err(), io.ErrUnexpectedEOF) {
		t.Error("the cause of a long error is lost")
	}
}
