package runner

import "testing"

// A pod has one entry, and shows it to the cache that it is of.
func TestCache(t *testing.T) {
	var p, q Pod
	a, b, words := NewCache[int](), NewCache[int](), NewCache[string]()
	seven, word := 7, "word"
	a.Store(&p, a.Entry(&seven))
	if a.Load(&p) != &seven || a.Load(&q) != nil || b.Load(&p) != nil || words.Load(&p) != nil {
		t.Errorf("entries of p: %v, %v, %v; of q: %v; want only the first", a.Load(&p), b.Load(&p), words.Load(&p), a.Load(&q))
	}
	words.Store(&p, words.Entry(&word))
	if words.Load(&p) != &word || a.Load(&p) != nil {
		t.Errorf("entries of p: %v and %v, want the last one alone", words.Load(&p), a.Load(&p))
	}
}

// What is kept fits only the pod and the filters that the attempt began with.
func TestDryRunsFits(t *testing.T) {
	pod, other, filters := new(int), new(int), new(string)
	var d DryRuns
	if d.Fits(pod, filters) || d.Fits(nil, nil) {
		t.Error("before any attempt, something fits")
	}
	d.Begin("class", pod, filters)
	if !d.Fits(pod, filters) || d.Fits(other, filters) || d.Fits(pod, new(string)) || d.Fits(pod, nil) {
		t.Error("another pod fits, or other filters, or the same do not")
	}
	d.Begin("class", pod, []int{1})
	if d.Fits(pod, []int{1}) || d.Fits(pod, nil) {
		t.Error("filters that cannot be compared fit")
	}
	d.Begin("class", pod, nil)
	if d.Fits(pod, nil) {
		t.Error("no filters fit")
	}
}

func TestCycleReset(t *testing.T) {
	c := Cycle{At: 3, DryRuns: new(DryRuns)}
	c.SetSkipPostFilter(false)
	if c.Sets != 1 || c.SkipPostFilter {
		t.Errorf("Sets = %d, SkipPostFilter = %t, want 1, false", c.Sets, c.SkipPostFilter)
	}
	if c.Reset(); c != (Cycle{}) {
		t.Errorf("after Reset: %+v, want the zero Cycle", c)
	}
}
