package record

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/berth-sched/berth/framework/api"
)

// server is the part of an API server that takes events. client-go's fake takes one
// request at a time, which would hide whether events are written side by side.
type server struct {
	*httptest.Server
	t    *testing.T
	logs bytes.Buffer

	mu       sync.Mutex
	requests []string // "POST pod note" and "PATCH pod count", in order of arrival
	seen     map[string]bool
	open     int // requests under way
	most     int

	answer func(s *server, w http.ResponseWriter, request string) bool // whether it has answered
}

func newServer(t *testing.T, answer func(s *server, w http.ResponseWriter, request string) bool) *server {
	s := &server{t: t, answer: answer, seen: map[string]bool{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.open++
	s.most = max(s.most, s.open)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.open--
		s.mu.Unlock()
	}()
	var e eventsv1.Event
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	if r.Method == http.MethodPatch {
		err = json.Unmarshal(body, &e)
	} else {
		_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, &e)
	}
	if err != nil {
		s.t.Error(err)
	}
	name := e.Name
	request := r.Method + " " + e.Regarding.Name + " " + e.Note
	if r.Method == http.MethodPatch {
		name = r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:]
		request = fmt.Sprint("PATCH ", name[:strings.IndexByte(name, '.')], " ", e.Series.Count)
	}
	s.mu.Lock()
	s.requests = append(s.requests, request)
	known := s.seen[name]
	s.seen[name] = true
	s.mu.Unlock()
	switch {
	case s.answer != nil && s.answer(s, w, request):
	case r.Method == http.MethodPost && known:
		refuse(w, http.StatusConflict, "AlreadyExists")
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(&e)
	}
}

