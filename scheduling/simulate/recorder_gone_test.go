package simulate_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// TestRecorderForgetsGonePods: an attempt that ends after its pod has gone hides no failure of the
// next pod of that name, as a StatefulSet makes it.
func TestRecorderForgetsGonePods(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	snap := framework.NewSnapshot(framework.Arrival)
	var out bytes.Buffer
	r := simulate.NewRecorder(&out, start)
	r.Applied(at(0), &api.Objects{Nodes: []*api.Node{api.MakeNode("n", "1", "1Gi").Obj()}})
	for i, uid := range []api.UID{"1", "2"} {
		pod, err := snap.NewPodInfo(api.MakePod("web-0").UID(uid).Obj())
		if err != nil {
			t.Fatal(err)
		}
		r.Applied(at(4*i+1), &api.Objects{Pods: []*api.Pod{pod.Pod}})
		failure := errors.New("no node fits")
		if i == 0 {
			r.Deleted(at(2), simulate.Ref{Kind: "Pod", Name: "default/web-0"})
			failure = errors.New("pod not found")
		}
		r.Attempt(&lifecycle.Attempt{Pod: pod, Number: 1, State: lifecycle.Failed, Err: failure, Ended: at(4*i + 3)})
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "no node fits") || strings.Contains(text, "pod not found") {
		t.Errorf("want the failure of the second pod, and not that of the first:\n%s", text)
	}
}
