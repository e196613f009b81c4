package scheduling_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// writer writes to what it may only read.
type writer struct {
	at   string
	does func(pod *framework.PodInfo, node *framework.NodeInfo)
}

func (writer) Name() string { return "writer" }

func (w writer) Filter(p *framework.PodInfo, n *framework.NodeInfo) framework.Status {
	if w.at == "Filter" {
		w.does(p, n)
	}
	return framework.Status{}
}

func (w writer) Score(p *framework.PodInfo, n *framework.NodeInfo) int64 {
	if w.at == "Score" {
		w.does(p, n)
	}
	return 0
}

func (w writer) PreScore(c *framework.Cycle, nodes []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	if w.at == "PreScore" {
		w.does(c.Pod, nodes[0])
	}
	return w, framework.Status{}
}

// TestVerifyTellsMutation lets a plugin among others write to pods and nodes, whether or
// not it has an effect the second time.
func TestVerifyTellsMutation(t *testing.T) {
	label := func(p *framework.PodInfo, _ *framework.NodeInfo) { p.Pod.Labels = map[string]string{"seen": "yes"} }
	for name, tt := range map[string]struct {
		w    writer
		want string
	}{
		"pod in Filter":   {writer{"Filter", label}, `plugin "writer" changes pod default/p at Filter; it must only read it`},
		"pod in PreScore": {writer{"PreScore", label}, `plugin "writer" changes pod default/p at PreScore; it must only read it`},
		"node in Filter": {writer{"Filter", func(_ *framework.PodInfo, n *framework.NodeInfo) {
			n.Node.Labels = map[string]string{"seen": "yes"}
		}}, `plugin "writer" changes node `},
		"totals in Score": {writer{"Score", func(_ *framework.PodInfo, n *framework.NodeInfo) {
			n.Requested = n.Requested.With(0, n.Requested.At(0)+1)
		}}, `plugin "writer" changes node `},
		"nothing": {writer{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			profile := scheduling.Kubernetes137()
			profile.Cache.Verify = true
			profile.Filter = append(profile.Filter, tt.w)
			profile.Score = append(profile.Score, scheduling.Weighted{Plugin: tt.w})
			s := framework.NewSnapshot(framework.Arrival)
			for i := range 20 {
				if err := s.AddNode(api.MakeNode(fmt.Sprint("n", i), "4", "8Gi").Obj()); err != nil {
					t.Fatal(err)
				}
			}
			p, err := s.NewPodInfo(api.MakePod("p").Requests("1", "1Gi").Obj())
			if err != nil {
				t.Fatal(err)
			}
			sched, err := scheduling.New(profile)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if _, err = sched.Schedule(s, p); err != nil {
					break
				}
			}
			var mutation *scheduling.MutationError
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("Schedule: %v", err)
			case tt.want != "" && (!errors.As(err, &mutation) || !strings.HasPrefix(err.Error(), tt.want) || mutation.Before == mutation.After):
				t.Errorf("Schedule: %v, want %s", err, tt.want)
			}
		})
	}
}

func ExampleMutationError() {
	s := twoNodes()
	sched := scheduler(scheduling.Profile{
		Filter: []framework.Plugin{writer{"Filter", func(p *framework.PodInfo, _ *framework.NodeInfo) { p.Pod.Spec.NodeName = "mine" }}},
		Cache:  scheduling.CacheConfig{Verify: true},
	})
	_, err := sched.Schedule(s, pending(s, "web", "1", "1Gi"))
	var mutation *scheduling.MutationError
	if errors.As(err, &mutation) {
		fmt.Println(mutation.Plugin, mutation.Point)
		fmt.Println(err)
	}
	// Output:
	// writer Filter
	// plugin "writer" changes pod default/web at Filter; it must only read it
}
