package record

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/kube/internal/direct"
)

// An Event is something that happened to a pod.
type Event struct {
	Regarding, Related   *api.Pod // Related may be nil
	Controller           string   // the profile that reports it
	Type, Reason, Action string
	Note                 string
}

const (
	writers   = 64  // requests at once, at most
	maxEvents = 256 // that wait for a writer
	many      = writers * maxEvents / 4
	maxSeries = 64              // that a writer remembers
	maxNote   = 1024            // bytes, a bound of the API
	maxTries  = 12              // of an event that the API server does not answer
	patience  = 5 * time.Second // of an event with bindings
	drain     = 2 * time.Second // after the end
)

// An occurrence is an event and when it happened.
type occurrence struct {
	Event
	at time.Time
}

// Counts says what has become of events.
type Counts struct {
	Written uint64 // with a request of their own
	Joined  uint64 // counted in a series, by a request or without
	Dropped uint64 // no room, or the end came first
	Failed  uint64 // refused by the API server, or not answered often enough
}

// A Writer writes events side by side; those of one pod go through one queue, in order. It
// leaves the API server to bindings under way for up to 5 s, unless many events wait. Any
// goroutine may call its methods.
type Writer struct {
	client   kubernetes.Interface
	poster   direct.Poster
	identity string
	log      *slog.Logger
	pause    time.Duration // before the second try
	drain    time.Duration // after the end
	seed     maphash.Seed
	queues   [writers]chan occurrence
	waiting  atomic.Int64 // in all queues
	number   atomic.Uint64

	mu       sync.Mutex
	bindings int           // under way
	idle     chan struct{} // closed while there are none

	written, joined, dropped, failed atomic.Uint64
}

// New returns a writer. The identity is events' reportingInstance.
func New(client kubernetes.Interface, identity string, log *slog.Logger) *Writer {
	w := &Writer{client: client, poster: direct.New(client.EventsV1().RESTClient()), identity: identity, log: log, pause: time.Second, drain: drain, seed: maphash.MakeSeed(), idle: make(chan struct{})}
	close(w.idle)
	for i := range w.queues {
		w.queues[i] = make(chan occurrence, maxEvents)
	}
	return w
}

// Counts returns what has become of the events until now.
func (w *Writer) Counts() Counts {
	return Counts{w.written.Load(), w.joined.Load(), w.dropped.Load(), w.failed.Load()}
}

// Write queues an event. It never waits: without room the event is dropped.
func (w *Writer) Write(e Event) {
	w.waiting.Add(1)
	select {
	case w.queues[maphash.String(w.seed, string(e.Regarding.UID))%writers] <- occurrence{e, time.Now()}:
	default:
		w.waiting.Add(-1)
		w.drop(1)
	}
}

// drop counts lost events. The log says so at the powers of two.
func (w *Writer) drop(n uint64) {
	now := w.dropped.Add(n)
	if bits.Len64(now) != bits.Len64(now-n) {
		w.log.Warn("events are dropped, as they come faster than the API server takes them", "until now", now)
	}
}

// Run writes events until ctx is done, and then for up to 2 s those that wait.
func (w *Writer) Run(ctx context.Context) {
	requests, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(w.drain, stop) })()
	var wg sync.WaitGroup
	for _, queue := range w.queues {
		wg.Go(func() {
			s := sink{Writer: w, queue: queue, series: map[seriesKey]*series{}}
			s.run(ctx, requests)
		})
	}
	wg.Wait()
}

// A sink writes the events of some pods, one after the other.
type sink struct {
	*Writer
	queue  chan occurrence
	series map[seriesKey]*series
	order  []seriesKey
}

// A series is an event that has been written, and how often it happened since.
type series struct {
	namespace, name string
	count           int32
}

type seriesKey struct {
	uid            api.UID
	reason, action string
}

// run writes until ctx is done, and then what waits until requests is done.
func (s *sink) run(ctx, requests context.Context) {
	for {
		select {
		case e := <-s.queue:
			s.record(ctx, requests, e)
			continue
		case <-ctx.Done():
		}
		select {
		case e := <-s.queue:
			s.record(ctx, requests, e)
		default:
			return
		}
	}
}

// Binding says that a binding is under way, until the returned function is called.
func (w *Writer) Binding() (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.bindings++; w.bindings == 1 {
		w.idle = make(chan struct{})
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.bindings--; w.bindings == 0 {
			close(w.idle)
		}
	}
}

