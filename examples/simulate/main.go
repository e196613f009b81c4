// Simulate lets two days pass on a virtual clock, in a second: services, and nightly jobs
// that come and go. It runs the same days under two profiles, shows how long pods waited,
// and what the second profile decides otherwise.
//
//	go run ./examples/simulate
//
// "berth simulate" does this for the output of kubectl, see examples/berth.
package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scoring"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	objects := days(rand.New(rand.NewPCG(1, 2)))
	if err := objects.Default(); err != nil { // what the API server would fill in
		return err
	}
	trace, err := simulate.FromObjects(objects)
	if err != nil {
		return err
	}
	spread, pack := scheduling.Kubernetes137(), scheduling.Kubernetes137()
	pack.Replace(scoring.NodeResourcesFit{Strategy: scoring.MostAllocated})
	results, err := simulate.RunAll(context.Background(), 2,
		simulate.Config{Profiles: []scheduling.Profile{spread}, Trace: trace, NoControllers: true},
		simulate.Config{Profiles: []scheduling.Profile{pack}, Trace: trace, NoControllers: true})
	if err != nil {
		return err
	}
	for i, name := range []string{"kube-scheduler's own profile spreads", "a profile that packs"} {
		fmt.Fprintf(w, "%s: %d evictions, cpu at most %.0f%% in use\n", name, results[i].Evictions, float64(100*results[i].Peaks[0].Utilization))
		for _, x := range results[i].Waits[1:] { // the first is about all pods
			fmt.Fprintf(w, "  priority %4d: %3d pods waited %v on average, 95%% of them at most %v\n", *x.Priority, x.Pods, seconds(x.Mean), seconds(x.P95))
		}
	}
	differ := simulate.Differences(results[0].Decisions, results[1].Decisions)
	fmt.Fprintf(w, "%d of %d decisions differ\n", len(differ), len(results[0].Decisions))
	return nil
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Second)
}

// days returns ten nodes, with what runs on them for two days.
func days(random *rand.Rand) *api.Objects {
	o := new(api.Objects)
	for i := range 10 {
		o.Nodes = append(o.Nodes, api.MakeNode(fmt.Sprintf("node-%d", i), "8", "32Gi").Zone(fmt.Sprintf("zone-%d", i%3)).Obj())
	}
	for i := range 24 { // services that stay
		o.Pods = append(o.Pods, api.MakePod(fmt.Sprintf("web-%d", i)).Requests("1", "2Gi").Priority(100).Obj())
	}
	for night := range 2 {
		for i := range 60 { // jobs that come within two hours and run for up to five
			p := api.MakePod(fmt.Sprintf("night-%d-%d", night, i)).Requests("1500m", "3Gi").Obj()
			p.Annotations = map[string]string{
				simulate.AnnotationArrival: (time.Duration(22+24*night)*time.Hour + within(random, 2*time.Hour)).String(),
				simulate.AnnotationRunTime: (time.Hour + within(random, 4*time.Hour)).String(),
			}
			o.Pods = append(o.Pods, p)
		}
		for i := range 3 { // large and urgent ones, which preempt
			p := api.MakePod(fmt.Sprintf("urgent-%d-%d", night, i)).Requests("6", "8Gi").Priority(1000).Obj()
			p.Annotations = map[string]string{
				simulate.AnnotationArrival: (time.Duration(24*night+24) * time.Hour).String(),
				simulate.AnnotationRunTime: "90m",
			}
			o.Pods = append(o.Pods, p)
		}
	}
	return o
}

func within(random *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(d))).Round(time.Second)
}
