//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

var faultPods = flag.Int("faultpods", effort.Of(4_000, 20_000), "how many pods TestDriverFaults creates")

// ruin is a cluster in which everything goes wrong now and then: plugins and extensions
// panic, binders hang, fail or answer too late, events are stale or out of order, and
// the clock jumps.
type ruin struct {
	t     *testing.T
	clock *virtualclock.Clock
	d     *lifecycle.Driver

	mu       sync.Mutex
	rng      *rand.Rand
	calm     bool // nothing goes wrong
	pods     map[string]*api.Pod
	gone     []*api.Pod            // deleted ones that stale events may mention
	versions []*api.Pod            // earlier versions of pods
	hanging  map[chan error]string // bindings that hang, with the UIDs
	reserved map[api.UID]bool
	hated    api.UID // the pod that the grenade does not let go, or come
	resource int     // the last resource version of a pod with a device
	panics   int
	grenades []grenade
}

// devicesPerNode is less than all pods with devices ask for.
const devicesPerNode = 6

func (r *ruin) chance(percent float64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.calm && r.rng.Float64()*100 < percent
}

func (r *ruin) draw(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rng.IntN(n)
}

// explode panics now and then.
func (r *ruin) explode(percent float64) {
	if r.chance(percent) {
		r.mu.Lock()
		r.panics++
		r.mu.Unlock()
		panic("ruin")
	}
}

// Bind hangs, fails or binds. What the API server would refuse is refused.
func (r *ruin) Bind(ctx context.Context, pod *api.Pod, node string) error {
	r.explode(1)
	if r.chance(3) {
		return errors.New("the binder fails")
	}
	if r.chance(3) {
		answer := make(chan error, 1)
		r.mu.Lock()
		r.hanging[answer] = string(pod.UID)
		r.mu.Unlock()
		select {
		case err := <-answer:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.pods[pod.Name]
	switch {
	case now == nil || now.UID != pod.UID:
		return errors.New("the pod is gone")
	case now.Spec.NodeName != "":
		return errors.New("conflict: the pod is on " + now.Spec.NodeName)
	}
	r.versions = append(r.versions, now)
	p := onNode(now, node)
	r.number(p)
	r.pods[pod.Name] = p
	r.d.Apply(lifecycle.Update(p))
	return nil
}

// shaky is a plugin for every point that panics now and then.
type shaky struct{ *ruin }

func (shaky) Name() string { return "shaky" }

func (s shaky) PreEnqueue(context.Context, *framework.PodInfo) framework.Status {
	s.explode(0.3)
	return framework.Status{}
}

func (s shaky) PreFilter(*framework.Cycle) (framework.PreFiltered, framework.Status) {
	s.explode(0.3)
	return framework.PreFiltered{}, framework.Status{}
}

func (s shaky) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	s.explode(0.01)
	return framework.Status{}
}

func (s shaky) Score(*framework.PodInfo, *framework.NodeInfo) int64 {
	s.explode(0.01)
	return 0
}

func (s shaky) Reserve(*framework.Cycle, *framework.NodeInfo) framework.Status {
	s.explode(0.5)
	return framework.Status{}
}

func (s shaky) Unreserve(*framework.Cycle, *framework.NodeInfo) { s.explode(5) }

func (s shaky) Permit(context.Context, *framework.Cycle, string) (framework.Status, time.Duration) {
	s.explode(0.5)
	if s.chance(3) {
		return framework.Status{}.WithCode(framework.Wait), 5 * time.Second
	}
	return framework.Status{}, 0
}

func (s shaky) PreBind(context.Context, *framework.Cycle, string) framework.Status {
	s.explode(0.5)
	return framework.Status{}
}

func (s shaky) PreBindPreFlight(context.Context, *framework.Cycle, string) (bool, framework.Status) {
	s.explode(0.5)
	return s.chance(50), framework.Status{}
}

func (s shaky) PostFilter(context.Context, *framework.Cycle, framework.Verdicts) (framework.PostFiltered, framework.Status) {
	s.explode(2)
	return framework.PostFiltered{}, framework.UnschedulableStatus("no")
}

// Attempt makes it an observer.
func (s shaky) Attempt(*lifecycle.Attempt) { s.explode(1) }

// Report makes the cluster a reporter.
func (r *ruin) Report(context.Context, *api.Pod, lifecycle.Report) { r.explode(1) }

func (s shaky) PostBind(context.Context, *framework.Cycle, string) { s.explode(1) }

func (s shaky) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{{
		Event: queueing.ClusterEvent{Resource: queueing.ResourceAny, Action: queueing.ActionAll},
		Hint: func(*framework.PodInfo, any, any) (queueing.QueueingHint, error) {
			s.explode(5)
			return queueing.Queue, nil
		},
	}}
}