// refuse answers as an API server that does not carry out a request.
func refuse(w http.ResponseWriter, code int, reason string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,"reason":%q}`, code, reason)
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		c.Close()
	}
}

func (s *server) list() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// start returns a writer of the server's events that is running, and a function that ends
// it and returns its counts.
func (s *server) start() (*Writer, func() Counts) {
	s.t.Helper()
	w := s.writer()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	return w, func() Counts {
		cancel()
		<-done
		return w.Counts()
	}
}

func (s *server) writer() *Writer {
	s.t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: s.URL, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		s.t.Fatal(err)
	}
	w := New(client, "me", slog.New(slog.NewTextHandler(&s.logs, nil)))
	w.pause, w.drain = time.Millisecond, enough
	return w
}

// enough is how long a test waits for what must happen: far longer than it takes on a slow
// machine that has much else to do.
const enough = 3 * time.Minute

func scheduled(pod, note string) Event {
	return Event{
		Regarding: &api.Pod{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: pod, UID: api.UID(pod)}}, Controller: "default-scheduler",
		Type: corev1.EventTypeNormal, Reason: "Scheduled", Action: "Binding", Note: note,
	}
}

// Events of different pods are written side by side: the server answers none before it has
// several. More than half of those of 5,000 pods were lost when they were written one by one.
func TestSideBySide(t *testing.T) {
	const together, n = writers / 2, 3000
	var once sync.Once
	met := make(chan struct{})
	s := newServer(t, func(s *server, _ http.ResponseWriter, _ string) bool {
		s.mu.Lock()
		open := s.open
		s.mu.Unlock()
		if open >= together {
			once.Do(func() { close(met) })
		}
		select {
		case <-met:
		case <-time.After(enough):
			s.t.Errorf("fewer than %d requests at once", together)
			once.Do(func() { close(met) })
		}
		return false
	})
	w, stop := s.start()
	for i := range n {
		w.Write(scheduled(fmt.Sprint("pod-", i), "bound"))
	}
	s.written(w, n)
	if got := stop(); got != (Counts{Written: n}) || len(s.list()) != n {
		t.Errorf("%+v after %d requests, want %d written", got, len(s.list()), n)
	}
	if s.most > writers {
		t.Errorf("%d requests at once, want at most %d", s.most, writers)
	}
}

// written waits until n events are written.
func (s *server) written(w *Writer, n uint64) {
	s.t.Helper()
	for end := time.Now().Add(enough); w.Counts().Written < n; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("not within %v: %d events written; %+v", enough, n, w.Counts())
		}
	}
}

// Events leave the API server to bindings: until the last one has ended, for a bounded time,
// or until too many wait.
func TestYields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // time passes when everything waits
		w := New(kubernetes.NewForConfigOrDie(&rest.Config{}), "me", slog.New(slog.DiscardHandler))
		one, other := w.Binding(), w.Binding()
		sink := &sink{Writer: w}
		yields := func(since time.Time) time.Duration {
			begin := time.Now()
			sink.yield(t.Context(), since)
			return time.Since(begin)
		}
		if got := yields(time.Now()); got != patience {
			t.Errorf("an event waited %v for two bindings, want %v", got, patience)
		}
		one()
		time.AfterFunc(time.Second, other)
		if got := yields(time.Now()); got != time.Second {
			t.Errorf("an event waited %v for the second binding, which took 1 s", got)
		}
		if got := yields(time.Now()); got != 0 {
			t.Errorf("an event waited %v without a binding", got)
		}
		defer w.Binding()()
		if got := yields(time.Now().Add(1 - patience)); got != 1 {
			t.Errorf("an old event waited %v, want 1 ns", got)
		}
		if got := yields(time.Now().Add(-patience)); got != 0 {
			t.Errorf("an older event waited %v", got)
		}
		w.waiting.Store(many)
		if got := yields(time.Now()); got != 0 {
			t.Errorf("an event waited %v although many wait", got)
		}
		w.waiting.Store(0)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begin := time.Now()
		if sink.yield(ctx, begin); time.Since(begin) != time.Second {
			t.Errorf("an event waited %v, the end came after 1 s", time.Since(begin))
		}
	})
}

// A written event has waited for the binding that was under way.
func TestYieldsToBinding(t *testing.T) {
	s := newServer(t, nil)
	w, stop := s.start()
	done := w.Binding()
	w.Write(scheduled("p", "bound"))
	done()
	s.written(w, 1)
	stop()
}

// Equal events of a pod become a series, whose count is written at the powers of two; others
// are events of their own. Those of one pod keep their order.
func TestSeries(t *testing.T) {
	s := newServer(t, nil)
	w, stop := s.start()
	for range 9 {
		w.Write(scheduled("p", "no"))
	}
	other := scheduled("p", "yes")
	other.Reason = "Other"
	w.Write(other)
	if got, want := stop(), (Counts{Written: 2, Joined: 8}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if got, want := strings.Join(s.list(), "; "), "POST p no; PATCH p 2; PATCH p 4; PATCH p 8; POST p yes"; got != want {
		t.Errorf("requests %s, want %s", got, want)
	}
}

// A series whose event has expired is written anew.
func TestExpiredSeries(t *testing.T) {
	s := newServer(t, func(_ *server, w http.ResponseWriter, request string) bool {
		if !strings.HasPrefix(request, "PATCH") {
			return false
		}
		refuse(w, http.StatusNotFound, "NotFound")
		return true
	})
	w, stop := s.start()
	w.Write(scheduled("p", "first"))
	w.Write(scheduled("p", "second"))
	if got, want := stop(), (Counts{Written: 2}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if got, want := strings.Join(s.list(), "; "), "POST p first; PATCH p 2; POST p second"; got != want {
		t.Errorf("requests %s, want %s", got, want)
	}
}

// Without an answer an event is tried again, under the same name, so it is there once; what
// is refused, as one that is there, is asked for once more, for the reason.
func TestNoAnswer(t *testing.T) {
	var tries int
	s := newServer(t, func(s *server, w http.ResponseWriter, request string) bool {
		switch {
		case strings.HasPrefix(request, "POST lost"):
			s.mu.Lock()
			defer s.mu.Unlock()
			if tries++; tries <= 3 {
				hangUp(w)
				return true
			}
		case strings.HasPrefix(request, "POST dead"):
			hangUp(w)
			return true
		case strings.HasPrefix(request, "POST refused"):
			refuse(w, http.StatusForbidden, "Forbidden")
			return true
		}
		return false
	})
	w, stop := s.start()
	for _, pod := range []string{"lost", "dead", "refused"} {
		w.Write(scheduled(pod, "bound"))
	}
	for end := time.Now().Add(enough); w.Counts().Written+w.Counts().Failed < 3 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if got, want := stop(), (Counts{Written: 1, Failed: 2}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	count := map[string]int{}
	for _, r := range s.requests {
		count[r]++
	}
	if lost, dead, refused := count["POST lost bound"], count["POST dead bound"], count["POST refused bound"]; lost != 5 || dead != maxTries || refused != 2 || len(s.seen) != 3 {
		t.Errorf("%d, %d and %d tries under %d names, want 5, %d and 2 under 3", lost, dead, refused, len(s.seen), maxTries)
	}
	if want := `msg="an event was not written"`; !strings.Contains(s.logs.String(), want) {
		t.Errorf("the log has no %s:\n%s", want, &s.logs)
	}
}

// What finds no room is dropped at once, counted, and the log says so now and then. At the
// end, what waits is still written.
func TestDropped(t *testing.T) {
	s := newServer(t, nil)
	w := s.writer() // it does not run yet
	const over = 5
	for i := range maxEvents + over {
		w.Write(scheduled("p", fmt.Sprint(i)))
	}
	if got, want := w.Counts(), (Counts{Dropped: over}); got != want {
		t.Errorf("counts %+v, want %+v", got, want)
	}
	if got := strings.Count(s.logs.String(), "events are dropped"); got != 3 { // 1, 2, 4
		t.Errorf("%d lines for %d dropped events, want 3:\n%s", got, over, &s.logs)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w.Run(ctx)
	if got, want := w.Counts(), (Counts{Written: 1, Joined: maxEvents - 1, Dropped: over}); got != want {
		t.Errorf("at the end: counts %+v, want %+v", got, want)
	}
}

// An API server that is stuck does not hold up the end: what it does not take is counted.
func TestStuckAtTheEnd(t *testing.T) {
	release := make(chan struct{})
	s := newServer(t, func(_ *server, _ http.ResponseWriter, _ string) bool {
		<-release
		return false
	})
	defer close(release)
	w := s.writer()
	w.drain = 50 * time.Millisecond
	for range 3 {
		w.Write(scheduled("p", "bound"))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	select {
	case <-done:
	case <-time.After(enough):
		t.Fatal("Run does not end")
	}
	if got := w.Counts(); got.Failed+got.Dropped != 3 || got.Written+got.Joined != 0 {
		t.Errorf("%+v, want 3 failed or dropped", got)
	}
}

// A writer remembers a bounded number of series.
func TestForgets(t *testing.T) {
	s := &sink{series: map[seriesKey]*series{}}
	for i := range 3 * maxSeries {
		s.remember(seriesKey{uid: api.UID(fmt.Sprint(i))}, &series{})
	}
	if _, newest := s.series[seriesKey{uid: api.UID(fmt.Sprint(3*maxSeries - 1))}]; len(s.series) != maxSeries || len(s.order) != maxSeries || !newest {
		t.Errorf("%d series in an order of %d (the newest: %t), want %d", len(s.series), len(s.order), newest, maxSeries)
	}
}

// The object is what the stock recorder writes.
func TestObject(t *testing.T) {
	e := scheduled("p", strings.Repeat("ä", 600))
	e.Related = &api.Pod{ObjectMeta: api.ObjectMeta{Namespace: "other", Name: "q", UID: "2", ResourceVersion: "7"}}
	s := &sink{Writer: &Writer{identity: "me"}}
	got := s.event(occurrence{e, time.Now()})
	if len(got.Note) > maxNote || !utf8.ValidString(got.Note) || !strings.HasSuffix(got.Note, "ä ...") {
		t.Errorf("note of %d bytes: %q", len(got.Note), got.Note)
	}
	if got.Namespace != "default" || !strings.HasPrefix(got.Name, "p.") || got.EventTime.IsZero() ||
		got.ReportingController != "default-scheduler" || got.ReportingInstance != "me" || got.Type != "Normal" || got.Reason != "Scheduled" || got.Action != "Binding" {
		t.Errorf("event %+v", got)
	}
	if want := (corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: "default", Name: "p", UID: "p"}); got.Regarding != want {
		t.Errorf("regarding %+v, want %+v", got.Regarding, want)
	}
	if want := (corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: "other", Name: "q", UID: "2", ResourceVersion: "7"}); got.Related == nil || *got.Related != want {
		t.Errorf("related %+v, want %+v", got.Related, want)
	}
	if next := s.event(occurrence{e, got.EventTime.Time}); next.Name == got.Name {
		t.Error("two events of one name")
	}
}

// TestLongNames: the API accepts the names of events about any pod that it accepts.
func TestLongNames(t *testing.T) {
	s := sink{Writer: new(Writer)}
	for n := 1; n <= 253; n++ {
		for _, name := range []string{strings.Repeat("a", n), strings.Repeat("a-", n/2) + "a", strings.Repeat("a.", n/2) + "a"} {
			name = name[:min(len(name), 253)]
			if len(validation.NameIsDNSSubdomain(name, false)) > 0 {
				continue // no pod has it
			}
			made := s.event(occurrence{Event: Event{Regarding: &api.Pod{ObjectMeta: api.ObjectMeta{Namespace: "default", Name: name}}}, at: time.Unix(4e9, 0)})
			if faults := validation.NameIsDNSSubdomain(made.Name, false); len(faults) > 0 {
				t.Fatalf("pod of %d bytes: event %s: %v", len(name), made.Name, faults)
			}
			if prefix, _, _ := strings.Cut(made.Name, "."); n < 200 && !strings.HasPrefix(name, prefix) {
				t.Errorf("event %s is not named after pod %s", made.Name, name)
			}
		}
	}
}
