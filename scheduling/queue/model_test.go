//go:build full

package queue_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
	"unique"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/queue"
	"pgregory.net/rapid"
)

// modelPod is a pod of the model: the specification in plain code.
type modelPod struct {
	item     *queue.Item
	info     *framework.PodInfo
	latest   *framework.PodInfo
	serial   int
	pods     int // that it stands for; 0 means one
	stamp    time.Time
	flushed  time.Time
	rejected int
	errors   int
	plugins  []string
	final    []string // plugins that said that no departure helps
	gate     bool
	tried    time.Time
	again    bool
	class    queue.Class
	delay    time.Time // no attempt before
	attempts int
	where    string // active, backoff, waiting, flying, gone
	seen     []string
}

func (p *modelPod) name() string { return p.info.Pod.Name }

// expires is when the backoff ends, or the delay if that is later.
func (p *modelPod) expires() time.Time {
	if p.isDelayed() {
		return p.delay
	}
	return p.backoffEnd()
}

func (p *modelPod) isDelayed() bool { return p.delay.After(p.backoffEnd()) }

// backoffEnd is when the backoff ends, cut to the second.
func (p *modelPod) backoffEnd() time.Time {
	n := cmp.Or(p.errors, p.rejected)
	if n == 0 {
		return p.stamp.Truncate(time.Second)
	}
	most := 10 * time.Second
	if p.pods == 4 {
		most = 20 * time.Second // the root of 4 is 2
	}
	d := min(time.Duration(1<<min(n-1, 10))*time.Second, most)
	return p.stamp.Add(d).Truncate(time.Second)
}

func (p *modelPod) backsOff(now time.Time) bool {
	return (p.errors+p.rejected > 0 || p.isDelayed()) && p.expires().Sub(now.Truncate(time.Second)) >= 0
}

// since is when the pod began to wait, but not before the queue.
func (p *modelPod) since() time.Time {
	for _, t := range []time.Time{p.flushed, epoch} {
		if t.After(p.stamp) {
			return t
		}
	}
	return p.stamp
}

// model is a slow queue: no heaps, no lists, no shared log of events.
type model struct {
	q      *queue.Queue
	now    time.Time
	swept  time.Time
	pods   []*modelPod
	schema *resource.Schema
	serial int
}

// The events of the model; worth says what each means to the plugins.
const (
	evNodeAdd   = "node added"  // A and B registered for it
	evNodeLabel = "node labels" // B registered for it; its hint skips pods with names of odd length
	evPodGone   = "pod gone"    // A registered for it
	evLabel     = "own labels"  // the gate registered for it
	evOther     = "another"     // no plugin registered for it
	evAll       = "all"         // the wildcard
)

// The gate keeps out the pods with the label.
const gateName, gateLabel = "G", "gate"

func (m *model) worth(p *modelPod, e string) bool {
	if len(p.plugins) == 0 || e == evAll {
		return true
	}
	for _, plugin := range p.plugins {
		pair, isPair := neighbourPairs[e]
		switch {
		case plugin == "B" && isPair && pair.helps(p.info),
			plugin == "A" && isPair,
			plugin == "A" && e == evNodeAdd,
			plugin == "A" && e == evPodGone && !slices.Contains(p.final, "A"),
			plugin == "B" && e == evNodeAdd,
			plugin == "B" && e == evNodeLabel && len(p.name())%2 == 0,
			plugin == gateName && e == evLabel:
			return true
		}
	}
	return false
}

// A neighbourPair is a pod on a node before and after a change. B registered for it, and narrows
// it: its pods say in an annotation which neighbours they look at.
type neighbourPair struct{ before, after *framework.PodInfo }

const wantNote = "want"

// neighbourPairs are all that the model has, by name. Repelling ones have anti-affinity terms.
var neighbourPairs = func() map[string]neighbourPair {
	var list []*framework.PodInfo
	for _, namespace := range []string{"a", "b"} {
		for _, x := range []string{"", "1", "2"} {
			for _, repels := range []bool{false, true} {
				b := api.MakePod("neighbour").Namespace(namespace)
				if x != "" {
					b = b.Labels("x", x)
				}
				if repels {
					b = b.PodAntiAffinity("zone", "x=1")
				}
				info, err := framework.NewPodInfo(b.Obj(), resource.NewSchema())
				if err != nil {
					panic(err)
				}
				list = append(list, info)
			}
		}
	}
	pairs := map[string]neighbourPair{}
	for i, before := range list {
		for k, after := range list {
			pairs[fmt.Sprint("neighbour ", i, k)] = neighbourPair{before, after}
		}
	}
	return pairs
}()

