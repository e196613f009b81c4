package scheduling

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A MutationError says that a pod or a node changed while a decision was made: a plugin
// writes to what it may only read, so totals and kept answers may be wrong. A scheduler
// whose profile sets Cache.Verify looks for it: in every decision at the pod, and in
// every eighth one at eight nodes, which are other ones each time. A changed node may
// so be found late, or not at all if the change is taken back.
type MutationError struct {
	// Plugin is the plugin that does it again to a copy, "" if none does, and Point
	// where it does.
	Plugin, Point string
	// Object is what changed, such as "pod default/web", from Before to After as JSON.
	Object        string
	Before, After string
}

// Error names the plugin and the object.
func (e *MutationError) Error() string {
	if e.Plugin == "" {
		return fmt.Sprintf("%s changed during a decision, and no plugin does it again", e.Object)
	}
	return fmt.Sprintf("plugin %q changes %s at %s; it must only read it", e.Plugin, e.Object, e.Point)
}

// watchedNodes is how many nodes are watched, in one of so many decisions.
const watchedNodes = 8

// watched is what must not change during a decision, as text.
type watched struct {
	pod   *framework.PodInfo
	nodes []*framework.NodeInfo
	texts []string // of the pod, then of the nodes
}

// watch writes down what must not change during the next decision.
func (s *Scheduler) watch(snap *framework.Snapshot, pod *framework.PodInfo) *watched {
	w := &watched{pod: pod}
	if n := snap.Len(); n > 0 && s.number%watchedNodes == 0 {
		for i := range min(watchedNodes, n) {
			w.nodes = append(w.nodes, snap.At((int(s.number%uint64(n))+i)%n))
		}
	}
	w.texts = w.describe()
	return w
}

func (w *watched) describe() []string {
	texts := []string{textOf(w.pod.Pod)}
	for _, n := range w.nodes {
		requested := n.Requested // trailing zeros mean nothing
		for len(requested) > 0 && requested[len(requested)-1] == 0 {
			requested = requested[:len(requested)-1]
		}
		texts = append(texts, textOf(struct {
			Node                   *api.Node
			Allocatable, Requested []int64
			AllowedPods            int64
			NonZero                [2]int64
			Pods                   int
		}{n.Node, n.Allocatable, requested, n.AllowedPods, n.NonZeroRequested, len(n.Pods)}))
	}
	return texts
}

func textOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// mutation returns an error if something has changed since watch.
func (s *Scheduler) mutation(w *watched, number uint64) error {
	for i, now := range w.describe() {
		if now == w.texts[i] {
			continue
		}
		e := &MutationError{Object: "pod " + w.pod.Pod.Key(), Before: w.texts[i], After: now}
		if i > 0 {
			e.Object = "node " + w.nodes[i-1].Name()
		}
		e.Plugin, e.Point = s.culprit(w, number)
		return e
	}
	return nil
}

// culprit asks one plugin after the other about copies of what was watched, as it was
// before, and returns the first that changes them.
func (s *Scheduler) culprit(w *watched, number uint64) (plugin, point string) {
	copied, err := w.restore()
	if err != nil {
		return "", ""
	}
	last, changes := copied.describe(), int64(0)
	// Measure reads this clock before and after each plugin. It ticks with each change.
	clock := func() time.Time {
		for i, text := range copied.describe() {
			if text != last[i] {
				changes++
				last[i] = text
			}
		}
		return time.Unix(changes, 0)
	}
	for _, t := range s.Measure(copied.snapshot, copied.pod, Decision{Number: number}, clock) {
		if t.Duration > 0 {
			return t.Plugin, t.Point
		}
	}
	return "", ""
}

// A restored is a copy of what was watched, in a snapshot of its own.
type restored struct {
	watched
	snapshot *framework.Snapshot
}

// restore copies the pod and the nodes from their texts.
func (w *watched) restore() (*restored, error) {
	r := &restored{snapshot: framework.NewSnapshot(framework.Arrival)}
	nodes := w.nodes
	for i, n := range nodes {
		var before struct{ Node *api.Node }
		if err := json.Unmarshal([]byte(w.texts[1+i]), &before); err != nil {
			return nil, err
		}
		if err := r.snapshot.AddNode(before.Node); err != nil {
			return nil, err
		}
		for _, p := range n.Pods {
			info, err := r.snapshot.NewPodInfo(p.Pod)
			if err != nil {
				return nil, err
			}
			if err := r.snapshot.AddPod(info, before.Node.Name); err != nil {
				return nil, err
			}
		}
	}
	if len(nodes) == 0 { // plugins are asked only if there is a node
		if err := r.snapshot.AddNode(api.MakeNode("node", "1", "1Gi").Obj()); err != nil {
			return nil, err
		}
	}
	pod := new(api.Pod)
	err := json.Unmarshal([]byte(w.texts[0]), pod)
	if err == nil {
		r.pod, err = r.snapshot.NewPodInfo(pod)
	}
	for _, n := range r.snapshot.All() {
		r.nodes = append(r.nodes, n)
	}
	return r, err
}
