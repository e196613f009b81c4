package kube

import (
	"context"
	"fmt"
	"log/slog"
	"math/bits"
	"sync"
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

// An event is something that happened to a pod.
type event struct {
	regarding, related   *api.Pod // related may be nil
	kind, reason, action string
	note                 string
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

const (
	maxEvents = 1000 // that wait to be written; more are dropped
	maxSeries = 4096 // that are remembered
	maxNote   = 1024 // bytes, a bound of the API
)

// An eventWriter writes events of the group events.k8s.io, one after the other. Equal ones
// of a pod become a series, whose count is written at the powers of two. Events that come
// faster than they can be written are dropped: they are only for people.
type eventWriter struct {
	client   kubernetes.Interface
	identity string
	log      *slog.Logger
	queue    chan event

	mu      sync.Mutex
	dropped uint64

	// Only run uses these.
	series map[seriesKey]*series
	order  []seriesKey
	number uint64
}

func newEventWriter(client kubernetes.Interface, identity string, log *slog.Logger) *eventWriter {
	return &eventWriter{client: client, identity: identity, log: log, queue: make(chan event, maxEvents), series: map[seriesKey]*series{}}
}

func (w *eventWriter) write(e event) {
	select {
	case w.queue <- e:
	default:
		w.mu.Lock()
		w.dropped++
		w.mu.Unlock()
	}
}

// run writes events until ctx is done.
func (w *eventWriter) run(ctx context.Context) {
	for {
		select {
		case e := <-w.queue:
			if err := w.record(ctx, e); err != nil && ctx.Err() == nil {
				w.log.Debug("writing an event", "pod", e.regarding.Key(), "reason", e.reason, "error", err)
			}
		case <-ctx.Done():
			w.mu.Lock()
			defer w.mu.Unlock()
			if lost := w.dropped + uint64(len(w.queue)); lost > 0 {
				w.log.Warn("events were not written, as they came faster than the API server took them", "events", lost)
			}
			return
		}
	}
}

func (w *eventWriter) record(ctx context.Context, e event) error {
	key := seriesKey{e.regarding.UID, e.reason, e.action}
	if s := w.series[key]; s != nil {
		s.count++
		if bits.OnesCount32(uint32(s.count)) != 1 {
			return nil
		}
		patch := fmt.Sprintf(`{"series":{"count":%d,"lastObservedTime":%q}}`, s.count, time.Now().UTC().Format(metav1.RFC3339Micro))
		_, err := w.client.EventsV1().Events(s.namespace).Patch(ctx, s.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if !apierrors.IsNotFound(err) {
			return err
		} // it has expired: write it anew
	}
	now := time.Now()
	w.number++
	made := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: e.regarding.Namespace,
			Name:      fmt.Sprintf("%s.%x.%x", e.regarding.Name, now.UnixNano(), w.number),
		},
		EventTime:           metav1.NewMicroTime(now),
		ReportingController: nameOf(e.regarding), ReportingInstance: w.identity,
		Type: e.kind, Reason: e.reason, Action: e.action, Note: clip(e.note), Regarding: reference(e.regarding),
	}
	if e.related != nil {
		r := reference(e.related)
		made.Related = &r
		made.ReportingController = nameOf(e.related)
	}
	if _, err := w.client.EventsV1().Events(made.Namespace).Create(ctx, made, metav1.CreateOptions{}); err != nil {
		return err
	}
	w.remember(key, &series{made.Namespace, made.Name, 1})
	return nil
}

func (w *eventWriter) remember(key seriesKey, s *series) {
	if w.series[key] == nil {
		if len(w.order) == maxSeries {
			delete(w.series, w.order[0])
			w.order = w.order[1:]
		}
		w.order = append(w.order, key)
	}
	w.series[key] = s
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