// helps is what the hint says.
func (n neighbourPair) helps(pod *framework.PodInfo) bool {
	for _, s := range subjectsOf(pod) {
		for _, p := range []*framework.PodInfo{n.before, n.after} {
			value, has := p.Pod.Labels[s.Key]
			if (s.Namespace == "" || s.Namespace == p.Pod.Namespace) && (s.Key == "" || has && (s.AnyValue || s.Value == value)) {
				return true
			}
		}
	}
	return n.before.Pod.Spec.Affinity != nil && pod.Pod.Annotations[wantNote] == "1"
}

// subjectsOf is what B says of a pod.
func subjectsOf(pod *framework.PodInfo) []queueing.Subject {
	switch pod.Pod.Annotations[wantNote] {
	case "1":
		return []queueing.Subject{{Key: "x", Value: "1"}}
	case "x in a":
		return []queueing.Subject{{Namespace: "a", Key: "x", AnyValue: true}}
	case "2 or b":
		return []queueing.Subject{{Key: "x", Value: "2"}, {Namespace: "b"}}
	case "2 in b":
		return []queueing.Subject{{Namespace: "b", Key: "x", Value: "2"}}
	case "any":
		return []queueing.Subject{{}}
	case "x":
		return []queueing.Subject{{Key: "x", AnyValue: true}}
	}
	return nil
}

// send moves a pod on, unless the gate rejects it.
func (m *model) send(p *modelPod) {
	if _, shut := p.info.Pod.Labels[gateLabel]; shut {
		p.where, p.gate = "waiting", true
		if !slices.Contains(p.plugins, gateName) {
			p.plugins = append(p.plugins, gateName)
		}
		return
	}
	p.gate = false
	if p.where = "active"; p.backsOff(m.now) {
		p.where = "backoff"
	}
}

func (m *model) wake(p *modelPod, e string) bool {
	if p.where != "waiting" || p.gate && e != evAll && e != evLabel || !m.worth(p, e) {
		return false
	}
	m.send(p)
	return true
}

func (m *model) happen(e string) {
	for _, p := range m.pods {
		m.wake(p, e)
		if p.where == "flying" {
			p.seen = append(p.seen, e)
		}
	}
}

// next is the pod that Pop must return.
func (m *model) next() *modelPod {
	var best *modelPod
	for _, where := range []string{"active", "backoff"} {
		for _, p := range m.pods {
			if p.where != where || where == "backoff" && (len(p.plugins) == 0 || p.delay.After(m.now) || p.isDelayed() || p.again && !m.now.After(p.stamp)) {
				continue
			}
			if best == nil || m.before(p, best, where == "backoff") {
				best = p
			}
		}
		if best != nil {
			break
		}
	}
	return best
}

func (m *model) before(a, b *modelPod, byExpiry bool) bool {
	if byExpiry && !a.expires().Equal(b.expires()) {
		return a.expires().Before(b.expires())
	}
	return cmp.Or(
		cmp.Compare(b.info.Priority, a.info.Priority), a.stamp.Compare(b.stamp), cmp.Compare(a.serial, b.serial),
	) < 0
}

func (m *model) flush() {
	for _, p := range m.pods {
		if p.where == "backoff" && !p.backsOff(m.now) {
			p.where = "active"
		}
	}
	tick := epoch.Add(m.now.Sub(epoch).Truncate(30 * time.Second))
	if !tick.After(m.swept) {
		return
	}
	m.swept = tick
	for _, p := range m.pods {
		if p.where == "waiting" && tick.Sub(p.since()) > 5*time.Minute {
			p.flushed = m.now
			m.wake(p, evAll)
		}
	}
}

// classOf is what the plugins of the model see of a pod. A pod that they keep out has none.
func (p *modelPod) classOf() queue.Class {
	info := cmp.Or(p.latest, p.info)
	if _, shut := info.Pod.Labels[gateLabel]; shut {
		return queue.Class{}
	}
	return unique.Make(fmt.Sprint(info.Priority, len(p.name())%2, info.Pod.Annotations[wantNote]))
}

// pop is what Pop does with the next pod.
func (m *model) pop(p *modelPod) {
	p.where, p.plugins, p.seen, p.delay = "flying", nil, nil, time.Time{}
	p.attempts++
	p.again, p.tried = p.tried.Equal(m.now), m.now
}

