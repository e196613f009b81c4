// Gang places groups of pods together or not at all.
//
//	go run ./examples/gang
//
// It shows a training job of 64 GPUs whose 8 workers must be in one rack. At first no rack
// is large enough: the program prints what is missing. One more node makes it fit. Then it
// shows two jobs that take half of a cluster each if their pods are placed one by one, and
// would wait for each other for ever.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/gang"
)

const (
	rack = "example.com/rack"
	gpu  = "example.com/gpu"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gang:", err)
		os.Exit(1)
	}
}

func run(out io.Writer) error {
	return errors.Join(training(out), deadlock(out))
}

// training places a job of 64 GPUs in one rack.
func training(out io.Writer) error {
	snapshot := framework.NewSnapshot(framework.Arrival)
	for r, nodes := range []int{7, 5, 7} { // nodes of 8 GPUs in each rack
		for i := range nodes {
			if err := snapshot.AddNode(machine(fmt.Sprintf("r%d-%d", r, i), fmt.Sprintf("r%d", r))); err != nil {
				return err
			}
		}
	}
	placer, err := newPlacer(gang.Rules{Choice: gang.BestFit})
	if err != nil {
		return err
	}
	job, err := workers(snapshot, "train", 8, "8")
	if err != nil {
		return err
	}
	job.Topology = []gang.Level{{Key: rack}}

	outcome, err := placer.Place(snapshot, job)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "train, 8 workers of 8 GPUs in one rack: %v, proved: %t\n  %s\n", outcome.Status, outcome.Proved, outcome.Text)

	for _, in := range []string{"r1", "r2"} {
		need, _, err := placer.NodesFor(snapshot, job, 1, machine(in+"-new", in), 5)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "more nodes needed in rack %s: %d\n", in, need)
	}
	if err := snapshot.AddNode(machine("r2-7", "r2")); err != nil {
		return err
	}
	if outcome, err = placer.Place(snapshot, job); err != nil {
		return err
	}
	fmt.Fprintf(out, "after node r2-7 has come: %v in rack %s\n", outcome.Status, outcome.Domain[0].Value)
	fmt.Fprintf(out, "  %s on %s, and 7 more\n", outcome.Placed[0].Pod, outcome.Placed[0].Node)
	return nil
}

// deadlock places two jobs of 6 pods on a cluster with room for 8.
func deadlock(out io.Writer) error {
	snapshot := framework.NewSnapshot(framework.Arrival)
	if err := snapshot.AddNode(machine("n0", "r0")); err != nil {
		return err
	}
	placer, err := newPlacer(gang.Rules{})
	if err != nil {
		return err
	}
	var jobs []*gang.Group
	for _, name := range []string{"blue", "green"} {
		job, err := workers(snapshot, name, 6, "1")
		if err != nil {
			return err
		}
		jobs = append(jobs, job)
	}
	mark := snapshot.Begin()
	placed := map[string]int{}
	for i := range 6 { // their pods come in turn
		for _, job := range jobs {
			if _, err := placer.Scheduler().Place(snapshot, job.Pods[i]); err == nil {
				placed[job.Name]++
			}
		}
	}
	fmt.Fprintf(out, "pod by pod: blue has %d of 6 pods, green %d of 6; both wait for ever\n", placed["blue"], placed["green"])
	snapshot.Rollback(mark)

	for _, job := range jobs {
		outcome, err := placer.Place(snapshot, job)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "as groups: %s: %v, %d pods\n", job.Name, outcome.Status, len(outcome.Placed))
	}
	return nil
}

func newPlacer(rules gang.Rules) (*gang.Placer, error) {
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		return nil, err
	}
	return gang.New(sched, rules)
}

// machine is a node with 8 GPUs.
func machine(name, in string) *api.Node {
	return api.MakeNode(name, "64", "512Gi").Resource(gpu, "8").Labels(rack, in, api.LabelHostname, name).Obj()
}

// workers is a group of equal pods.
func workers(snapshot *framework.Snapshot, name string, n int, gpus string) (*gang.Group, error) {
	g := &gang.Group{Name: name}
	for i := range n {
		pod, err := snapshot.NewPodInfo(api.MakePod(fmt.Sprintf("%s-%d", name, i)).Requests("4", "32Gi").Request(gpu, gpus).Obj())
		if err != nil {
			return nil, err
		}
		g.Pods = append(g.Pods, pod)
	}
	return g, nil
}
