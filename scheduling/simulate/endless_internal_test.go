//go:build full

package simulate

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// Pods that end at once and are replaced do not keep a run going for ever: it ends with an
// error that names their workload. Of those that ended only the history is kept.
func TestEndlessWorkloads(t *testing.T) {
	for kind, spec := range map[string]string{"Deployment": `"replicas":1,`, "DaemonSet": "", "Job": `"completions":2000000000,"parallelism":3,`} {
		o, err := api.Decode(fmt.Appendf(nil, `{"kind":"List","items":[
			{"kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","memory":"4Gi","pods":"110"}}},
			{"kind":%q,"metadata":{"name":"d","namespace":"x"},"spec":{%s"template":{
				"metadata":{"annotations":{"berth-sched.github.io/run-time":"0"}},"spec":{"containers":[{"name":"c"}]}}}}]}`, kind, spec))
		if err != nil {
			t.Fatal(err)
		}
		trace, err := FromObjects(o)
		if err != nil {
			t.Fatal(err)
		}
		w, err := newWorld(&Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace})
		if err != nil {
			t.Fatal(err)
		}
		const few = 50
		w.made = maxMade - few
		w.clock.AfterFunc(0, w.happen)
		err = w.live(context.Background())
		want := strings.ToLower(kind) + ` x/d: spec.template.metadata.annotations[berth-sched.github.io/run-time]: "0": `
		if err == nil || !strings.Contains(err.Error(), want) || len(w.lives) != few {
			t.Errorf("%s: %v after %d pods, want %q after %d", kind, err, len(w.lives), want, few)
		}
		kept := 0
		for _, l := range w.lives {
			if l.pod != nil {
				kept++
			}
		}
		if kept > 3 {
			t.Errorf("%s: %d pods are kept, want those that have not ended", kind, kept)
		}
	}
}
