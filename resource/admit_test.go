package resource_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/resource"
)

func namesFrom(from, n int) resource.List {
	l := resource.List{}
	for i := range n {
		l[resource.Name(fmt.Sprintf("example.com/r%05d", from+i))] = resource.Milli(1000)
	}
	return l
}

func TestAdmit(t *testing.T) {
	s := resource.NewSchema()
	step := func(want string, length int, lists ...resource.List) {
		t.Helper()
		var got string
		var full *resource.FullError
		if err := s.Admit(lists...); errors.As(err, &full) {
			got = string(full.Name)
		} else if err != nil {
			t.Fatalf("Admit fails with a %T: %v", err, err)
		}
		if got != want || s.Len() != length {
			t.Errorf("Admit refuses %q, and the schema has %d names; want %q, %d", got, s.Len(), want, length)
		}
	}
	step("", 3)
	step("", 3, resource.List{"cpu": resource.Milli(1), "pods": resource.Milli(1), "bogus": resource.Milli(1)})
	step("", 1003, namesFrom(0, 700), namesFrom(300, 700))
	// There is space for 21 more; names that do not fit change nothing.
	step("example.com/r01021", 1003, namesFrom(1000, 30))
	if _, ok := s.Index("example.com/r01000"); ok {
		t.Error("a refused list left a name")
	}
	step("", resource.MaxNames, namesFrom(990, 31))
	step("", resource.MaxNames, namesFrom(0, 1021), nil)
	step("example.com/r09999", resource.MaxNames, namesFrom(0, 3), namesFrom(9999, 1))
	if i, _ := s.Index("example.com/r00005"); i != 8 {
		t.Errorf("the sixth name has number %d, want 8", i)
	}
	const want = "example.com/gpu would be one of more than 1024 resource names: leave out resources that no pod needs"
	if err := s.Admit(resource.List{"example.com/gpu": resource.Milli(1)}); err == nil || err.Error() != want {
		t.Errorf("Admit = %v, want %s", err, want)
	}
}