// steady records reservations: none may stay.
type steady struct{ *ruin }

func (steady) Name() string { return "steady" }

func (s steady) set(uid api.UID, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.reserved, uid); is {
		s.reserved[uid] = true
	}
}

func (s steady) Reserve(c *framework.Cycle, _ *framework.NodeInfo) framework.Status {
	s.set(c.Pod.Pod.UID, true)
	return framework.Status{}
}

func (s steady) Unreserve(c *framework.Cycle, _ *framework.NodeInfo) { s.set(c.Pod.Pod.UID, false) }

func (s steady) PostBind(_ context.Context, c *framework.Cycle, _ string) {
	s.set(c.Pod.Pod.UID, false)
}

// counter is an extension that counts the pods of all nodes and panics now and then.
type counter struct {
	*ruin
	pods int
}

func (c *counter) Fork(*framework.Snapshot) framework.Extension { return &counter{c.ruin, c.pods} }

func (c *counter) PodAdded(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {
	c.pods++
}

func (c *counter) PodRemoved(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {
	c.pods--
}

// grenade is an extension that knows the pods on nodes, and panics, sometimes about the same pod for a while, but not in
// a rollback.
type grenade struct {
	*ruin
	knows map[*framework.PodInfo]string
}

func (g grenade) pull(s *framework.Snapshot, p *framework.PodInfo) {
	if s.RollingBack() {
		return
	}
	if g.isHated(p.Pod.UID) {
		g.explode(95)
	}
	if g.chance(0.5) {
		g.hate(p.Pod.UID)
		g.explode(100)
	}
}

func (r *ruin) isHated(uid api.UID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hated == uid
}

func (r *ruin) hate(uid api.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hated = uid
}

func (g grenade) Fork(*framework.Snapshot) framework.Extension {
	return grenade{g.ruin, maps.Clone(g.knows)}
}

func (g grenade) PodAdded(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	g.pull(s, p)
	if g.knows[p] != "" {
		g.t.Errorf("%s comes to %s, but is on %s", p.Pod.Name, n.Name(), g.knows[p])
	}
	g.knows[p] = n.Name()
}

func (g grenade) PodRemoved(s *framework.Snapshot, n *framework.NodeInfo, p *framework.PodInfo) {
	g.pull(s, p)
	if g.knows[p] != n.Name() {
		g.t.Errorf("%s leaves %s, but is on %q", p.Pod.Name, n.Name(), g.knows[p])
	}
	delete(g.knows, p)
}

// check reports pods that the extension should know, or should not, at a calm.
func (g grenade) check(s *framework.Snapshot) {
	pods := 0
	for _, n := range s.All() {
		pods += len(n.Pods)
		for _, p := range n.Pods {
			if g.knows[p] != n.Name() {
				g.t.Errorf("an extension that has panicked knows %s on %q, it is on %s", p.Pod.Name, g.knows[p], n.Name())
			}
		}
	}
	if len(g.knows) != pods {
		g.t.Errorf("an extension that has panicked knows %d pods, %d are there", len(g.knows), pods)
	}
}

// TestDriverFaults creates thousands of pods while everything goes wrong. At every calm
// no pod is lost, bound twice or reserved for ever, no device is given twice, totals equal a recount, and at the
// end no goroutine is left. The flag -faultpods sets the number of pods.
func TestDriverFaults(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	r := &ruin{
		t: t, clock: virtualclock.New(epoch), rng: rand.New(rand.NewPCG(1, 2)), pods: map[string]*api.Pod{},
		hanging: map[chan error]string{}, reserved: map[api.UID]bool{},
	}
	counting := framework.NewExtensionKey(func(*framework.Snapshot) *counter { return &counter{ruin: r} })
	exploding := func(s *framework.Snapshot) {
		r.grenades = append(r.grenades, framework.NewExtensionKey(func(s *framework.Snapshot) grenade {
			g := grenade{r, map[*framework.PodInfo]string{}}
			for _, n := range s.All() {
				for _, p := range n.Pods {
					g.knows[p] = n.Name()
				}
			}
			return g
		}).Of(s))
	}
	p := scheduling.Kubernetes137()
	bad, good := []framework.Plugin{shaky{r}}, []framework.Plugin{steady{r}}
	p.PreEnqueue, p.Filter = append(p.PreEnqueue, bad...), append(p.Filter, bad...)
	p.Score = append(p.Score, scheduling.Weighted{Plugin: bad[0], Weight: 1})
	p.Reserve = append(append(append(p.Reserve, estimator.Assigner{}), good...), bad...)
	p.Permit, p.PreBind = append(p.Permit, bad...), append(p.PreBind, bad...)
	p.PostFilter = append(bad, p.PostFilter...)
	p.PostBind = append(append(p.PostBind, good...), bad...)
	problems := 0
	var err error
	r.d, err = lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{p}, Binder: r, Clock: r.clock, Bindings: 8, Observer: shaky{r}, ErrorHandler: func(error) { problems++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	c := counting.Of(r.d.Snapshot())
	exploding(r.d.Snapshot())
	estimator.LedgerOf(r.d.Snapshot())
	for i := range 12 {
		r.d.Apply(lifecycle.Update(api.MakeNode(fmt.Sprint("n", i), "64", "256Gi").Zone(fmt.Sprint(i % 3)).Obj()))
		r.d.Apply(lifecycle.Update(devicesOf(fmt.Sprint("n", i), devicesPerNode)))
	}
	r.d.Apply(lifecycle.Update(&api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "any"}}), lifecycle.Update(templateOfOne()))
	for serial := 0; serial < *faultPods; serial++ {
		if serial == 60 { // it hears of pods after those that decisions have made by now, as of devices
			exploding(r.d.Snapshot())
		}
		r.come(serial)
		for r.draw(3) == 0 {
			r.wrong()
		}
		r.d.ScheduleOne(context.Background())
		if serial%500 == 499 || serial == *faultPods-1 {
			r.check(c)
		}
		if t.Failed() {
			return
		}
	}
	for _, p := range r.pods {
		r.d.Apply(lifecycle.Delete(p))
	}
	clear(r.pods)
	r.check(c)
	onlyLeft(t, goroutines)
	if r.panics < *faultPods/100 || problems == 0 {
		t.Errorf("%d panics and %d problems: the history tests too little", r.panics, problems)
	}
	t.Logf("%d pods, %d panics, %d problems", *faultPods, r.panics, problems)
}

// come creates a pod, and mostly deletes an old one.
func (r *ruin) come(serial int) {
	b := api.MakePod(fmt.Sprint("p", r.draw(600))).UID(api.UID(fmt.Sprint("u", serial))).Requests("500m", "1Gi")
	if r.draw(20) == 0 {
		b = b.Requests("100", "1Gi") // fits nowhere
	}
	p := b.Obj()
	r.mu.Lock()
	defer r.mu.Unlock()
	if serial%4 == 0 {
		p.Spec.ResourceClaims = podWithDevice("").Spec.ResourceClaims
		r.number(p)
	}
	if old := r.pods[p.Name]; old != nil {
		r.gone = append(r.gone, old)
		if r.rng.IntN(2) == 0 { // otherwise the new pod just takes the name
			r.d.Apply(lifecycle.Delete(old))
		}
	}
	r.pods[p.Name] = p
	r.d.Apply(lifecycle.Update(p))
}

// number gives a pod with a device a resource version, by which stale events are known: its devices are in no claim, so they
// are free when an event says that the pod has no node.
func (r *ruin) number(p *api.Pod) {
	if len(p.Spec.ResourceClaims) > 0 {
		r.resource++
		p.ResourceVersion = fmt.Sprint(r.resource)
	}
}

// wrong lets one more thing go wrong.
func (r *ruin) wrong() {
	switch r.draw(7) {
	case 0: // an earlier version of a pod
		r.mu.Lock()
		defer r.mu.Unlock()
		if n := len(r.versions); n > 0 {
			if p := r.versions[r.rng.IntN(n)]; !r.frees(p) {
				r.d.Apply(lifecycle.Update(p))
			}
		}
	case 1: // a pod that is gone, again
		r.mu.Lock()
		defer r.mu.Unlock()
		if n := len(r.gone); n > 0 {
			p := r.gone[r.rng.IntN(n)]
			if !r.frees(p) {
				r.d.Apply(lifecycle.Update(p), lifecycle.Delete(p))
			}
		}
	case 2: // a hanging binding goes on or fails, whatever became of the pod
		r.answer(1)
	case 3:
		r.clock.Advance(time.Duration(r.draw(3000)) * time.Millisecond)
	case 4:
		if r.draw(20) == 0 {
			r.clock.Advance(5 * time.Hour)
		}
	case 5: // a node goes and comes
		n := api.MakeNode(fmt.Sprint("n", r.draw(12)), "64", "256Gi").Zone("0").Obj()
		r.d.Apply(lifecycle.Delete(n), lifecycle.Update(n))
	case 6:
		r.bindElsewhere()
	}
}

// frees reports whether an event about an earlier pod would take the name of one that has a device, which is free then.
func (r *ruin) frees(p *api.Pod) bool {
	now := r.pods[p.Name]
	return now != nil && now.UID != p.UID && len(now.Spec.ResourceClaims) > 0
}

// bindElsewhere lets another scheduler bind a pod that waits, or whose binding is under way: mostly to the node that the
// driver has chosen for it, if it has.
func (r *ruin) bindElsewhere() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pods {
		if p.Spec.NodeName != "" || len(p.Spec.ResourceClaims) > 0 { // it would have to write the claims
			continue
		}
		node := fmt.Sprint("n", r.rng.IntN(12))
		if _, n := r.d.Snapshot().Pod(p.Key()); n != nil && r.rng.IntN(4) > 0 {
			node = n.Name()
		} else if r.rng.IntN(4) > 0 {
			continue
		}
		r.versions = append(r.versions, p)
		r.pods[p.Name] = onNode(p, node)
		r.d.Apply(lifecycle.Update(r.pods[p.Name]))
		return
	}
}

