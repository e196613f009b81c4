// Loadaware tells the story of a hot spot: the same pods come to the same nodes under
// request-based and under load-aware scheduling. Pods use more or less than they request,
// and two nodes are busy with work that requests do not show.
//
//	go run ./examples/loadaware
package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scoring"
)

// The scene.
const (
	nodes, cores = 12, 16
	pods         = 300
	minutes      = 150
	hot          = 80 // a node with more percent in use is hot
)

// useLabel says on a pod what it really uses, in thousandths of a core.
const useLabel = "example.com/use"

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "loadaware:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	load, err := estimator.NewLoad(estimator.LoadConfig{})
	if err != nil {
		return err
	}
	byRequests := scheduling.Profile{
		Filter: []framework.Plugin{filter.NodeName{}, filter.NodeResourcesFit{}},
		Score:  []scheduling.Weighted{{Plugin: scoring.NodeResourcesFit{}}},
		Seed:   1,
	}
	byLoad := scheduling.Profile{
		Filter:  []framework.Plugin{filter.NodeName{}, filter.NodeResourcesFit{}, filter.LoadAware{Load: load}},
		Score:   []scheduling.Weighted{{Plugin: scoring.LoadAware{Load: load}}},
		Reserve: []framework.Plugin{estimator.Assigner{}},
		Seed:    1,
	}
	objects := scene()
	trace, err := simulate.FromObjects(objects)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d pods of 1 core come to %d nodes of %d cores; two nodes are busy already.\n\n", pods, nodes, cores)
	fmt.Fprintf(w, "%-12s %8s %8s %8s   CPU in use on the hottest node, every 10 minutes\n", "placed by", "hottest", "hot", "waited")
	for _, side := range []struct {
		name    string
		profile scheduling.Profile
	}{{"requests", byRequests}, {"load", byLoad}} {
		result, err := simulate.Run(context.Background(), simulate.Config{
			Profiles: []scheduling.Profile{side.profile}, Trace: trace, NoControllers: true, Until: minutes * time.Minute, Usage: usage,
		})
		if err != nil {
			return err
		}
		tell(w, side.name, result, objects)
	}
	fmt.Fprintf(w, "\nhottest: the most that any node had in use. hot: minutes that nodes had more than %d%% in\nuse, added up. waited: how many minutes all pods together waited.\n", hot)
	return nil
}

// usage is what a pod really uses; its node reports it every minute.
func usage(pod *api.Pod, _ time.Duration) resource.List {
	return resource.List{resource.CPU: resource.Milli(use(pod)), resource.Memory: resource.New(1<<30, resource.BinarySI)}
}

func use(pod *api.Pod) int64 {
	milli, _ := strconv.ParseInt(pod.Labels[useLabel], 10, 64) // 0 without a label
	return milli
}

// scene returns the nodes, what keeps two of them busy, and the pods that come.
func scene() *api.Objects {
	random := rand.New(rand.NewPCG(2030, 1))
	o := new(api.Objects)
	for i := range nodes {
		o.Nodes = append(o.Nodes, api.MakeNode(nodeName(i), strconv.Itoa(cores), "64Gi").Obj())
	}
	for _, i := range []int{2, 7} {
		o.Pods = append(o.Pods, api.MakePod(fmt.Sprint("agent-", i)).Node(nodeName(i)).Labels(useLabel, "6000").Obj())
	}
	for i := range pods {
		part := []float64{1.9, 0.7, 0.1}[random.IntN(3)] * (0.8 + float64(0.4*random.Float64()))
		p := api.MakePod(fmt.Sprintf("pod-%03d", i)).Requests("1", "2Gi").Labels(useLabel, strconv.Itoa(int(part*1000))).Obj()
		p.Annotations = map[string]string{
			simulate.AnnotationArrival: fmt.Sprint(random.IntN(120 * 60)),
			simulate.AnnotationRunTime: fmt.Sprint(20*60 + random.IntN(50*60)),
		}
		o.Pods = append(o.Pods, p)
	}
	return o
}

func nodeName(i int) string { return fmt.Sprintf("node-%02d", i) }

// tell adds up what the pods used on each node, minute by minute.
func tell(w io.Writer, name string, result *simulate.Result, objects *api.Objects) {
	uses := map[string]int64{}
	for _, p := range objects.Pods {
		uses[p.Key()] = use(p)
	}
	var peak float64
	var chart []string
	hotMinutes := 0
	for m := range minutes {
		inUse := map[string]int64{}
		for _, p := range result.Pods {
			at := float64(60 * m)
			if p.Running || p.Bound != nil && *p.Bound <= at && (p.Ended == nil || *p.Ended > at) {
				inUse[p.Node] += uses[p.Pod]
			}
		}
		percent := make([]float64, nodes)
		for i := range percent {
			if percent[i] = float64(inUse[nodeName(i)]) / (cores * 10); percent[i] > hot {
				hotMinutes++
			}
		}
		peak = max(peak, slices.Max(percent))
		if m%10 == 0 {
			chart = append(chart, fmt.Sprintf("%3.0f", slices.Max(percent)))
		}
	}
	waited := time.Duration(result.Waits[0].Mean * float64(result.Waits[0].Pods) * float64(time.Second))
	fmt.Fprintf(w, "%-12s %7.0f%% %8d %8.0f   %s\n", name, peak, hotMinutes, waited.Minutes(), strings.Join(chart, " "))
}