// yield waits while bindings come first.
func (s *sink) yield(ctx context.Context, since time.Time) {
	left := patience - time.Since(since)
	if left <= 0 || s.waiting.Load() >= many {
		return
	}
	s.mu.Lock()
	idle := s.idle
	s.mu.Unlock()
	select {
	case <-idle:
		return
	default:
	}
	t := time.NewTimer(left)
	defer t.Stop()
	select {
	case <-idle:
	case <-t.C:
	case <-ctx.Done():
	}
}

// record writes one event, or counts it in its series.
func (s *sink) record(ctx, requests context.Context, e occurrence) {
	s.yield(ctx, e.at)
	s.waiting.Add(-1)
	if requests.Err() != nil {
		s.drop(1)
		return
	}
	key := seriesKey{e.Regarding.UID, e.Reason, e.Action}
	if known := s.series[key]; known != nil {
		known.count++
		if bits.OnesCount32(uint32(known.count)) != 1 {
			s.joined.Add(1)
			return
		}
		patch := fmt.Appendf(nil, `{"series":{"count":%d,"lastObservedTime":%q}}`, known.count, e.at.UTC().Format(metav1.RFC3339Micro))
		err := s.try(ctx, func() error {
			_, err := s.client.EventsV1().Events(known.namespace).Patch(requests, known.name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		})
		if !apierrors.IsNotFound(err) {
			s.count(&s.joined, e.Event, err)
			return
		} // it has expired: write it anew
	}
	made := s.event(e)
	err := s.try(ctx, func() error {
		answer, err := s.poster.Post(requests, "apis/events.k8s.io/v1/namespaces/"+made.Namespace+"/events", made)
		if answer.IsDone() || err != nil {
			return err
		}
		_, err = s.client.EventsV1().Events(made.Namespace).Create(requests, made, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil // by a request whose answer was lost
		}
		return err
	})
	if err == nil {
		s.remember(key, &series{made.Namespace, made.Name, 1})
	}
	s.count(&s.written, e.Event, err)
}

// event returns the object to write.
func (s *sink) event(e occurrence) *eventsv1.Event {
	made := &eventsv1.Event{
		TypeMeta: metav1.TypeMeta{Kind: "Event", APIVersion: "events.k8s.io/v1"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: e.Regarding.Namespace,
			Name:      nameWith(e.Regarding.Name, fmt.Sprintf(".%x.%x", e.at.UnixNano(), s.number.Add(1))),
		},
		EventTime:           metav1.NewMicroTime(e.at),
		ReportingController: e.Controller, ReportingInstance: s.identity,
		Type: e.Type, Reason: e.Reason, Action: e.Action, Note: clip(e.Note), Regarding: reference(e.Regarding),
	}
	if e.Related != nil {
		r := reference(e.Related)
		made.Related = &r
	}
	return made
}

// try does a request again while the API server does not answer it. What it refuses, it
// would refuse again.
func (s *sink) try(ctx context.Context, request func() error) error {
	for tries, wait := 1, s.pause; ; tries, wait = tries+1, min(2*wait, 10*s.pause) {
		err := request()
		var answer apierrors.APIStatus
		if err == nil || errors.As(err, &answer) || tries == maxTries {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(wait):
		}
	}
}

// count counts what has become of an event. The log has failures at the powers of two.
func (s *sink) count(done *atomic.Uint64, e Event, err error) {
	if err == nil {
		done.Add(1)
		return
	}
	if n := s.failed.Add(1); bits.OnesCount64(n) == 1 {
		s.log.Warn("an event was not written", "pod", e.Regarding.Key(), "reason", e.Reason, "until now", n, "error", err)
	}
}

// remember keeps a series that has been written, and forgets the oldest beyond maxSeries.
func (s *sink) remember(key seriesKey, written *series) {
	if s.series[key] == nil {
		if len(s.order) == maxSeries {
			delete(s.series, s.order[0])
			s.order = s.order[1:]
		}
		s.order = append(s.order, key)
	}
	s.series[key] = written
}

func reference(p *api.Pod) corev1.ObjectReference {
	return corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: p.Namespace, Name: p.Name, UID: types.UID(p.UID), ResourceVersion: p.ResourceVersion}
}

// nameWith returns a name of an object that ends with a suffix. A long name is cut where
// the API would not accept both: then its pod would have no events.
func nameWith(name, suffix string) string {
	const most = 253 // bytes, a bound of the API
	if len(name)+len(suffix) > most {
		name = strings.TrimRight(name[:most-len(suffix)], "-.")
	}
	return name + suffix
}

// clip cuts a note to the length that the API accepts.
func clip(note string) string {
	if len(note) <= maxNote {
		return note
	}
	const dots = " ..."
	return strings.ToValidUTF8(note[:maxNote-len(dots)], "") + dots
}
