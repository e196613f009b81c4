package extender

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"sync"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
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
// snapshot does not have are not feasible. The profile's own extenders are not
// called.
//
// A bad request is answered with a status and a line of text: 400 for malformed
// requests, 404 for unknown calls, 405 for other methods than POST, and 413 for too
// much data. The status is 500 if the scheduler fails and the protocol has no field
// for the error.
type Handler struct {
	// Scheduler has the profile. The handler uses it for one request at a time, and
	// nothing else may use it meanwhile.
	Scheduler *scheduling.Scheduler
	// Snapshot returns the cluster to answer from. The handler calls it once per
	// request, for one request after the other. Until the next call nothing else may
	// change, or use, the snapshot. ctx is the request's context.
	Snapshot func(ctx context.Context) (*framework.Snapshot, error)
	// Bind binds a pod; nil means that bind is not supported. Many goroutines may
	// call it at once.
	Bind func(ctx context.Context, b BindingArgs) error
	// MaxBytes bounds a request; 0 means DefaultMaxBytes.
	MaxBytes int64

	mu sync.Mutex
}

// ServeHTTP answers a call.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	verb := path.Base(r.URL.Path)
	var answer func(context.Context, []byte) (any, error)
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
	limit := h.MaxBytes
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, fmt.Sprintf("the request is larger than %d bytes", limit), http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, "reading the request: "+err.Error(), http.StatusBadRequest)
		return
	}
	result, err := answer(r.Context(), body)
	if err == nil {
		body, err = json.Marshal(result)
	}
	if err != nil {
		status := http.StatusInternalServerError
		if errors.As(err, new(*requestError)) {
			status = http.StatusBadRequest
		}
		http.Error(w, err.Error(), status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client may have gone
}

// A requestError reports a bad request.
type requestError struct{ err error }

func (e *requestError) Error() string { return "malformed request: " + e.err.Error() }

// decode decodes a request.
func decode[T any](body []byte) (*T, error) {
	v := new(T)
	if err := json.Unmarshal(body, v); err != nil {
		return nil, &requestError{err}
	}
	return v, nil
}

// A request is what the client asks: the decoded body of a call.
type request[T any] interface {
	*T
	// about returns the pod that the request is about, or what is wrong with the request.
	about() (*api.Pod, error)
}

// ask decodes a request and lets answer answer it, one request at a time.
func ask[T any, R request[T]](ctx context.Context, h *Handler, body []byte, answer func(context.Context, question, R) (any, error)) (any, error) {
	args, err := decode[T](body)
	if err != nil {
		return nil, err
	}
	pod, err := R(args).about()
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	q, err := h.begin(ctx, pod)
	if err != nil {
		return nil, err
	}
	return answer(ctx, q, args)
}

// question is a request's pod and the snapshot to answer from.
type question struct {
	snap *framework.Snapshot
	pod  *framework.PodInfo
}

// begin prepares an answer. The caller must hold the handler's lock.
func (h *Handler) begin(ctx context.Context, pod *api.Pod) (q question, err error) {
	if pod == nil {
		return q, &requestError{errors.New("there is no Pod")}
	}
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
	if q.pod, err = q.snap.NewPodInfo(pod); err != nil {
		return q, &requestError{err}
	}
	return q, nil
}

func (a *Args) about() (*api.Pod, error) {
	if a.NodeNames == nil && a.Nodes == nil {
		return nil, &requestError{errors.New("there are neither Nodes nor NodeNames")}
	}
	return a.Pod, nil
}

// names returns the names of the nodes that a request is about.
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

// find returns the nodes of those names that the snapshot has, each once.
func (q question) find(names []string) []*framework.NodeInfo {
	nodes := make([]*framework.NodeInfo, 0, len(names))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if n := q.snap.Node(name); n != nil && !seen[name] {
			seen[name] = true
			nodes = append(nodes, n)
		}
	}
	return nodes
}
