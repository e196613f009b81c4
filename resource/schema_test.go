package resource

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSchema(t *testing.T) {
	for name, s := range map[string]*Schema{"NewSchema": NewSchema(), "zero value": {}} {
		t.Run(name, func(t *testing.T) {
			if got := s.Len(); got != 3 {
				t.Errorf("Len() = %d, want 3", got)
			}
			if _, ok := s.Index("example.com/gpu"); ok {
				t.Error("Index knows example.com/gpu before it was added")
			}
			want := []Name{CPU, Memory, EphemeralStorage, "example.com/gpu", "hugepages-2Mi"}
			for _, n := range []Name{"example.com/gpu", CPU, "hugepages-2Mi", EphemeralStorage, "example.com/gpu", Memory} {
				if got := s.Intern(n); got != slices.Index(want, n) {
					t.Errorf("Intern(%q) = %d, want %d", n, got, slices.Index(want, n))
				}
			}
			var got []Name
			for i := range s.Len() {
				n := s.Name(i)
				got = append(got, n)
				if at, ok := s.Index(n); !ok || at != i {
					t.Errorf("Index(%q) = %d, %t, want %d, true", n, at, ok, i)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			for _, i := range []int{-1, 5, math.MaxInt, math.MinInt} {
				if got := s.Name(i); got != "" {
					t.Errorf("Name(%d) = %q, want none", i, got)
				}
			}
		})
	}
}

func TestSchemaVector(t *testing.T) {
	s := NewSchema()
	l := list(
		"cpu", "1500100u", "memory", "1.5Gi", "ephemeral-storage", "1n", "pods", "110", "storage", "5Gi",
		"gpu", "1", "example.com/b", "2500m", "example.com/a", "1", "hugepages-2Mi", "4Mi", "attachable-volumes-x", "3", "kubernetes.io/y", "9",
	)
	want := Vector{1501, 3 << 29, 1, 3, 1, 3, 4 << 20, 9}
	for range 2 { // the second time all names are known
		if diff := cmp.Diff(want, s.Vector(l)); diff != "" {
			t.Errorf("Vector (-want +got):\n%s", diff)
		}
	}
	var names []Name
	for i := range s.Len() {
		names = append(names, s.Name(i))
	}
	wantNames := []Name{CPU, Memory, EphemeralStorage, "attachable-volumes-x", "example.com/a", "example.com/b", "hugepages-2Mi", "kubernetes.io/y"}
	if diff := cmp.Diff(wantNames, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestSchemaVectorOfOddLists(t *testing.T) {
	s := NewSchema()
	s.Intern("pods")
	s.Intern("gpu")
	tests := []struct {
		name string
		list List
		want Vector
	}{
		{"nil", nil, nil},
		{"empty", List{}, Vector{}},
		{"names that do not count, interned or not", list("pods", "5", "gpu", "7", "tpu", "8", "", "9"), nil},
		{"negative", list("cpu", "-1500u", "memory", "-0.5"), Vector{-2, -1}},
		{"saturated", list("cpu", "10P", "memory", "10E", "ephemeral-storage", "-10E"), Vector{math.MaxInt64, math.MaxInt64, math.MinInt64}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := s.Vector(test.list); !got.Equal(test.want) {
				t.Errorf("Vector = %v, want %v", got, test.want)
			}
		})
	}
	if got := s.Len(); got != 5 {
		t.Errorf("Len() = %d, want 5", got)
	}
}

// A Schema behaves as a slice of distinct names.
func TestSchemaAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, model := NewSchema(), []Name{CPU, Memory, EphemeralStorage}
		name := rapid.Custom(func(t *rapid.T) Name { return Name(fmt.Sprint("example.com/", rapid.IntRange(0, 200).Draw(t, "i"))) })
		for _, n := range rapid.SliceOfN(name, 0, 300).Draw(t, "names") {
			want := slices.Index(model, n)
			if i, ok := s.Index(n); ok != (want >= 0) || ok && i != want {
				t.Fatalf("Index(%q) = %d, %t, want %d", n, i, ok, want)
			}
			if want < 0 {
				want, model = len(model), append(model, n)
			}
			if got := s.Intern(n); got != want {
				t.Fatalf("Intern(%q) = %d, want %d", n, got, want)
			}
		}
		if s.Len() != len(model) {
			t.Errorf("Len() = %d, want %d", s.Len(), len(model))
		}
		for i, n := range model {
			if got := s.Name(i); got != n {
				t.Errorf("Name(%d) = %q, want %q", i, got, n)
			}
		}
	})
}

// Goroutines that add the same names in different orders agree on all numbers.
func TestSchemaConcurrently(t *testing.T) {
	const workers, names = 8, 300
	s := NewSchema()
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := range names {
				n := Name(fmt.Sprint("example.com/", (i*(2*w+1)+w*37)%names))
				at := s.Intern(n)
				if got, ok := s.Index(n); !ok || got != at {
					t.Errorf("Index(%q) = %d, %t after Intern = %d", n, got, ok, at)
				}
				if got := s.Name(at); got != n {
					t.Errorf("Name(%d) = %q, want %q", at, got, n)
				}
				if at >= s.Len() {
					t.Errorf("Len() = %d with %d given", s.Len(), at)
				}
			}
		})
	}
	wait.Wait()
	seen := map[Name]bool{}
	for i := range s.Len() {
		seen[s.Name(i)] = true
	}
	if len(seen) != s.Len() || !seen[CPU] {
		t.Errorf("%d distinct names at %d numbers", len(seen), s.Len())
	}
}

func TestSchemaReadsDoNotAllocate(t *testing.T) {
	s := NewSchema()
	s.Intern("example.com/gpu")
	got := testing.AllocsPerRun(100, func() {
		i, _ := s.Index("example.com/gpu")
		s.Index("example.com/none")
		s.Name(i)
		s.Intern("example.com/gpu")
		s.Len()
	})
	if got != 0 {
		t.Errorf("reads allocate %v times, want 0", got)
	}
}

func TestSchemaExact(t *testing.T) {
	tests := []struct {
		name string
		list List
		want Vector // nil if the sum is not exact
	}{
		{"whole amounts", List{CPU: MustParse("1500m"), Memory: MustParse("1Gi"), "example.com/gpu": MustParse("2")}, Vector{1501, 1<<30 + 2, 3, 6}},
		{"names that do not count", List{"pods": MustParse("1m"), "local": MustParse("1")}, Vector{1, 2, 3, 4}},
		{"saturated", List{Memory: MustParse("9223372036854775807")}, Vector{1, 1<<63 - 1, 3, 4}},
		{"a millionth of cpu", List{CPU: MustParse("1u")}, nil},
		{"a thousandth of a byte", List{Memory: MustParse("1m")}, nil},
		{"beyond 64 bits", List{CPU: MustParse("12345678901234567890")}, nil},
		{"below 0", List{Memory: MustParse("-1")}, nil},
		{"below 0, of a name that does not count", List{"local": MustParse("-1")}, nil},
		{"a name without a number", List{"example.com/tpu": MustParse("1")}, nil},
	}
	for _, tt := range tests {
		s := NewSchema()
		s.Intern("example.com/gpu")
		got, ok := s.Exact(Vector{1, 2, 3, 4}, tt.list)
		if ok != (tt.want != nil) || ok && !got.Equal(tt.want) {
			t.Errorf("%s: Exact = %v, %v, want %v", tt.name, got, ok, tt.want)
		}
	}
}
