package simulate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// job is a pod that arrives at a time and runs for a time.
func job(name, cpu string, arrival, run time.Duration) api.PodBuilder {
	return api.MakePod(name).Requests(cpu, "1Gi").Annotations(
		simulate.AnnotationArrival, arrival.String(), simulate.AnnotationRunTime, run.String())
}

// objects is a list of nodes and pods.
func objects(nodes []*api.Node, pods ...*api.Pod) *api.Objects {
	return &api.Objects{Nodes: nodes, Pods: pods}
}

func node(name, cpu string) *api.Node { return api.MakeNode(name, cpu, "64Gi").Obj() }

// config runs the objects under the default profile.
func config(o *api.Objects) simulate.Config {
	trace, err := simulate.FromObjects(o)
	if err != nil {
		panic(err)
	}
	return simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: trace, SampleEvery: -1}
}

func run(c simulate.Config) *simulate.Result {
	r, err := simulate.Run(context.Background(), c)
	if err != nil {
		panic(err)
	}
	return r
}

// decode reads objects from JSON.
func decode(text string) *api.Objects {
	o, err := api.Decode([]byte(text))
	if err != nil {
		panic(err)
	}
	return o
}

// workload is a workload of pods with a request of CPU.
func workload(kind, version, name, spec, cpu, annotations string) string {
	return fmt.Sprintf(`{"kind": %q, "apiVersion": %q, "metadata": {"name": %q}, "spec": {%s "template": {"metadata": {"annotations": {%s}, "labels": {"app": %q}},
		"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": %q}}}]}}}}`, kind, version, name, spec, annotations, name, cpu)
}
