package scheduling_test

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// Quiet scores nodes by a label.
type Quiet struct{ Label string }

func (Quiet) Name() string { return "Quiet" }

func (q Quiet) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if node.Node.Labels[q.Label] == "quiet" {
		return framework.MaxNodeScore
	}
	return 0
}

type QuietArgs struct {
	Label string `json:"label"`
}

func NewQuiet(a *QuietArgs, _ framework.Handle) (Quiet, error) {
	if a.Label == "" {
		return Quiet{}, fmt.Errorf("label: Required value")
	}
	return Quiet(*a), nil
}

// Your own plugin is one line; its arguments are decoded strictly.
func ExampleRegistry() {
	r := scheduling.Kubernetes137Registry()
	if err := r.Register("Quiet", scheduling.RegisterTyped(NewQuiet)); err != nil {
		fmt.Println(err)
	}
	p, err := r.Make("Quiet", json.RawMessage(`{"label": "noise"}`), nil)
	fmt.Printf("%+v %v\n", p, err)
	_, err = r.Make("Quiet", json.RawMessage(`{"labels": "noise"}`), nil)
	fmt.Println(err)
	_, err = r.Make("Quiet", nil, nil)
	fmt.Println(err)
	// Output:
	// {Label:noise} <nil>
	// initializing plugin "Quiet": unknown field "labels"
	// initializing plugin "Quiet": label: Required value
}

// A plugin of two values: one filters, the other scores.
func ExampleCombined() {
	p, err := scheduling.Kubernetes137Registry().Make("NodeAffinity", nil, nil)
	fmt.Println(p.Name(), err)
	fmt.Printf("%T\n", scheduling.PluginFor(p, func(part framework.Plugin) bool {
		_, ok := framework.As[framework.PreScorePlugin](part)
		return ok
	}))
	// Output:
	// NodeAffinity <nil>
	// scoring.NodeAffinity
}
