package simulate_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// crowded is a trace of a cluster that is too small: pods of few classes wait, end, and are
// deleted, and nodes flap.
func crowded(seed uint64) simulate.Config {
	rng := rand.New(rand.NewPCG(seed, 7))
	var pods []*api.Pod
	for i := range 150 {
		b := job(fmt.Sprint("p", i), []string{"1", "2", "100"}[rng.IntN(3)], time.Duration(rng.IntN(20))*time.Minute, time.Duration(1+rng.IntN(60))*time.Minute)
		pods = append(pods, b.Priority([]int32{0, 0, 0, 9}[rng.IntN(4)]).Obj())
	}
	c := config(objects([]*api.Node{node("a", "4"), node("b", "3")}, pods...))
	for i := range 30 {
		e := simulate.Event{At: 20*time.Minute + time.Duration(i)*time.Minute}
		switch n := node("b", "3"); rng.IntN(3) {
		case 0:
			n.Spec.Unschedulable = true
			e.Apply = objects([]*api.Node{n})
		case 1:
			e.Apply = objects([]*api.Node{n})
		default:
			e.Delete = simulate.Ref{Kind: "Pod", Name: fmt.Sprint("default/p", 5*i)}
		}
		c.Trace.Events = append(c.Trace.Events, e)
	}
	c.Seed = seed
	c.SampleEvery = 10 * time.Minute
	return c
}

// TestTogether compares runs in which pods fail together with runs in which each attempt is
// told, which a recorder asks for: every history, message and decision is the same.
func TestTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long under the race detector, which finds nothing in one goroutine")
	}
	waited := 0
	for seed := range uint64(20) {
		if effort.Suffices(waited >= 20) {
			break
		}
		one, each := crowded(seed), crowded(seed)
		each.Recorder = simulate.NewRecorder(io.Discard, time.Time{})
		var ends [2]simulate.Progress
		one.Progress = func(p simulate.Progress) { ends[0] = p }
		each.Progress = func(p simulate.Progress) { ends[1] = p }
		a, b := run(one), run(each)
		if diff := cmp.Diff(b, a); diff != "" {
			t.Fatalf("seed %d (-each +together):\n%s", seed, diff)
		}
		if ends[0] != ends[1] {
			t.Errorf("seed %d: progress is %+v, want %+v", seed, ends[0], ends[1])
		}
		for _, p := range a.Pods {
			if p.Attempts > 2 && p.Message != "" {
				waited++
			}
		}
	}
	if waited < 20 {
		t.Errorf("%d pods were tried more than twice and wait at the end, want more", waited)
	}
}

// TestCrowdsAreLinear lets pods run for a nanosecond, one after the other, and lets nodes
// flap while pods wait. Memory is allocated for each attempt of its own; with twice as many
// pods there may not be four times as many.
func TestCrowdsAreLinear(t *testing.T) {
	short := func(n int) {
		var pods []*api.Pod
		for i := range n {
			pods = append(pods, job(fmt.Sprint("p", i), "1", 0, time.Nanosecond).Obj())
		}
		if r := run(config(objects([]*api.Node{node("a", "4")}, pods...))); r.Waits[0].Pods != n {
			t.Errorf("%d of %d pods were bound", r.Waits[0].Pods, n)
		}
	}
	flaps := func(n int) {
		var pods []*api.Pod
		for i := range 50 {
			pods = append(pods, job(fmt.Sprint("p", i), "100", 0, time.Hour).Obj())
		}
		c := config(objects([]*api.Node{node("a", "4")}, pods...))
		for i := range n {
			b := node("b", "4")
			b.Spec.Unschedulable = i%2 > 0
			c.Trace.Events = append(c.Trace.Events, simulate.Event{At: time.Duration(i+1) * time.Minute, Apply: objects([]*api.Node{b})})
		}
		if r := run(c); r.Pods[49].Attempts < n/4 {
			t.Errorf("a pod had %d attempts in %d flaps", r.Pods[49].Attempts, n)
		}
	}
	few, many := testing.AllocsPerRun(1, func() { short(200) }), testing.AllocsPerRun(1, func() { short(800) })
	if many > 6*few {
		t.Errorf("800 pods of a nanosecond take %v allocations, 200 take %v", many, few)
	}
	if n := testing.AllocsPerRun(1, func() { flaps(400) }); n > 400*250 {
		t.Errorf("50 waiting pods in 400 flaps take %v allocations, %v a flap", n, n/400)
	}
}

// TestVisible writes names that would move the cursor, or tear a row, as quoted texts.
func TestVisible(t *testing.T) {
	const bad = "\x1b[2J\u202e\n"
	bound, r := 1.0, simulate.Result{Waits: []simulate.Waits{{Pods: 1, Pod: bad}}, Peaks: []simulate.Peak{{Resource: bad}}}
	r.Pods = []simulate.PodHistory{{Pod: bad, Owner: "Job " + bad, Node: bad, Bound: &bound}, {Pod: bad + "2", Message: bad}, {Pod: "default/fine", Node: "naïve", Bound: &bound}}
	for name, write := range map[string]func(io.Writer) error{
		"WriteTable": func(w io.Writer) error { return r.WriteTable(w, 0) },
		"WritePods":  r.WritePods,
	} {
		var out strings.Builder
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); strings.ContainsAny(text, "\x1b\u202e") || !strings.Contains(text, `\x1b[2J\u202e\n`) || !strings.Contains(text, "naïve") {
			t.Errorf("%s: %q", name, text)
		}
		if lines := strings.Count(out.String(), "\n"); name == "WritePods" && lines != 4 {
			t.Errorf("%d lines for three pods and a heading", lines)
		}
	}
}
