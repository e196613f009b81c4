package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
)

// Config says how a queue works. Every field but Now may be left zero.
type Config struct {
	// Now returns the time, which must not go backwards.
	Now func() time.Time
	// Profiles holds the scheduler of each profile by the name that pods ask for
	// (spec.schedulerName; "" asks for [scheduling.DefaultName]). The queue runs its
	// PreEnqueue plugins and follows the events that its plugins registered for. A
	// pod with an unknown name has no gate, and any event wakes it.
	Profiles map[string]*scheduling.Scheduler
	// Sort orders the ready pods; nil means [scheduling.PrioritySort]. Pods that it
	// treats as equal, or panics over, come in the order of their arrival.
	Sort queueing.QueueSortPlugin
	// ErrorHandler is called with the first panic of Sort; nil ignores it.
	ErrorHandler func(error)
	// Backoff is how long pods wait after failed attempts.
	Backoff Backoff
	// MaxUnschedulable is the longest time that a pod waits for an event; 0 means 5
	// minutes.
	MaxUnschedulable time.Duration
	// FullBackoff makes pods wait for the end of their backoff even if no other pod
	// is ready, as in kube-scheduler up to 1.32. Backoffs then end at any moment,
	// not only at full seconds.
	FullBackoff bool
}

const (
	defaultMaxUnschedulable = 5 * time.Minute
	sweepInterval           = 30 * time.Second
	window                  = time.Second
)

// A Queue holds the pods that wait to be scheduled. Only one goroutine at a time may
// use it.
type Queue struct {
	options     Config
	profiles    map[string]*profile
	lastName    string // the profile that was looked up last
	lastProfile *profile
	interest    map[queueing.ClusterEvent]bool // whether any plugin registered for it

	serial uint64 // of the latest item

	active     ready
	backingOff sorted
	failing    sorted
	delayed    sorted        // by NotBefore
	standing   list          // in the order of their timestamps, which are all equal
	standUntil time.Duration // no later than the first end of their backoffs, since the start
	waiting    sorted        // unschedulable pods, including gated ones, by waitingSince
	groups     groups        // the same pods by what can wake them
	gated      int           // how many of waiting are gated
	others     [places]int   // how many items follow those in each place

	met     map[meeting]*Item // of those that began to wait at metAt
	metAt   time.Time
	longest int       // backoffs of items that failed more often are equal
	passing []passing // scratch

	flight list // in the order of Pop
	events eventLog

	start time.Time     // sweeps happen at start plus multiples of sweepInterval
	swept time.Duration // time of the last sweep, since the start
}

// New returns an empty queue. A Config without Now, with negative times, or with a
// profile without a scheduler is an error.
func New(o Config) (*Queue, error) {
	switch {
	case o.Now == nil:
		return nil, errors.New("queue: Config.Now is nil")
	case o.MaxUnschedulable < 0:
		return nil, fmt.Errorf("queue: Config.MaxUnschedulable: %v: must not be negative", o.MaxUnschedulable)
	case o.Backoff.Initial < 0:
		return nil, fmt.Errorf("queue: Config.Backoff.Initial: %v: must not be negative", o.Backoff.Initial)
	case o.Backoff.Max < 0 && o.Backoff.Max != NoBackoff:
		return nil, fmt.Errorf("queue: Config.Backoff.Max: %v: must not be negative; NoBackoff means that there is none", o.Backoff.Max)
	case o.Backoff.Max > 0 && o.Backoff.Initial > o.Backoff.Max:
		return nil, fmt.Errorf("queue: Config.Backoff.Max: %v: must be greater than or equal to Initial, %v", o.Backoff.Max, o.Backoff.Initial)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Profiles)) {
		if o.Profiles[name] == nil {
			return nil, fmt.Errorf("queue: Config.Profiles[%s]: is nil", name)
		}
	}
	if o.MaxUnschedulable == 0 {
		o.MaxUnschedulable = defaultMaxUnschedulable
	}
	q := &Queue{
		options: o, profiles: map[string]*profile{}, interest: map[queueing.ClusterEvent]bool{},
	}
	for name, s := range o.Profiles {
		q.profiles[name] = newProfile(s)
	}
	q.groups.byKey = map[string]*group{}
	q.met, q.longest = map[meeting]*Item{}, o.Backoff.longest()
	q.start = o.Now()
	q.order()
	return q, nil
}

