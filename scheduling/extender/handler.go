package extender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"sync"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
)

// A Handler answers the extender protocol from a profile: the calls filter,
// prioritize, preempt and bind, which are the last elements of the paths. It serves
// clients that are nodeCacheCapable, and others.
//
// filter returns the verdicts of the profile's filters with their reasons.
// prioritize returns the profile's total of each requested node, scaled so that
// [MaxPriority] is the highest possible total, and rounded. preempt keeps the
// candidates where the pod is feasible once the victims have gone. Nodes that the
// snapshot does not have are not feasible; filter gives that reason for 1,000 of
// them. The profile's own extenders are not called.
//
// A bad request is answered with a status and a line of text: 400 for malformed
// requests and for those that name far more nodes than the snapshot has, 404 for
// unknown calls, 405 for other methods than POST, and 413 for too much data. The
// status is 500 if the scheduler fails and the protocol has no field for the error.
type Handler struct {
	// Scheduler has the profile. The handler uses it for one request at a time, and
	// nothing else may use it meanwhile.
	Scheduler *scheduling.Scheduler
	// Snapshot returns the cluster to answer from. The handler calls it once per
	// request, for one request after the other. Until the next call nothing else may
	// change, or use, the snapshot. ctx is the request's context.
	Snapshot func(ctx context.Context) (*framework.Snapshot, error)
	// Bind binds a pod; nil means that bind is not supported. Many goroutines may
	// call it at once. The pod and the node have names.
	Bind func(ctx context.Context, b BindingArgs) error
	// ErrorText returns the text that a client gets for an error of Scheduler,
	// Snapshot or Bind. nil means "internal error", because the texts of errors may
	// hold what clients must not know. Many goroutines may call it at once.
	ErrorText func(err error) string
	// MaxBytes bounds a request; 0 means DefaultMaxRequest, and it must not be
	// negative.
	MaxBytes int64
	// MaxWaiting bounds the bodies of all requests together, in bytes, each from its
	// first byte to its answer, and then the answer until it is written. Beyond it, the
	// answer is status 503. 0 means
	// DefaultMaxWaiting, or MaxBytes if that is more; it must not be less than MaxBytes.
	// A client that sends or reads slowly keeps its share, so set ReadTimeout and WriteTimeout of
	// your http.Server.
	MaxWaiting int64

	waiting  atomic.Int64 // the bytes that count against MaxWaiting
	once     sync.Once
	decoding chan struct{} // holds a value for each request that is decoded
	long     chan struct{} // and for each of these that is long
	schema   atomic.Pointer[resource.Schema]
	mu       sync.Mutex // held while Scheduler and a snapshot are used
}

// A handler holds maxDecoding requests decoded at once, and only maxLong of more than short bytes. The
// others wait with their bodies as text, which MaxWaiting bounds.
const (
	maxDecoding = 3
	maxLong     = 2
	short       = 64 << 10
)

