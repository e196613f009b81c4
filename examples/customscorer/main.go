// Customscorer shows how to write your own plugin: ten lines that prefer nodes on
// solar power. It prints where the same pods go with and without it.
//
//	go run ./examples/customscorer
package main

import (
	"fmt"
	"os"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// Solar prefers nodes that run on solar power. It is a whole plugin: a name, and
// a score from 0 to 100 for a pod on a node.
type Solar struct{}

func (Solar) Name() string { return "Solar" }

func (Solar) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if node.Node.Labels["example.com/power"] == "solar" {
		return framework.MaxNodeScore
	}
	return 0
}

func main() {
	plain := scheduling.Kubernetes137()
	green := scheduling.Kubernetes137()
	green.Score = append(green.Score, scheduling.Weighted{Plugin: Solar{}, Weight: 1})
	for _, c := range []struct {
		title   string
		profile scheduling.Profile
	}{{"without Solar", plain}, {"with Solar, weight 1", green}} {
		if err := place(c.title, c.profile); err != nil {
			fmt.Fprintln(os.Stderr, "customscorer:", err)
			os.Exit(1)
		}
	}
}

// place places ten pods on four nodes by a profile and prints the outcome.
func place(title string, profile scheduling.Profile) error {
	snap := framework.NewSnapshot(framework.ZoneInterleaved)
	for i, power := range []string{"grid", "grid", "solar", "solar"} {
		n := api.MakeNode(fmt.Sprintf("%s-%d", power, i), "4", "16Gi").Labels("example.com/power", power)
		if err := snap.AddNode(n.Obj()); err != nil {
			return err
		}
	}
	s, err := scheduling.New(profile)
	if err != nil {
		return err
	}
	for i := range 10 {
		p := api.MakePod(fmt.Sprintf("web-%d", i)).Requests("1", "2Gi")
		pod, err := snap.NewPodInfo(p.Obj())
		if err != nil {
			return err
		}
		if _, err := s.Place(snap, pod); err != nil {
			return err
		}
	}
	fmt.Println(title)
	for _, node := range snap.All() {
		line := fmt.Sprintf("  %s:", node.Name())
		for _, pod := range node.Pods {
			line += " " + pod.Pod.Name
		}
		fmt.Println(line)
	}
	return nil
}
