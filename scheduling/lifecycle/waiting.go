package lifecycle

import (
	"container/list"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// waiting is the list of the pods that wait on Permit. It has its own lock, because
// any goroutine may read it.
type waiting struct {
	mu   sync.Mutex
	pods list.List // of *waitingPod, in the order in which they began to wait
}

func (l *waiting) add(w *waitingPod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.place = l.pods.PushBack(w)
}

func (l *waiting) remove(w *waitingPod) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.place != nil {
		l.pods.Remove(w.place)
		w.place = nil
	}
}

func (l *waiting) all() []*waitingPod {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]*waitingPod, 0, l.pods.Len())
	for e := l.pods.Front(); e != nil; e = e.Next() {
		list = append(list, e.Value.(*waitingPod))
	}
	return list
}

// waitingPod is a [framework.WaitingPod]. Every plugin that waits has a timer, so
// the plugin with the shortest time decides if nothing else does.
type waitingPod struct {
	pod     *framework.PodInfo
	node    string
	decided func() // is called once, by the caller that decides

	place *list.Element // in waiting.pods, under its lock

	mu      sync.Mutex
	pending map[string]func() bool // the waiting plugins, and how to stop their timers
	done    bool
	err     error // why the pod must not be bound
}

// newWaitingPod starts the timers. decided may be called before newWaitingPod
// returns.
func newWaitingPod(clock framework.Clock, b *scheduling.Binding, waits []scheduling.PermitWait, decided func()) *waitingPod {
	w := &waitingPod{pod: b.Pod, node: b.Node, decided: decided, pending: map[string]func() bool{}}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range waits {
		w.pending[p.Plugin] = clock.AfterFunc(p.Timeout, func() {
			w.Reject(p.Plugin, fmt.Sprintf("rejected due to timeout after waiting %v at plugin %s", p.Timeout, p.Plugin))
		})
	}
	return w
}

// Pod implements [framework.WaitingPod].
func (w *waitingPod) Pod() *framework.PodInfo { return w.pod }

// Node implements [framework.WaitingPod].
func (w *waitingPod) Node() string { return w.node }

// Pending implements [framework.WaitingPod].
func (w *waitingPod) Pending() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]string, 0, len(w.pending))
	for name := range w.pending {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// Allow implements [framework.WaitingPod].
func (w *waitingPod) Allow(plugin string) {
	w.mu.Lock()
	stop, ok := w.pending[plugin]
	if !ok || w.done {
		w.mu.Unlock()
		return
	}
	stop()
	delete(w.pending, plugin)
	if w.done = len(w.pending) == 0; !w.done {
		w.mu.Unlock()
		return
	}
	w.mu.Unlock()
	w.decided()
}

// Reject implements [framework.WaitingPod].
func (w *waitingPod) Reject(plugin, message string) bool {
	return w.refuse(&scheduling.FitError{
		Pod: w.pod.Pod.Key(), Nodes: 1,
		Rejections: []scheduling.Rejection{{Plugin: plugin, Status: framework.UnschedulableStatus(framework.Text(message)), Nodes: 1}},
	})
}

// Preempt implements [framework.WaitingPod].
func (w *waitingPod) Preempt(plugin, message string) bool {
	return w.refuse(&scheduling.PluginError{Point: "WaitOnPermit", Plugin: plugin, Err: errors.New(message)})
}

func (w *waitingPod) refuse(err error) bool {
	w.mu.Lock()
	if w.done {
		w.mu.Unlock()
		return false
	}
	w.done, w.err = true, err
	for name, stop := range w.pending {
		stop()
		delete(w.pending, name)
	}
	w.mu.Unlock()
	w.decided()
	return true
}

// decision reports whether there is a decision, and the error if the pod must not be
// bound.
func (w *waitingPod) decision() (done bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done, w.err
}
