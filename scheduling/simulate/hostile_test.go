//go:build full

package simulate_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// nodeLine and head begin a trace.
const nodeLine = `{"at":"0s","apply":{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","memory":"8Gi","pods":"110"}}}}` + "\n"

const head = `{"trace":"berth/1","start":"2030-01-01T00:00:00Z"}` + "\n"

func podLine(at, name, rest string) string {
	return fmt.Sprintf(`{"at":%q,"apply":{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q}%s}}`+"\n", at, name, rest)
}

func workloadLine(kind, api, spec, annotations, request string) string {
	return fmt.Sprintf(`{"at":"0s","apply":{"kind":%q,"apiVersion":%q,"metadata":{"name":"w"},"spec":{%s"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"},"annotations":{%s}},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":%q}}}]}}}}}`+"\n", kind, api, spec, annotations, request)
}

// TestHostileTraces: small hostile traces end soon, and errors do not repeat them.
func TestHostileTraces(t *testing.T) {
	run := func(d string) string { return `"berth-sched.github.io/run-time":"` + d + `"` }
	for name, text := range map[string]string{
		"zero run time":        head + nodeLine + workloadLine("Deployment", "apps/v1", `"replicas":1,`, run("0s"), "1"),
		"1ns run time":         head + nodeLine + workloadLine("Deployment", "apps/v1", `"replicas":1,`, run("1ns"), "1"),
		"job many":             head + nodeLine + workloadLine("Job", "batch/v1", `"completions":2147483647,"parallelism":2147483647,`, run("1ns"), "1"),
		"job serial":           head + nodeLine + workloadLine("Job", "batch/v1", `"completions":2147483647,"parallelism":1,`, run("1ns"), "1"),
		"many replicas":        head + nodeLine + workloadLine("Deployment", "apps/v1", `"replicas":2147483647,`, "", "1"),
		"million replicas":     head + nodeLine + workloadLine("Deployment", "apps/v1", `"replicas":900000,`, "", "1"),
		"negative replicas":    head + nodeLine + workloadLine("Deployment", "apps/v1", `"replicas":-5,`, "", "1"),
		"negative job":         head + nodeLine + workloadLine("Job", "batch/v1", `"completions":-5,"parallelism":-7,`, run("1s"), "1"),
		"statefulset ordinals": head + nodeLine + workloadLine("StatefulSet", "apps/v1", `"replicas":5,"ordinals":{"start":2147483647},`, "", "1"),
		"long run":             head + nodeLine + workloadLine("Deployment", "apps/v1", `"replicas":1,`, run("2562047h47m16.854775807s"), "1"),
		"late":                 head + nodeLine + podLine("2562047h47m16.854775807s", "p", ""),
		"far start":            `{"trace":"berth/1","start":"9999-12-31T23:59:59Z"}` + "\n" + nodeLine + podLine("2562047h", "p", ""),
		"early start":          `{"trace":"berth/1","start":"0001-01-01T00:00:00Z"}` + "\n" + nodeLine + podLine("1s", "p", ""),
		"after":                head + nodeLine + `{"at":"1s","after":9223372036854775807,"apply":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q"}}}` + "\n",
		"after negative":       head + nodeLine + `{"at":"1s","after":-9223372036854775808,"apply":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q"}}}` + "\n",
		"recorded after":       `{"trace":"berth/1","start":"2030-01-01T00:00:00Z","recorded":true}` + "\n" + nodeLine + `{"at":"1s","after":9223372036854775807,"apply":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q"}}}` + "\n",
		"wakes":                `{"trace":"berth/1","start":"2030-01-01T00:00:00Z","recorded":true}` + "\n" + nodeLine + strings.Repeat(`{"at":"1s","wake":true}`+"\n", 10000),
		"evicted":              head + nodeLine + podLine("0s", "p", "") + `{"at":"1s","evicted":"2562047h","delete":{"kind":"Pod","namespace":"default","name":"p"}}` + "\n",
		"owner":                head + nodeLine + strings.Repeat(`{"at":"1s","apply":{"kind":"ReplicaSet","apiVersion":"apps/v1","metadata":{"name":"w"},"spec":{"replicas":3}}}`+"\n", 2000),
		"flapping node":        head + strings.Repeat(nodeLine+`{"at":"0s","delete":{"kind":"Node","name":"n1"}}`+"\n", 3000) + podLine("1s", "p", ""),
		"huge pods waiting": head + nodeLine + func() string {
			var b strings.Builder
			for i := range 3000 {
				b.WriteString(podLine("0s", fmt.Sprint("p", i), fmt.Sprintf(`,"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"%d"}}}]}`, 5+i)))
			}
			return b.String()
		}(),
		"daemon":    head + nodeLine + workloadLine("DaemonSet", "apps/v1", "", run("0s"), "1"),
		"huge cpu":  head + nodeLine + workloadLine("Deployment", "apps/v1", `"replicas":3,`, run("1s"), "9e999"),
		"bad start": `{"trace":"berth/1","start":"` + strings.Repeat("9", 1<<20) + `"}`,
		"long at":   head + `{"at":"` + strings.Repeat("1h", 1<<19) + `","wake":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			tr, err := simulate.ReadTrace(strings.NewReader(text))
			if err != nil {
				wantShort(t, err)
				return
			}
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			for _, until := range []time.Duration{0, time.Hour} {
				r, err := simulate.Run(ctx, simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: tr, Until: until})
				wantShort(t, err)
				if err == nil {
					_ = r.WritePods(io.Discard)
				}
			}
			_ = tr.Write(io.Discard)
			_, _, err = simulate.Replay(ctx, simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: tr})
			wantShort(t, err)
			if ctx.Err() != nil {
				t.Error("takes more than 30 s")
			}
		})
	}
}

// wantShort checks that an error, if there is one, does not repeat a long input.
func wantShort(t *testing.T, err error) {
	t.Helper()
	if err != nil && len(err.Error()) > 8<<10 {
		t.Errorf("the error has %d bytes: %.200v", len(err.Error()), err)
	}
}

// TestHostileAnnotations: annotations of a dump, and objects that are nil.
func TestHostileAnnotations(t *testing.T) {
	for _, a := range [][2]string{
		{"berth-sched.github.io/arrival", "-1s"},
		{"berth-sched.github.io/arrival", "2562047h47m16.9s"},
		{"berth-sched.github.io/run-time", "-1s"},
		{"berth-sched.github.io/run-time", strings.Repeat("9", 1<<20)},
		{"berth-sched.github.io/arrival", "NaN"},
	} {
		o := &api.Objects{Nodes: []*api.Node{api.MakeNode("n", "4", "8Gi").Obj(), nil}, Pods: []*api.Pod{api.MakePod("p").Annotations(a[0], a[1]).Obj(), nil}}
		_, err := simulate.FromObjects(o)
		if err == nil {
			t.Errorf("%.60v: no error", a)
		}
		wantShort(t, err)
	}
}
