//go:build full

package framework_test

import (
	"io"
	"testing"

	"github.com/berth-sched/berth/framework"
)

func TestValueKey(t *testing.T) {
	var c framework.Cycle
	numbers, more := framework.NewKey[int]("numbers"), framework.NewKey[int]("numbers")
	words := framework.NewKey[string]("words")

	if v, ok := numbers.Get(&c); ok || v != 0 {
		t.Errorf("Get before Set = %d, %t, want 0, false", v, ok)
	}
	numbers.Delete(&c) // nothing there: nothing happens
	numbers.Set(&c, 3)
	words.Set(&c, "three")
	if v, ok := numbers.Get(&c); !ok || v != 3 {
		t.Errorf("Get = %d, %t, want 3, true", v, ok)
	}
	if v, ok := words.Get(&c); !ok || v != "three" {
		t.Errorf("Get = %q, %t, want three, true", v, ok)
	}
	if _, ok := more.Get(&c); ok {
		t.Error("two keys of one name share a value")
	}
	numbers.Set(&c, 4)
	if v, _ := numbers.Get(&c); v != 4 {
		t.Errorf("Get after the second Set = %d, want 4", v)
	}
	numbers.Delete(&c)
	if _, ok := numbers.Get(&c); ok {
		t.Error("a deleted value is still there")
	}
	if numbers.Name() != "numbers" {
		t.Errorf("Name() = %q, want numbers", numbers.Name())
	}
}

// A nil is a value like any other, also where the key holds an interface.
func TestValueKeyHoldsNil(t *testing.T) {
	var c framework.Cycle
	failures := framework.NewKey[error]("failure")
	failures.Set(&c, nil)
	if v, ok := failures.Get(&c); !ok || v != nil {
		t.Errorf("Get = %v, %t, want nil, true", v, ok)
	}
	failures.Set(&c, io.EOF)
	if v, ok := failures.Get(&c); !ok || v != io.EOF {
		t.Errorf("Get = %v, %t, want EOF, true", v, ok)
	}
}