// answer ends up to n hanging bindings.
func (r *ruin) answer(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.hanging {
		if n--; n < 0 {
			return
		}
		var err error
		if r.rng.IntN(2) == 0 {
			err = errors.New("gave up")
		}
		c <- err
		delete(r.hanging, c)
	}
}

// check lets everything come to rest, lists all pods again, and compares.
func (r *ruin) check(c *counter) {
	r.mu.Lock()
	r.calm = true
	r.mu.Unlock()
	ctx := context.Background()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		r.answer(1 << 30)
		r.mu.Lock()
		for _, p := range r.gone { // as an informer does that lists again
			if now := r.pods[p.Name]; now == nil {
				r.d.Apply(lifecycle.Delete(p))
			}
		}
		for _, p := range r.pods {
			r.d.Apply(lifecycle.Update(p))
		}
		r.mu.Unlock()
		for {
			if _, ok := r.d.ScheduleOne(ctx); !ok {
				break
			}
		}
		r.clock.Advance(7 * time.Second)
		if r.d.Flush(ctx); r.atRest() {
			break
		}
		runtime.Gosched()
		time.Sleep(time.Millisecond)
	}
	r.compare(c)
	compareUse(r.t, r.d, r.clock.Now())
	for _, g := range r.grenades {
		g.check(r.d.Snapshot())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calm, r.gone, r.versions = false, nil, nil
}