// order sets the order of the heaps.
func (q *Queue) order() {
	arrival := func(a, b *Item) bool { return a.serial < b.serial }
	expiry := func(it *Item) (int64, int64) { return int64(it.expires), 0 }
	q.failing = newSorted(expiry, arrival)
	q.delayed = newSorted(func(it *Item) (int64, int64) { return int64(it.NotBefore.Sub(q.start)), 0 }, arrival)
	q.waiting = newSorted(func(it *Item) (int64, int64) { return int64(q.waitingSince(it)), int64(it.waits) }, arrival)

	priority := func(it *Item) (int64, int64) {
		return -int64(it.Pod.Priority), int64(it.Timestamp.Sub(q.start))
	}
	sort := q.options.Sort
	if _, ok := sort.(scheduling.PrioritySort); ok || sort == nil {
		sort = scheduling.PrioritySort{}
	} else {
		q.active.plain = true
		sort = &careful{QueueSortPlugin: sort, problem: q.options.ErrorHandler}
		priority = func(*Item) (int64, int64) { return 0, 0 }
	}
	less := func(a, b *Item) bool {
		switch {
		case sort.Less(&a.QueuedPod, &b.QueuedPod):
			return true
		case sort.Less(&b.QueuedPod, &a.QueuedPod):
			return false
		}
		return arrival(a, b)
	}
	q.active.heap = newSorted(priority, less)
	q.backingOff = newSorted(expiry, less)
}

// Add puts a pod into the queue: into the active part unless a PreEnqueue plugin
// rejects it. The pod must not be in the queue already. Keep the item while the pod
// is in the queue or in flight.
func (q *Queue) Add(ctx context.Context, pod *framework.PodInfo) *Item {
	q.serial++
	it := &Item{serial: q.serial, profile: q.profileOf(pod.Pod)}
	it.Pod, it.Timestamp = pod, q.options.Now()
	q.toActive(ctx, it, true)
	return it
}

// Failures are the failed attempts of what comes back to the queue under a new item.
type Failures struct {
	// Unschedulable and Errors are as in [Item].
	Unschedulable, Errors int
	// Last is when the last of them failed.
	Last time.Time
	// NotBefore is the time set by [Queue.Delay], zero for none.
	NotBefore time.Time
}

// AddAfter is Add for what has failed before, and stands for so many pods ([Queue.Resize]).
// It waits for what is left of its backoff, also if no other pod is ready, as after an
// error. If a PreEnqueue plugin rejects it, it first waits for that plugin's events, and is
// then a rejected pod like others. Without failures AddAfter is Add.
//
// Source: kube-scheduler 1.37, backend/queue: a group that has failed is never taken from
// its backoff early, because the plugins that rejected it are kept with its pods.
func (q *Queue) AddAfter(ctx context.Context, pod *framework.PodInfo, pods int, before Failures) *Item {
	q.serial++
	it := &Item{serial: q.serial, profile: q.profileOf(pod.Pod), pods: pods}
	it.Pod, it.Timestamp = pod, q.options.Now()
	if before.Unschedulable+before.Errors > 0 {
		it.Unschedulable, it.Errors, it.Timestamp = before.Unschedulable, before.Errors, before.Last
	}
	it.NotBefore = before.NotBefore
	q.send(ctx, it, afterBackoff)
	return it
}

// Pop takes the first active pod from the queue. If there is none, and FullBackoff
// is not set, it takes the pod whose backoff ends next. It returns nil if no pod is
// ready. The pod is in flight until [Queue.Done] or [Queue.Requeue], and the queue
// remembers events that happen meanwhile.
func (q *Queue) Pop() *Item {
	it := q.top()
	if it == nil {
		return nil
	}
	q.cede(it)
	q.leave(it)
	it.Attempts++
	it.Rejectors, it.timed, it.held = Rejectors{Class: it.Class}, false, false
	it.NotBefore, it.deferred = time.Time{}, time.Time{}
	now := q.options.Now()
	it.again, it.tried = !it.tried.IsZero() && it.tried.Equal(now), now
	if it.InitialAttempt.IsZero() {
		it.InitialAttempt = now
	}
	it.at, it.since = inFlight, q.events.next()
	q.flight.insertAfter(it, q.flight.last)
	return it
}

// top is the item that Pop takes.
func (q *Queue) top() *Item {
	it := q.active.top()
	if it == nil && !q.options.FullBackoff {
		q.release()
		it = q.backingOff.top()
	}
	return it
}

// Done ends the flight of a pod that needs no further attempt, or whose later
// failure should ignore the events since Pop. A second call does nothing.
func (q *Queue) Done(it *Item) {
	if it.at != inFlight {
		return
	}
	q.flight.remove(it)
	it.at = nowhere
	if q.flight.first == nil {
		q.events.dropAll()
	} else {
		q.events.dropBefore(q.flight.first.since)
	}
}

// A Length is how many pods are in each part of the queue.
type Length struct {
	Active, Backoff, Unschedulable, Gated, InFlight int
}

// Len counts the pods.
func (q *Queue) Len() Length {
	return Length{
		Active:        q.active.len() + q.others[active],
		Backoff:       q.backingOff.len() + q.failing.len() + q.delayed.len() + q.standing.len + q.others[backingOff] + q.others[standing],
		Unschedulable: q.waiting.len() - q.gated + q.others[unschedulable], Gated: q.gated, InFlight: q.flight.len,
	}
}

// put notes the part of the queue that is to hold the item and those that follow it.
func (q *Queue) put(it *Item, at place) {
	it.at = at
	q.others[at] += sizeOf(it.rest)
}

