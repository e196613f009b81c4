//go:build full

package lifecycle_test

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// overload is a day of a cluster that is full when it begins. The pods on the nodes leave
// over the day, and as many others come, which want more than what becomes free: pods of
// priority 0 wait, for hours and by the thousand, and the others preempt. A pod that is
// evicted comes back under another name ten seconds later.
type overload struct {
	nodes, pods int // pods come in a day
	waiting     int // as many pods of priority 0 come first of all
	seed        uint64
	until       time.Duration // 0: a day

	d        *lifecycle.Driver
	clock    *virtualclock.Clock
	rng      *rand.Rand
	hash     uint64 // of all bindings and evictions
	made     int
	bound    int
	evicted  int
	attempts int
	decided  int // attempts that the driver made, without those that fail alike
}

// note adds a line to the hash.
func (o *overload) note(format string, args ...any) {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d ", o.hash)
	fmt.Fprintf(h, format, args...)
	o.hash = h.Sum64()
}

func (o *overload) Bind(_ context.Context, pod *api.Pod, node string) error {
	o.bound++
	o.note("%d %s on %s", o.clock.Now().Sub(epoch), pod.Name, node)
	o.d.Apply(lifecycle.Update(onNode(pod, node)))
	o.leave(pod, 15*time.Minute, 90*time.Minute)
	return nil
}

// leave lets the pod end between least and least + more from now.
func (o *overload) leave(pod *api.Pod, least, more time.Duration) {
	o.clock.AfterFunc(least+time.Duration(o.rng.Int64N(int64(more))), func() { o.d.Apply(lifecycle.Delete(pod)) })
}

func (o *overload) priority() int32 {
	return []int32{0, 0, 0, 0, 0, 0, 100, 100, 100, 1000}[o.rng.IntN(10)]
}

func (o *overload) Evict(_ context.Context, victim, preemptor *api.Pod) error {
	o.evicted++
	o.note("%d %s for %s", o.clock.Now().Sub(epoch), victim.Name, preemptor.Name)
	o.d.Apply(lifecycle.Delete(victim))
	o.clock.AfterFunc(10*time.Second, func() {
		again := *victim
		again.Name, again.UID, again.Spec.NodeName = fmt.Sprintf("pod-%06d", o.made), "", ""
		o.made++
		o.d.Apply(lifecycle.Update(&again))
	})
	return nil
}

// arrive makes a pod, and plans the next one.
func (o *overload) arrive() {
	cpu := []string{"1", "2", "4", "8"}[o.rng.IntN(4)]
	o.d.Apply(lifecycle.Update(api.MakePod(fmt.Sprintf("pod-%06d", o.made)).Requests(cpu, "1Gi").Priority(o.priority()).Obj()))
	o.made++
	o.clock.AfterFunc(time.Duration(o.rng.ExpFloat64()*float64(24*time.Hour)/float64(o.pods)), o.arrive)
}

// run simulates the day with some changes to the profile.
func (o *overload) run(tb testing.TB, change func(*scheduling.Profile)) {
	tb.Helper()
	o.clock, o.rng = virtualclock.New(epoch), rand.New(rand.NewPCG(o.seed, 0))
	p := scheduling.Kubernetes137() // scores by LeastAllocated
	p.TieRule = scheduling.Random
	change(&p)
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Binder: o, Clock: o.clock, Seed: o.seed,
		ErrorHandler: func(err error) { tb.Error(err) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	o.d = d
	for i := range o.nodes {
		node := fmt.Sprintf("node-%05d", i)
		d.Apply(lifecycle.Update(api.MakeNode(node, "32", "128Gi").Zone(fmt.Sprint("zone-", i%10)).Obj()))
		for k := range 8 {
			pod := api.MakePod(fmt.Sprintf("first-%05d-%d", i, k)).Requests("4", "1Gi").Priority(o.priority()).Node(node).Obj()
			d.Apply(lifecycle.Update(pod))
			o.leave(pod, 0, 24*time.Hour)
		}
	}
	for i := range o.waiting {
		cpu := []string{"1", "2", "4", "8"}[i%4]
		d.Apply(lifecycle.Update(api.MakePod(fmt.Sprintf("waiting-%06d", i)).Requests(cpu, "1Gi").Obj()))
	}
	o.clock.AfterFunc(0, o.arrive)
	ctx := context.Background()
	for until := epoch.Add(cmp.Or(o.until, 24*time.Hour)); ; {
		if a, ok := d.ScheduleOne(ctx); ok {
			o.decided++
			o.attempts += 1 + a.Alike
			continue
		}
		if at, ok := o.clock.Next(); !ok || at.After(until) {
			break
		}
		o.clock.Step()
	}
}

// TestOverload: what keeps failed attempts cheap changes no binding. The number is the
// hash of the version that asked every node in every attempt.
func TestOverload(t *testing.T) {
	t.Parallel()
	hash := func(nodes int, cache scheduling.CacheConfig) uint64 {
		o := overload{nodes: nodes, pods: 20 * nodes, seed: 1}
		o.run(t, func(p *scheduling.Profile) { p.Cache = cache })
		if o.attempts < o.bound*2 || o.evicted == 0 {
			t.Errorf("%d attempts for %d bound pods, %d evicted: no overload", o.attempts, o.bound, o.evicted)
		}
		return o.hash
	}
	if got := hash(100, scheduling.CacheConfig{}); got != 0xb4bd2d6e5ef62ff5 {
		t.Errorf("hash %016x, want b4bd2d6e5ef62ff5", got)
	}
	few := effort.Of(30, 50)
	if plain, verified := hash(few, scheduling.CacheConfig{Off: true}), hash(few, scheduling.CacheConfig{Verify: true}); plain != verified {
		t.Errorf("hash %016x under Verify, %016x without kept answers", verified, plain)
	}
}

// BenchmarkOverload simulates a day of 20 pods for each node. Equal hashes are equal
// bindings and evictions.
func BenchmarkOverload(b *testing.B) {
	for _, nodes := range []int{100, 400, 2000} {
		b.Run(fmt.Sprint("nodes=", nodes), func(b *testing.B) {
			for b.Loop() {
				o := overload{nodes: nodes, pods: 20 * nodes, seed: 1}
				o.run(b, func(*scheduling.Profile) {})
				b.ReportMetric(float64(o.attempts), "attempts")
				b.Logf("%d bound, %d evicted, %d waiting, %d attempts, hash %016x", o.bound, o.evicted, len(o.d.Pending()), o.attempts, o.hash)
			}
		})
	}
}

// BenchmarkOverloadWaiting simulates an hour of a full cluster in which many pods wait from
// the beginning. Attempts that fail should cost next to nothing.
func BenchmarkOverloadWaiting(b *testing.B) {
	for _, waiting := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			for b.Loop() {
				o := overload{nodes: 2000, pods: 40_000, waiting: waiting, until: time.Hour, seed: 1}
				begin := time.Now()
				o.run(b, func(*scheduling.Profile) {})
				b.ReportMetric(float64(o.attempts), "attempts")
				b.ReportMetric(float64(o.decided), "decided")
				b.ReportMetric(float64(time.Since(begin).Nanoseconds())/float64(o.decided), "ns/decided")
				b.Logf("%d bound, %d evicted, %d waiting, %d attempts, hash %016x", o.bound, o.evicted, len(o.d.Pending()), o.attempts, o.hash)
			}
		})
	}
}