// atRest reports whether the driver holds what the events say.
func (r *ruin) atRest() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts, onNodes := r.d.Counts(), 0
	for _, n := range r.d.Snapshot().All() {
		onNodes += len(n.Pods) // pods that are gone, but whose bindings have not ended, among them
	}
	return onNodes == counts.Assigned && len(r.hanging) == 0 && len(r.reserved) == 0 && counts.Assumed == 0 && counts.Binding == 0 && counts.UnknownNode == 0 &&
		counts.Queue.InFlight == 0 && counts.Pods == len(r.pods) && counts.Assigned+counts.Pending == len(r.pods)
}

func (r *ruin) compare(c *counter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	counts := r.d.Counts()
	if counts.Pods != len(r.pods) || counts.Assigned+counts.Pending != len(r.pods) || counts.Queue.InFlight != 0 || counts.Assumed != 0 {
		r.t.Errorf("%d pods exist, the driver has %+v", len(r.pods), counts)
	}
	if len(r.reserved) > 0 {
		r.t.Errorf("%d reservations stay: %v", len(r.reserved), r.reserved)
	}
	total := 0
	for _, n := range r.d.Snapshot().All() {
		var sum resource.Vector
		withDevice := 0
		for _, p := range n.Pods {
			if len(p.Pod.Spec.ResourceClaims) > 0 {
				withDevice++
			}
			sum = sum.Add(p.UsedRequests)
			if now := r.pods[p.Pod.Name]; now == nil || now.UID != p.Pod.UID || now.Spec.NodeName != n.Name() {
				r.t.Errorf("node %s holds pod %s %s, which is %+v", n.Name(), p.Pod.Name, p.Pod.UID, now)
			}
		}
		if withDevice > devicesPerNode {
			r.t.Errorf("node %s: %d pods have its %d devices", n.Name(), withDevice, devicesPerNode)
		}
		if total += len(n.Pods); !sum.Equal(n.Requested) {
			r.t.Errorf("node %s: requested %v, a recount gives %v", n.Name(), n.Requested, sum)
		}
	}
	assigned := 0
	for _, p := range r.pods {
		if p.Spec.NodeName != "" {
			assigned++
		}
	}
	if total != assigned || c.pods != total || counts.Assigned != total {
		r.t.Errorf("%d pods are on nodes, the snapshot has %d, the extension counts %d, the driver %d", assigned, total, c.pods, counts.Assigned)
	}
}

