// Profiles builds schedulers from a KubeSchedulerConfiguration file that names a plugin of
// our own, with arguments, and lets the same pod be placed by each of its profiles.
//
//	go run ./examples/profiles
//
// "berth config" shows what a file really means, see examples/berth.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"os"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
)

//go:embed sample.yaml
var sample []byte

// Cheap prefers the nodes whose label has a low price. Label is read from the file.
type Cheap struct {
	Label string `json:"label"`
}

// Name returns the name that files use.
func (Cheap) Name() string { return "Cheap" }

// Score gives cheap nodes 100, all others nothing.
func (c Cheap) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if node.Node.Labels[c.Label] == "low" {
		return framework.MaxNodeScore
	}
	return 0
}

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	registry := scheduling.Kubernetes137Registry()
	err := registry.Register("Cheap", scheduling.RegisterTyped(func(c *Cheap, _ framework.Handle) (Cheap, error) { return *c, nil }))
	if err != nil {
		return err
	}
	c, err := config.Load(sample, config.LoadConfig{Registry: registry}) // every fault, with its line
	if err != nil {
		return err
	}
	built, err := c.Build(config.BuildConfig{})
	if err != nil {
		return err
	}
	for i, effective := range c.Effective().Profiles {
		fmt.Fprintf(w, "profile %s has %d scorers\n", effective.SchedulerName, len(effective.Plugins[config.Score]))
		for _, p := range effective.Plugins[config.Score] {
			fmt.Fprintf(w, "  %s, weight %d\n", p.Name, p.Weight)
		}
		node, err := place(built.Profiles[i])
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  it places the pod on %s\n", node)
	}
	return nil
}

// place returns the node that a profile chooses for a pod in a small cluster.
func place(profile scheduling.Profile) (string, error) {
	snapshot := framework.NewSnapshot(framework.ZoneInterleaved)
	for _, node := range []api.NodeBuilder{
		api.MakeNode("first", "4", "8Gi"),
		api.MakeNode("idle", "16", "32Gi"),
		api.MakeNode("cheap", "4", "8Gi").Labels("example.com/price", "low"),
	} {
		if err := snapshot.AddNode(node.Obj()); err != nil {
			return "", err
		}
	}
	sched, err := scheduling.New(profile)
	if err != nil {
		return "", err
	}
	pod, err := snapshot.NewPodInfo(api.MakePod("web").Requests("1", "2Gi").Obj())
	if err != nil {
		return "", err
	}
	decision, err := sched.Place(snapshot, pod)
	return decision.Node, err
}
