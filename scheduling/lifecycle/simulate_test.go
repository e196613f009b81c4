package lifecycle_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// history is one simulation: pods arrive at random times, run for random times
// once they are bound, and leave.
type history struct {
	d     *lifecycle.Driver
	clock *virtualclock.Clock
	rng   *rand.Rand
	log   bytes.Buffer
	bound int
	left  int
}

func (h *history) Bind(_ context.Context, pod *api.Pod, node string) error {
	h.bound++
	fmt.Fprintf(&h.log, "%d %s %s\n", h.clock.Now().Sub(epoch).Milliseconds(), pod.Name, node)
	h.d.Apply(lifecycle.Update(onNode(pod, node)))
	h.clock.AfterFunc(time.Duration(100+h.rng.IntN(20_000))*time.Second, func() {
		h.left++
		h.d.Apply(lifecycle.Delete(pod))
	})
	return nil
}

// simulate runs pods through a cluster with this number of nodes.
func simulate(tb testing.TB, nodes, pods int, seed uint64) *history {
	tb.Helper()
	h := &history{clock: virtualclock.New(epoch), rng: rand.New(rand.NewPCG(seed, 0))}
	p := scheduling.Kubernetes137()
	p.TieRule = scheduling.Random
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Binder: h, Clock: h.clock, Seed: seed,
		ErrorHandler: func(err error) { tb.Error(err) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	h.d = d
	for i := range nodes {
		d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprintf("node-%05d", i), "32", "128Gi").Zone(fmt.Sprint("zone-", i%10)).Obj()))
	}
	kinds := [][2]string{{"250m", "1Gi"}, {"500m", "2Gi"}, {"1", "4Gi"}, {"2", "4Gi"}}
	arrived := 0
	var arrive func()
	arrive = func() {
		k := kinds[h.rng.IntN(len(kinds))]
		d.Apply(lifecycle.Update(api.MakePod(fmt.Sprintf("pod-%06d", arrived)).Requests(k[0], k[1]).Obj()))
		if arrived++; arrived < pods {
			h.clock.AfterFunc(time.Duration(h.rng.ExpFloat64()*float64(time.Second)), arrive)
		}
	}
	h.clock.AfterFunc(0, arrive)
	if err := d.Simulate(context.Background(), h.clock, epoch.Add(time.Duration(pods)*2*time.Second+6*time.Hour)); err != nil {
		tb.Fatal(err)
	}
	return h
}

// TestSimulation: every pod comes, is bound, runs and leaves. The same seed gives
// the same bytes, another seed different ones.
func TestSimulation(t *testing.T) {
	t.Parallel()
	nodes, pods := 1000, effort.Of(5_000, 50_000)
	if testing.Short() {
		nodes, pods = 200, 3_000
	}
	log := func(seed uint64, pods int) []byte {
		h := simulate(t, nodes, pods, seed)
		if h.bound != pods || h.left != pods {
			t.Errorf("seed %d: %d pods were bound and %d left, want %d", seed, h.bound, h.left, pods)
		}
		for _, n := range h.d.Snapshot().All() {
			if len(n.Pods) > 0 || n.Requested.At(0) != 0 {
				t.Errorf("node %s holds %d pods at the end", n.Name(), len(n.Pods))
			}
		}
		return h.log.Bytes()
	}
	start := time.Now()
	first := log(1, pods)
	t.Logf("%d pods on %d nodes in %v", pods, nodes, time.Since(start))
	// Every pod finds a node at once. So fewer pods give the same bytes up to the
	// last of them, and a fifth of the pods tells as much as all.
	again := log(1, pods/5)
	if !bytes.HasPrefix(first, again) {
		t.Error("the same seed gave other bytes")
	}
	if another := log(2, pods/10); bytes.HasPrefix(first, another) {
		t.Error("another seed gave the same bytes")
	}
}

// TestSimulationOfAFullCluster: far more pods come than fit at once. All are
// scheduled in time, through backoffs, events and flushes.
func TestSimulationOfAFullCluster(t *testing.T) {
	t.Parallel()
	pods := effort.Of(300, 600)
	if testing.Short() {
		pods = 150
	}
	run := func() []byte {
		h := simulate(t, 2, pods, 7)
		if h.bound != h.left+len(h.d.Snapshot().At(0).Pods)+len(h.d.Snapshot().At(1).Pods) {
			t.Errorf("%d were bound, %d left", h.bound, h.left)
		}
		if got := h.bound + len(h.d.Pending()); got != pods {
			t.Errorf("%d pods are bound or pending, want %d", got, pods)
		}
		return h.log.Bytes()
	}
	if !bytes.Equal(run(), run()) {
		t.Error("the same seed gave other bytes")
	}
}

func TestSimulateNeedsOneGoroutine(t *testing.T) {
	w := newWorld(t, scheduling.Profile{})
	c := lifecycle.Config{Profiles: []scheduling.Profile{{}}, Binder: w, Clock: w.clock, Bindings: 1}
	d, err := lifecycle.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Simulate(w.ctx, w.clock, epoch); err == nil {
		t.Error("Simulate with binding goroutines: no error")
	}
	ctx, cancel := context.WithCancel(w.ctx)
	cancel()
	if err := w.d.Simulate(ctx, w.clock, epoch.Add(time.Hour)); err != context.Canceled {
		t.Errorf("Simulate with a cancelled context: %v", err)
	}
}

// BenchmarkSimulation reports the cost of one simulated pod from its arrival to its
// leaving, including events.
func BenchmarkSimulation(b *testing.B) {
	const pods = 20_000
	for b.Loop() {
		simulate(b, 1000, pods, 1)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pods), "ns/pod")
}

// A context that is done while events are applied ends the simulation with its error,
// also if nothing is left to wait for.
func TestSimulateDoneContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	clock := virtualclock.New(epoch)
	bound := 0
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: clock,
		Binder:       lifecycle.BinderFunc(func(context.Context, *api.Pod, string) error { bound++; return nil }),
		ErrorHandler: func(error) { cancel() },
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Apply(lifecycle.Update(api.MakeNode("n", "4", "8Gi").Obj()), lifecycle.Update(api.MakePod("p").Requests("1", "1Gi").Obj()), lifecycle.Update[api.Pod](nil))
	if err := d.Simulate(ctx, clock, epoch.Add(time.Hour)); !errors.Is(err, context.Canceled) || bound > 0 {
		t.Errorf("Simulate() = %v after %d bindings, want %v after 0", err, bound, context.Canceled)
	}
}