// leave takes the item, and those that follow it, out of the part of the queue that holds
// it.
func (q *Queue) leave(it *Item) {
	if it.at != nowhere {
		q.others[it.at] -= sizeOf(it.rest)
	}
	switch it.at {
	case active:
		q.active.remove(it)
	case backingOff:
		q.backingOff.remove(it)
	case failing:
		q.failing.remove(it)
	case delayed:
		q.delayed.remove(it)
	case standing:
		q.standing.remove(it)
	case unschedulable:
		q.waiting.remove(it)
		q.part(it)
		if it.Gate != "" {
			q.gated--
		}
	}
	it.at = nowhere
}

// pass asks the PreEnqueue plugins. If one rejects the item, it waits; if it waited
// already, it keeps its position.
func (q *Queue) pass(ctx context.Context, it *Item) bool {
	if it.profile == nil {
		return true
	}
	plugin, status := it.profile.PreEnqueue(ctx, it.Pod, it.Gate)
	if status.IsSuccess() {
		return true
	}
	it.Class = Class{}
	if it.at != unschedulable {
		q.toWaiting(it)
	}
	if it.Gate == "" {
		q.gated++
	}
	it.Gate, it.Early = plugin, plugin
	it.Plugins = addPlugin(it.Plugins, plugin)
	q.regroup(it)
	return false
}

// toActive makes the item ready, unless ask is set and a PreEnqueue plugin rejects
// it.
func (q *Queue) toActive(ctx context.Context, it *Item, ask bool) {
	if ask && !q.pass(ctx, it) {
		return
	}
	q.leave(it)
	it.Gate = ""
	if it.InitialAttempt.IsZero() {
		it.InitialAttempt = q.options.Now()
	}
	q.put(it, active)
	q.active.push(it)
}

// toBackoff makes the item wait for the end of its backoff.
func (q *Queue) toBackoff(ctx context.Context, it *Item) {
	if !q.options.FullBackoff && !q.pass(ctx, it) {
		return
	}
	q.leave(it)
	it.Gate = ""
	q.expiration(it) // the heaps order by it
	switch {
	case it.none(), q.isDelayed(it):
		q.put(it, failing)
		q.failing.push(it)
	case q.mustWait(it):
		q.put(it, delayed)
		q.delayed.push(it)
	case !q.options.FullBackoff && q.stands(it):
		q.stand(it)
	default:
		q.put(it, backingOff)
		q.backingOff.push(it)
	}
}

// toWaiting makes the item wait for an event.
func (q *Queue) toWaiting(it *Item) {
	q.leave(it)
	it.Gate = ""
	it = q.meet(it)
	q.put(it, unschedulable)
	q.groups.serial++
	it.waits = q.groups.serial
	q.waiting.push(it)
	q.join(it)
}

// waitingSince is when the item began to wait for an event, relative to the start.
func (q *Queue) waitingSince(it *Item) time.Duration {
	return max(it.Timestamp.Sub(q.start), it.flushed)
}

// expiration is when the item's backoff ends.
func (q *Queue) expiration(it *Item) time.Time {
	if !it.timed {
		end := q.backoffEnd(it)
		if q.isDelayed(it) {
			end = it.NotBefore
		}
		it.timed, it.expires = true, end.Sub(q.start)
	}
	return q.start.Add(it.expires)
}

func (q *Queue) backoffEnd(it *Item) time.Time {
	end := q.truncate(it.Timestamp.Add(q.backoff(it)))
	if it.deferred.After(end) {
		return it.deferred
	}
	return end
}

func (q *Queue) backoff(it *Item) time.Duration {
	failures := it.Errors
	switch {
	case q.options.Backoff.Max == NoBackoff && (failures > 0 || it.held):
		return window
	case failures == 0:
		failures = it.Unschedulable
	}
	return q.options.Backoff.Duration(failures, max(1, it.pods))
}

// truncate cuts a time to the second unless FullBackoff is set, so that each
// second's pods leave their backoff in order of priority. A monotonic reading stays: when
// the machine's clock is set, or the machine was suspended, a backoff must not last as much
// longer.
func (q *Queue) truncate(t time.Time) time.Time {
	if q.options.FullBackoff {
		return t
	}
	return t.Add(t.Truncate(window).Sub(t.Round(0))) // Truncate alone would drop the monotonic reading
}

// isBackingOff reports whether the item's backoff has not ended.
//
// Source: kube-scheduler 1.37, isPodBackingoff. Up to 1.32, a backoff that ends now
// counts as ended.
func (q *Queue) isBackingOff(it *Item) bool {
	if q.backoff(it) == 0 && it.deferred.IsZero() && !q.isDelayed(it) {
		return false
	}
	e, now := q.expiration(it), q.truncate(q.options.Now())
	if q.options.FullBackoff {
		return e.After(now)
	}
	return !e.Before(now)
}
