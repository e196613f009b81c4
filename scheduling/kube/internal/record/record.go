package record

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-sched/berth/framework/api"
)

// An Event is something that happened to a pod.
type Event struct {
	Regarding, Related   *api.Pod // Related may be nil
	Controller           string   // the profile that reports it
	Type, Reason, Action string
	Note                 string
}

const (
	writers   = 16   // requests at once
	maxEvents = 1024 // that wait for a writer
	maxSeries = 256  // that a writer remembers
	maxNote   = 1024 // bytes, a bound of the API
	maxTries  = 12   // of an event that the API server does not answer
	drain     = 2 * time.Second
)

// Counts says what has become of events.
type Counts struct {
	Written uint64 // with a request of their own
	Joined  uint64 // counted in a series, by a request or without
	Dropped uint64 // no room, or the end came first
	Failed  uint64 // refused by the API server, or not answered often enough
}

// A Writer writes events side by side; those of one pod go through one queue, in order. Any
// goroutine may call its methods.
type Writer struct {
	client   kubernetes.Interface
	identity string
	log      *slog.Logger
	pause    time.Duration // before the second try
	seed     maphash.Seed
	queues   [writers]chan Event
	number   atomic.Uint64

	written, joined, dropped, failed atomic.Uint64
}

// New returns a writer. The identity is events' reportingInstance.
func New(client kubernetes.Interface, identity string, log *slog.Logger) *Writer {
	w := &Writer{client: client, identity: identity, log: log, pause: time.Second, seed: maphash.MakeSeed()}
	for i := range w.queues {
		w.queues[i] = make(chan Event, maxEvents)
	}
	return w
}

// Counts returns what has become of the events until now.
func (w *Writer) Counts() Counts {
	return Counts{w.written.Load(), w.joined.Load(), w.dropped.Load(), w.failed.Load()}
}

// Write queues an event. It never waits: without room the event is dropped.
func (w *Writer) Write(e Event) {
	select {
	case w.queues[maphash.String(w.seed, string(e.Regarding.UID))%writers] <- e:
	default:
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
	defer context.AfterFunc(ctx, func() { time.AfterFunc(drain, stop) })()
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
	queue  chan Event
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
		for {
			select {
			case e := <-s.queue:
				s.record(ctx, requests, e)
			default:
				return
			}
		}
	}
}

// record writes one event, or counts it in its series.
func (s *sink) record(ctx, requests context.Context, e Event) {
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
		patch := fmt.Appendf(nil, `{"series":{"count":%d,"lastObservedTime":%q}}`, known.count, time.Now().UTC().Format(metav1.RFC3339Micro))
		err := s.try(ctx, func() error {
			_, err := s.client.EventsV1().Events(known.namespace).Patch(requests, known.name, types.MergePatchType, patch, metav1.PatchOptions{})
			return err
		})
		if !apierrors.IsNotFound(err) {
			s.count(&s.joined, e, err)
			return
		} // it has expired: write it anew
	}
	made := s.event(e)
	err := s.try(ctx, func() error {
		_, err := s.client.EventsV1().Events(made.Namespace).Create(requests, made, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil // by a request whose answer was lost
		}
		return err
	})
	if err == nil {
		s.remember(key, &series{made.Namespace, made.Name, 1})
	}
	s.count(&s.written, e, err)
}

// event returns the object to write.
func (s *sink) event(e Event) *eventsv1.Event {
	now := time.Now()
	made := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: e.Regarding.Namespace,
			Name:      fmt.Sprintf("%s.%x.%x", e.Regarding.Name, now.UnixNano(), s.number.Add(1)),
		},
		EventTime:           metav1.NewMicroTime(now),
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

func (s *sink) remember(key seriesKey, new *series) {
	if s.series[key] == nil {
		if len(s.order) == maxSeries {
			delete(s.series, s.order[0])
			s.order = s.order[1:]
		}
		s.order = append(s.order, key)
	}
	s.series[key] = new
}

func reference(p *api.Pod) corev1.ObjectReference {
	return corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: p.Namespace, Name: p.Name, UID: types.UID(p.UID), ResourceVersion: p.ResourceVersion}
}

// clip cuts a note to the length that the API accepts.
func clip(note string) string {
	if len(note) <= maxNote {
		return note
	}
	const dots = " ..."
	end := maxNote - len(dots)
	for end > 0 && !utf8.RuneStart(note[end]) {
		end--
	}
	return note[:end] + dots
}