// requeue is what Requeue does with a pod in flight.
func (m *model) requeue(p *modelPod, plugins, final []string) {
	p.stamp, p.plugins, p.final = m.now, slices.Clone(plugins), final
	if p.latest != nil {
		p.info, p.latest = p.latest, nil
		p.class = queue.Class{} // that of another version
	}
	if plugins == nil {
		p.errors++
	} else {
		p.rejected++
		p.errors = 0
	}
	p.where, p.gate = "waiting", false
	if plugins == nil || slices.ContainsFunc(p.seen, func(e string) bool { return m.worth(p, e) }) {
		m.send(p)
	}
}

// requeueAlike is what RequeueAlike does: the next pods fail, one after the other.
func (m *model) requeueAlike(known map[queue.Class]queue.Rejectors) (attempts int) {
	for p := m.next(); p != nil; p = m.next() {
		by, ok := known[p.class]
		if !ok {
			break
		}
		m.pop(p)
		m.requeue(p, by.Plugins, by.Unresolvable)
		attempts++
	}
	return attempts
}

// TestQueueEqualsTheModel runs random histories through both.
func TestQueueEqualsTheModel(t *testing.T) {
	ctx := context.Background()
	node := func(a queueing.ActionType) queueing.ClusterEvent {
		return queueing.ClusterEvent{Resource: queueing.ResourceNode, Action: a}
	}
	even := func(p *framework.PodInfo, _, _ any) (queueing.QueueingHint, error) {
		if len(p.Pod.Name)%2 == 0 {
			return queueing.Queue, nil
		}
		return queueing.QueueSkip, nil
	}
	sched := profiles(t, scheduling.Profile{
		PreEnqueue: []framework.Plugin{namedGate{gateName, gateLabel}},
		Filter: []framework.Plugin{
			plugin{"A", []queueing.EventHint{on(queueing.ResourceNode, queueing.ActionAdd, nil), on(queueing.ResourceAssignedPod, queueing.ActionDelete, nil), on(queueing.ResourceAssignedPod, queueing.ActionUpdatePodScaleDown|queueing.ActionUpdatePodLabel, nil)}},
			plugin{"B", []queueing.EventHint{
				on(queueing.ResourceNode, queueing.ActionAdd, nil),
				on(queueing.ResourceNode, queueing.ActionUpdateNodeLabel, even),
				{
					Event: queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionUpdatePodLabel},
					Hint: func(p *framework.PodInfo, before, after any) (queueing.QueueingHint, error) {
						if (neighbourPair{before.(*framework.PodInfo), after.(*framework.PodInfo)}).helps(p) {
							return queueing.Queue, nil
						}
						return queueing.QueueSkip, nil
					},
					Subjects: subjectsOf,
				},
			}},
		},
	})
	rapid.Check(t, func(t *rapid.T) {
		m := &model{now: epoch, swept: epoch, schema: resource.NewSchema()}
		q, err := queue.New(queue.Config{Now: func() time.Time { return m.now }, Profiles: sched})
		if err != nil {
			t.Fatal(err)
		}
		m.q = q
		newInfo := func(name string) *framework.PodInfo {
			b := api.MakePod(name).Priority(rapid.Int32Range(0, 2).Draw(t, "priority"))
			if rapid.IntRange(0, 3).Draw(t, "gated") == 0 {
				b = b.Labels(gateLabel, "")
			}
			pod := b.Obj()
			pod.Annotations = map[string]string{wantNote: rapid.SampledFrom([]string{"", "1", "x in a", "2 or b", "2 in b", "any", "x"}).Draw(t, "want")}
			info, err := framework.NewPodInfo(pod, m.schema)
			if err != nil {
				t.Fatal(err)
			}
			return info
		}
		pick := func(where ...string) *modelPod {
			var list []*modelPod
			for _, p := range m.pods {
				if slices.Contains(where, p.where) {
					list = append(list, p)
				}
			}
			if len(list) == 0 {
				t.Skip("no such pod")
			}
			return rapid.SampledFrom(list).Draw(t, "pod")
		}
		delay := func(t *rapid.T) time.Time {
			d := rapid.SampledFrom([]time.Duration{-time.Second, 0, 300 * time.Millisecond, 5 * time.Second, 40 * time.Second}).Draw(t, "delay")
			if d < 0 {
				return time.Time{}
			}
			return m.now.Add(d)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				for range rapid.SampledFrom([]int{1, 1, 5}).Draw(t, "pods") {
					m.serial++
					name := fmt.Sprintf("p%d", m.serial*7)
					p := &modelPod{info: newInfo(name), serial: m.serial, stamp: m.now}
					p.item = q.Add(ctx, p.info)
					m.pods = append(m.pods, p)
					m.send(p)
				}
			},
			"add after": func(t *rapid.T) {
				m.serial++
				p := &modelPod{
					info: newInfo(fmt.Sprintf("p%d", m.serial*7)), serial: m.serial, stamp: m.now,
					pods:     rapid.SampledFrom([]int{1, 4}).Draw(t, "pods"),
					rejected: rapid.IntRange(0, 6).Draw(t, "rejected"), errors: rapid.IntRange(0, 6).Draw(t, "errors"),
				}
				last := m.now.Add(-rapid.SampledFrom([]time.Duration{0, 700 * time.Millisecond, 5 * time.Second, time.Hour}).Draw(t, "ago"))
				if p.delay = delay(t); p.rejected+p.errors > 0 {
					p.stamp = last
				}
				p.item = q.AddAfter(ctx, p.info, p.pods, queue.Failures{Unschedulable: p.rejected, Errors: p.errors, Last: last, NotBefore: p.delay})
				m.pods = append(m.pods, p)
				m.send(p)
			},
			"delay": func(t *rapid.T) {
				p := pick("flying")
				p.delay = delay(t)
				q.Delay(p.item, p.delay)
			},
			"resize": func(t *rapid.T) {
				p := pick("flying")
				p.pods = rapid.SampledFrom([]int{1, 4}).Draw(t, "pods")
				q.Resize(p.item, p.pods)
			},
			"pop": func(t *rapid.T) {
				want, got := m.next(), q.Pop()
				switch {
				case want == nil && got == nil:
				case want == nil || got == nil || want.item != got:
					t.Fatalf("Pop() = %+v, want %+v", got, want)
				default:
					m.pop(want)
				}
			},
			"fail all": func(t *rapid.T) {
				plugins := rapid.SampledFrom([][]string{{"A"}, {"A", "B"}}).Draw(t, "plugins")
				for want := m.next(); want != nil; want = m.next() {
					if got := q.Pop(); got != want.item {
						t.Fatalf("Pop() = %+v, want %+v with %+v", got, want, want.item)
					}
					m.pop(want)
					want.class = want.classOf()
					q.Requeue(ctx, want.item, nil, queue.Rejectors{Plugins: plugins, Class: want.class})
					m.requeue(want, plugins, nil)
				}
			},
			"fail alike": func(t *rapid.T) {
				known := map[queue.Class]queue.Rejectors{}
				for _, p := range m.pods {
					if _, ok := known[p.class]; !ok && p.class != (queue.Class{}) && rapid.Bool().Draw(t, "known") {
						known[p.class] = queue.Rejectors{
							Plugins:      rapid.SampledFrom([][]string{{"A"}, {"B"}, {"A", "B"}}).Draw(t, "plugins"),
							Unresolvable: rapid.SampledFrom([][]string{nil, {"A"}}).Draw(t, "final"),
						}
					}
				}
				got := q.RequeueAlike(ctx, func(c queue.Class) (queue.Rejectors, bool) {
					by, ok := known[c]
					return by, ok
				})
				if want := m.requeueAlike(known); got != want {
					t.Fatalf("RequeueAlike() = %d, want %d", got, want)
				}
			},
			"done": func(t *rapid.T) {
				p := pick("flying")
				q.Done(p.item)
				p.where = "gone"
			},
			"requeue": func(t *rapid.T) {
				p := pick("flying")
				plugins := rapid.SampledFrom([][]string{nil, {"A"}, {"B"}, {"A", "B"}}).Draw(t, "plugins")
				final := rapid.SampledFrom([][]string{nil, {"A"}, {"A", "B"}}).Draw(t, "final")
				p.class = queue.Class{}
				if plugins != nil && rapid.Bool().Draw(t, "has a class") {
					p.class = p.classOf()
				}
				q.Requeue(ctx, p.item, nil, queue.Rejectors{Plugins: plugins, Unresolvable: final, Class: p.class})
				m.requeue(p, plugins, final)
			},
			"move": func(t *rapid.T) {
				switch e := rapid.SampledFrom([]string{evNodeAdd, evNodeLabel, evPodGone, evOther}).Draw(t, "event"); e {
				case evNodeAdd:
					q.Move(ctx, node(queueing.ActionAdd), nil, nil, nil)
					m.happen(e)
				case evPodGone:
					q.Move(ctx, queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionDelete}, nil, nil, nil)
					m.happen(e)
				case evNodeLabel:
					q.Move(ctx, node(queueing.ActionUpdateNodeLabel), nil, nil, nil)
					m.happen(e)
				default:
					q.Move(ctx, node(queueing.ActionUpdateNodeTaint), nil, nil, nil)
					m.happen(e)
				}
			},
			"neighbour": func(t *rapid.T) {
				name := rapid.SampledFrom(slices.Sorted(maps.Keys(neighbourPairs))).Draw(t, "pair")
				q.Move(ctx, queueing.ClusterEvent{Resource: queueing.ResourceAssignedPod, Action: queueing.ActionUpdatePodLabel}, neighbourPairs[name].before, neighbourPairs[name].after, nil)
				m.happen(name)
			},
			"move for one": func(t *rapid.T) {
				p := pick("active", "backoff", "waiting", "flying")
				q.Move(ctx, queueing.ClusterEvent{Resource: queueing.ResourceAny, Action: queueing.ActionAll}, nil, p.info, nil)
				for _, other := range m.pods {
					if other == p || len(other.plugins) == 0 {
						m.wake(other, evAll)
					}
				}
				if p.where == "flying" {
					p.seen = append(p.seen, evAll)
				}
			},
			"update": func(t *rapid.T) {
				p := pick("active", "backoff", "waiting", "flying")
				info := newInfo(p.name())
				q.Update(ctx, p.item, info)
				before := p.info
				if p.latest != nil {
					before = p.latest
				}
				e := evOther
				if len(before.Pod.Labels) != len(info.Pod.Labels) {
					e = evLabel
				}
				if p.where == "flying" {
					p.latest, p.seen = info, append(p.seen, e)
					return
				}
				p.info, p.class = info, queue.Class{}
				m.wake(p, e)
			},
			"activate": func(t *rapid.T) {
				p := pick("active", "backoff", "waiting", "flying")
				q.Activate(ctx, p.item)
				p.class = queue.Class{}
				switch p.where {
				case "flying":
					p.seen = append(p.seen, evAll)
				case "backoff", "waiting":
					if m.send(p); p.where == "backoff" {
						p.where = "active"
					}
				}
			},
			"delete": func(t *rapid.T) {
				p := pick("active", "backoff", "waiting")
				q.Delete(p.item)
				p.where = "gone"
			},
			"time": func(t *rapid.T) {
				m.now = m.now.Add(rapid.SampledFrom([]time.Duration{
					0, 300 * time.Millisecond, time.Second, 7 * time.Second, 61 * time.Second, 10 * time.Minute,
				}).Draw(t, "passes"))
			},
			"flush": func(t *rapid.T) {
				q.Flush(ctx)
				m.flush()
			},
			"": func(t *rapid.T) { m.compare(t) },
		})
	})
}

