//go:build full

package simulate

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/virtualclock"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// After nodes that came in vain, the autoscaler waits ever longer before it orders more for a
// pod, so a run ends. The first time it does not wait.
func TestAutoscalerBacksOff(t *testing.T) {
	l := &life{pod: &api.Pod{}}
	w := &world{
		config: &Config{Autoscaler: &Autoscaler{Every: time.Second, Delay: time.Minute}},
		clock:  virtualclock.New(time.Unix(0, 0)), pods: map[string]*life{"default/p": l}, stuck: map[*life]bool{l: true},
		scaler: scaler{helped: map[*life]help{}},
	}
	delivered := w.clock.Now().Add(time.Minute)
	for i, want := range []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second} {
		w.scaler.helps(w, []whatif.Placed{{Pod: "default/p", Node: "new-0"}})
		if got := w.scaler.helped[l].next.Sub(delivered); got != want {
			t.Errorf("after %d orders: waits %v after the node came, want %v", i+1, got, want)
		}
		if groups := w.scaler.groups(w, state{}); len(groups) != 0 {
			t.Errorf("after %d orders, another one at once", i+1)
		}
	}
	for range 100 {
		w.scaler.helps(w, []whatif.Placed{{Pod: "default/p", Node: "new-0"}})
	}
	if got := w.scaler.helped[l].next.Sub(delivered); got < longest {
		t.Errorf("after 104 orders: waits %v, want ever longer", got)
	}
	delete(w.stuck, l)
	w.scaler.forget(w)
	if len(w.scaler.helped) != 0 {
		t.Error("the scaler remembers a pod that has found its place")
	}
}

// Pods that no node helps are not looked at again before the cluster changes, and then after those
// that were not looked at yet.
func TestAutoscalerTakesTurns(t *testing.T) {
	w := &world{
		config: &Config{Autoscaler: &Autoscaler{}}, clock: virtualclock.New(time.Unix(0, 0)),
		stuck: map[*life]bool{}, scaler: scaler{helped: map[*life]help{}},
	}
	const pods = 2*maxOrder + 10
	for i := range pods {
		w.stuck[&life{pod: &api.Pod{}, serial: i}] = true
	}
	look := func(here state) (first, n int) {
		w.clock.Advance(time.Second)
		groups := w.scaler.groups(w, here)
		if len(groups) == 0 {
			return 0, 0
		}
		for _, l := range groups[0] {
			w.scaler.helped[l] = help{seen: w.clock.Now(), at: here}
		}
		return groups[0][0].serial, len(groups[0])
	}
	for i, want := range [][2]int{{0, maxOrder}, {maxOrder, maxOrder}, {2 * maxOrder, 10}, {0, 0}} {
		if first, n := look(state{1, 1, 0}); first != want[0] || n != want[1] {
			t.Errorf("look %d: %d pods from %d on, want %d from %d on", i, n, first, want[1], want[0])
		}
	}
	for i, here := range []state{{2, 1, 0}, {2, 1, 1}} {
		if first, n := look(here); first != i*maxOrder || n != maxOrder {
			t.Errorf("change %d: %d pods from %d on, want %d from %d on", i, n, first, maxOrder, i*maxOrder)
		}
	}
	w.clock.Advance(lookAgain)
	if _, n := look(state{2, 1, 1}); n != maxOrder {
		t.Errorf("after %v, %d pods are looked at, want %d", lookAgain, n, maxOrder)
	}
}
