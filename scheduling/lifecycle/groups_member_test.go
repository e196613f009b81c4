//go:build full

package lifecycle_test

import (
	"errors"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	groups "github.com/berth-sched/berth/scheduling/gang"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// TestGroupPodIsMadeAgain: a pod of a group that is deleted while it is bound counts until
// its binding ends. Another pod of its name is tried at once all the same.
func TestGroupPodIsMadeAgain(t *testing.T) {
	profile := scheduling.Kubernetes137()
	profile.Cache.Verify = true
	w := newWorldWith(t, lifecycle.Config{Profiles: []scheduling.Profile{profile}, Groups: &groups.Rules{}, Bindings: 1}, lifecycle.NewHandle())
	w.confirm = true
	begun, end := make(chan struct{}), make(chan struct{})
	w.refuse = func(pod *api.Pod, _ string) error {
		if pod.UID == "first" {
			close(begun)
			<-end
			return errors.New("no such pod")
		}
		return nil
	}
	w.nodes(api.MakeNode("n", "4", "16Gi"))
	w.d.Apply(lifecycle.Update(podGroup("g", 1, 0)))
	pod := func(uid api.UID) *api.Pod {
		p := groupPod("g-0", "g", "1", 0)
		p.UID = uid
		return p
	}
	w.d.Apply(lifecycle.Update(pod("first")))
	if list := w.all(); len(list) != 1 || list[0].State != lifecycle.Binding {
		t.Fatalf("attempts %+v, want one that binds", list)
	}
	<-begun
	w.d.Apply(lifecycle.Delete(pod("first")))
	w.d.Apply(lifecycle.Update(pod("second")))
	if list := w.all(); len(list) != 1 || list[0].State != lifecycle.Binding || list[0].Err != nil {
		t.Errorf("attempts %+v, want one that binds the second pod", list)
	}
	w.wantOn("n", "g-0", "g-0")
	close(end)
	flushUntil(t, w, func() bool { return len(w.on("n")) == 1 && w.d.Counts().Assumed == 0 })
	w.noProblems()
}

// TestGroupHearsOfEachPod: a change of any pod of a waiting group brings the group back if
// it may help that pod, as in kube-scheduler, whichever pod the queue holds.
func TestGroupHearsOfEachPod(t *testing.T) {
	for _, name := range []string{"g-0", "g-1", "g-2"} {
		w := newGroupWorld(t, groups.Rules{})
		w.nodes(api.MakeNode("n", "5", "16Gi"))
		w.d.Apply(lifecycle.Update(podGroup("g", 3, 0)))
		w.apply(groupPod("g-0", "g", "2", 0), groupPod("g-1", "g", "2", 0), groupPod("g-2", "g", "2", 0))
		w.expect("without room")

		other := groupPod(name, "g", "2", 0)
		other.Annotations = map[string]string{"a": "b"}
		w.apply(other)
		w.pass(time.Minute)
		if list := w.all(); len(list) != 0 {
			t.Errorf("%s: %d attempts after a change that helps nobody, want 0", name, len(list))
		}
		w.apply(groupPod(name, "g", "1", 0))
		w.pass(time.Minute)
		w.expect("after "+name+" asks for less", "g-0", "g-1", "g-2")
	}
}