// compareUse compares the use of the nodes, if all report none and no pod, with that of a snapshot of the same pods.
func compareUse(t *testing.T, d *lifecycle.Driver, now time.Time) {
	t.Helper()
	fresh := framework.NewSnapshot(framework.Arrival)
	fresh.SetNow(now)
	estimator.LedgerOf(fresh)
	for _, n := range d.Snapshot().All() {
		if err := fresh.AddNode(n.Node); err != nil {
			t.Fatal(err)
		}
		for _, p := range n.Pods {
			info, err := fresh.NewPodInfo(p.Pod)
			if err := errors.Join(err, fresh.AddPod(info, n.Name())); err != nil {
				t.Fatal(err)
			}
		}
		m := &api.NodeMetric{ObjectMeta: api.ObjectMeta{Name: n.Name()}}
		m.Status.UpdateTime = new(now)
		m.Status.NodeMetric = &api.NodeMetricInfo{NodeUsage: api.ResourceMapOf(resource.List{resource.CPU: resource.Milli(100), resource.Memory: resource.New(1<<30, resource.BinarySI)})}
		d.Apply(lifecycle.Update(m))
		if err := framework.Put(fresh, m); err != nil {
			t.Fatal(err)
		}
	}
	d.Flush(context.Background())
	load, err := estimator.NewLoad(estimator.LoadConfig{})
	if err != nil {
		t.Fatal(err)
	}
	here, there := load.View(d.Snapshot()), load.View(fresh)
	for _, n := range d.Snapshot().All() {
		if got, want := here.Use(n, estimator.WholeForFilter), there.Use(fresh.Node(n.Name()), estimator.WholeForFilter); !slices.Equal(got, want) {
			t.Errorf("node %s: use %v, want %v of %d pods", n.Name(), got, want, len(n.Pods))
		}
	}
}
