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
		if groups := w.scaler.groups(w); len(groups) != 0 {
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
	w.scaler.helps(w, nil)
	if len(w.scaler.helped) != 0 {
		t.Error("the scaler remembers a pod that has found its place")
	}
}