// compare looks at every pod, the counts, and the time of the next flush.
func (m *model) compare(t *rapid.T) {
	want := queue.Length{}
	all := m.q.Items()
	var items []*queue.Item
	for _, p := range m.pods {
		switch {
		case p.where == "active":
			want.Active++
		case p.where == "backoff":
			want.Backoff++
		case p.where == "waiting" && p.gate:
			want.Gated++
		case p.where == "waiting":
			want.Unschedulable++
		case p.where == "flying":
			want.InFlight++
		}
		if p.where == "gone" {
			continue
		}
		items = append(items, p.item)
		if p.item.Unschedulable != p.rejected || p.item.Errors != p.errors || p.item.Pod != p.info ||
			p.item.Attempts != p.attempts || p.item.Flushed == p.flushed.IsZero() || !p.item.Timestamp.Equal(p.stamp) {
			t.Fatalf("pod %s: %+v, want %+v", p.name(), p.item, p)
		}
		if (p.item.Gate != "") != p.gate {
			t.Fatalf("pod %s: gate %q, want gated %t", p.name(), p.item.Gate, p.gate)
		}
	}
	if got := m.q.Len(); got != want {
		t.Fatalf("Len() = %+v, want %+v", got, want)
	}
	if !slices.Equal(items, all) {
		t.Fatal("Items() lists other pods")
	}
	at, ok := m.q.NextFlush()
	if ok != (want.Backoff+want.Unschedulable+want.Gated > 0) {
		t.Fatalf("NextFlush() = %v, %t with %+v", at, ok, want)
	}
}

// namedGate is a gate whose name is not its label.
type namedGate struct{ name, label string }

func (g namedGate) Name() string { return g.name }
func (g namedGate) PreEnqueue(_ context.Context, pod *framework.PodInfo) framework.Status {
	if _, ok := pod.Pod.Labels[g.label]; ok {
		return framework.UnschedulableStatus("shut")
	}
	return framework.Status{}
}

func (g namedGate) EventsToRegister() []queueing.EventHint {
	return []queueing.EventHint{on(queueing.ResourceTargetPod, queueing.ActionUpdatePodLabel, nil)}
}