// ServeHTTP answers a call.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	verb := path.Base(r.URL.Path)
	var answer func(context.Context, []byte) ([]byte, error)
	switch {
	case verb == "filter":
		answer = h.filter
	case verb == "prioritize":
		answer = h.prioritize
	case verb == "preempt":
		answer = h.preempt
	case verb == "bind" && h.Bind != nil:
		answer = h.bind
	default:
		http.Error(w, fmt.Sprintf("no call %q: want filter, prioritize, preempt or, where pods are bound, bind", verb), http.StatusNotFound)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, r.Method+": want POST", http.StatusMethodNotAllowed)
		return
	}
	limits, err := h.limits()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	counted := &countedBody{from: http.MaxBytesReader(w, r.Body, limits.request), total: &h.waiting, most: limits.waiting}
	defer counted.release()
	body, err := io.ReadAll(counted)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, fmt.Sprintf("the request is larger than %d bytes", limits.request), http.StatusRequestEntityTooLarge)
		return
	case errors.Is(err, errFull):
		refuseFull(w, limits)
		return
	case err != nil:
		http.Error(w, "reading the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	body, err = answer(r.Context(), body)
	var malformed *requestError
	switch {
	case errors.As(err, &malformed):
		http.Error(w, malformed.Error(), http.StatusBadRequest)
		return
	case err != nil:
		http.Error(w, h.text(err), http.StatusInternalServerError)
		return
	}
	if !counted.become(len(body)) {
		refuseFull(w, limits)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client may have gone
}

func refuseFull(w http.ResponseWriter, l limits) {
	w.Header().Set("Retry-After", "1")
	http.Error(w, fmt.Sprintf("the requests that wait hold more than %d bytes: try again later", l.waiting), http.StatusServiceUnavailable)
}

// text returns the text of an error for a client.
func (h *Handler) text(err error) string {
	if h.ErrorText != nil {
		return h.ErrorText(err)
	}
	return "internal error"
}

// A requestError reports a bad request.
type requestError struct{ err error }

func (e *requestError) Error() string { return "malformed request: " + shown(e.err.Error()) }

// decoded calls f, which decodes a request and answers it, once few enough others are
// decoded. Short ones do not wait for long ones to end.
func (h *Handler) decoded(ctx context.Context, body []byte, f func() error) error {
	h.once.Do(func() { h.decoding, h.long = make(chan struct{}, maxDecoding), make(chan struct{}, maxLong) })
	rooms := []chan struct{}{h.long, h.decoding}
	if len(body) <= short {
		rooms = rooms[1:]
	}
	for _, room := range rooms {
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return f()
}

// read decodes a request into *p.
func read(body []byte, p any) error {
	if err := decodeAll(body, p); err != nil {
		return &requestError{err}
	}
	return nil
}

// derive derives a request's pod for the schema of the last snapshot, so that this
// work is mostly done before the handler is locked. It is nil before there was one.
func (h *Handler) derive(pod *api.Pod) (*framework.PodInfo, error) {
	if pod == nil {
		return nil, &requestError{errors.New("there is no Pod")}
	}
	schema := h.schema.Load()
	if schema == nil {
		return nil, nil
	}
	info, err := framework.NewPodInfo(pod, schema)
	if err != nil {
		return nil, &requestError{err}
	}
	return info, nil
}

// A message is the body of a request about a pod.
type message interface {
	// about returns the pod, nil if there is none.
	about() *api.Pod
	// check returns an error if the message lacks what its verb needs.
	check() error
}

// A question is a request's pod and the snapshot to answer from.
type question struct {
	snap *framework.Snapshot
	pod  *framework.PodInfo
}

// ask decodes a request into m, lets answer look at the snapshot, with the handler locked,
// and encodes the answer. Decoding, deriving the pod and encoding do not happen under the
// lock, so that a large request does not hold it. A request counts as decoded while it waits
// for the lock and while it is encoded: its memory is many times its text.
func (h *Handler) ask(ctx context.Context, body []byte, m message, answer func(question) (any, error)) (text []byte, err error) {
	err = h.decoded(ctx, body, func() error {
		if err := read(body, m); err != nil {
			return err
		}
		if err := m.check(); err != nil {
			return &requestError{err}
		}
		result, err := h.answer(ctx, m.about(), answer)
		if err != nil {
			return err
		}
		text, err = encode(result)
		return err
	})
	return text, err
}

// answer lets f look at the snapshot and the pod, with the handler locked.
func (h *Handler) answer(ctx context.Context, pod *api.Pod, f func(question) (any, error)) (any, error) {
	info, err := h.derive(pod)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	q, err := h.begin(ctx, pod, info)
	if err != nil {
		return nil, err
	}
	return f(q)
}

// begin prepares an answer about the pod; info is what derive has returned. The caller
// must hold the handler's lock.
func (h *Handler) begin(ctx context.Context, pod *api.Pod, info *framework.PodInfo) (q question, err error) {
	if h.Scheduler == nil || h.Snapshot == nil {
		return q, errors.New("the handler has no Scheduler or no Snapshot")
	}
	if err := ctx.Err(); err != nil {
		return q, err
	}
	if q.snap, err = h.Snapshot(ctx); err != nil {
		return q, fmt.Errorf("snapshot: %w", err)
	}
	if q.snap == nil {
		return q, errors.New("snapshot: there is none")
	}
	schema := q.snap.Schema()
	h.schema.Store(schema)
	if q.pod = info; info == nil || info.Schema() != schema {
		if q.pod, err = framework.NewPodInfo(pod, schema); err != nil {
			return q, &requestError{err}
		}
	}
	return q, nil
}

func (a *Args) about() *api.Pod { return a.Pod }

func (a *Args) check() error {
	if a.NodeNames == nil && a.Nodes == nil {
		return errors.New("there are neither Nodes nor NodeNames")
	}
	return nil
}

// names returns the names of the nodes that a checked request is about.
func (a *Args) names() []string {
	if a.NodeNames != nil {
		return *a.NodeNames
	}
	names := make([]string, len(a.Nodes.Items))
	for i, n := range a.Nodes.Items {
		names[i] = n.Name
	}
	return names
}

// A request may name twice the nodes of the snapshot, and so many more: the snapshot may be behind.
const namesMore = 100_000

// allow returns an error if a request is about too many nodes.
func (q question) allow(nodes int) error {
	if most := 2*q.snap.Len() + namesMore; nodes > most {
		return &requestError{fmt.Errorf("there are %d nodes: at most %d are allowed, twice those of the cluster and %d more", nodes, most, namesMore)}
	}
	return nil
}

// find returns the nodes of those names that the snapshot has, each once, and the first of the names that
// it does not have.
func (q question) find(names []string) (nodes []*framework.NodeInfo, unknown []string, err error) {
	if err := q.allow(len(names)); err != nil {
		return nil, nil, err
	}
	nodes = make([]*framework.NodeInfo, 0, min(len(names), q.snap.Len()))
	seen := make(map[string]bool, min(len(names), q.snap.Len()))
	for _, name := range names {
		switch n := q.snap.Node(name); {
		case seen[name] || n == nil && len(unknown) == unknownMost:
			continue
		case n != nil:
			nodes = append(nodes, n)
		default:
			unknown = append(unknown, name)
		}
		seen[name] = true
	}
	return nodes, unknown, nil
}
