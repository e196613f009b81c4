package config_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scheduling/config"
)

// The effective order of a file: ImageLocality runs first, because the file names it
// at score itself; Mine runs last.
func ExampleLoad() {
	file := `
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled:
      - {name: Mine, weight: 4}
    score:
      enabled:
      - {name: ImageLocality, weight: 5}
`
	c, err := config.Load([]byte(file), config.LoadConfig{
		Plugins: map[string]config.Known{"Mine": {Points: []config.Point{config.Score}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, p := range c.Effective().Profiles[0].Plugins[config.Score] {
		fmt.Println(p.Name, p.Weight)
	}
	// Output:
	// ImageLocality 5
	// TaintToleration 3
	// NodeAffinity 2
	// NodeResourcesFit 1
	// VolumeBinding 1
	// PodTopologySpread 2
	// InterPodAffinity 2
	// DynamicResources 2
	// NodeResourcesBalancedAllocation 1
	// Mine 4
}

// From a file to a decision.
func ExampleConfiguration_Build() {
	c, err := config.Load([]byte(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: packer
  pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 1}]
`), config.LoadConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	built, err := c.Build(config.BuildConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := scheduling.New(built.Profiles[0])
	if err != nil {
		fmt.Println(err)
		return
	}
	snapshot := framework.NewSnapshot(framework.ZoneInterleaved)
	for name, cpu := range map[string]string{"large": "16", "small": "2"} {
		if err := snapshot.AddNode(api.MakeNode(name, cpu, "16Gi").Obj()); err != nil {
			fmt.Println(err)
		}
	}
	pod, err := snapshot.NewPodInfo(api.MakePod("web").Requests("1", "1Gi").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := s.Place(snapshot, pod)
	fmt.Println(s.Profile(), d.Node, err)
	// Output:
	// packer small <nil>
}

// Every problem is reported at once, with its line.
func ExampleError() {
	_, err := config.Load([]byte(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 0
profiles:
- schedulerName: a
- percentageOfNodesToScore: 200
`), config.LoadConfig{})
	var e *config.Error
	if errors.As(err, &e) {
		fmt.Println(e.Stage)
		for _, p := range e.Problems {
			fmt.Println(p)
		}
	}
	// Output:
	// validate
	// line 4: parallelism: Invalid value: 0: should be an integer value greater than zero
	// line 7: profiles[1].schedulerName: Required value
	// line 7: profiles[1].percentageOfNodesToScore: Invalid value: 200: not in valid range [0-100]
}

func ExampleEffective() {
	c, err := config.Load([]byte(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: PrioritySort}, {name: InterPodAffinity}, {name: DefaultBinder}]
      disabled: [{name: "*"}]
`), config.LoadConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(c.Effective())
	fmt.Println(string(text), err)
	// Output:
	// {"profiles":[{"schedulerName":"default-scheduler","plugins":{"queueSort":[{"name":"PrioritySort"}],"preFilter":[{"name":"InterPodAffinity"}],"filter":[{"name":"InterPodAffinity"}],"preScore":[{"name":"InterPodAffinity"}],"score":[{"name":"InterPodAffinity","weight":1}],"bind":[{"name":"DefaultBinder"}]},"pluginConfig":[{"name":"InterPodAffinity","args":{"kind":"InterPodAffinityArgs","apiVersion":"kubescheduler.config.k8s.io/v1","hardPodAffinityWeight":1,"ignorePreferredTermsOfExistingPods":false}}]}]} <nil>
}

// A plugin with its own arguments.
func ExampleKnown() {
	type LimitArgs struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
		Limit      int    `json:"limit"`
	}
	decode := func(raw []byte) (any, []args.FieldError) {
		a := &LimitArgs{Limit: 10}
		errs := args.Decode(raw, a)
		return a, errs
	}
	_, err := config.Load([]byte(`
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: Limit
    args:
      limits: 5
`), config.LoadConfig{Plugins: map[string]config.Known{"Limit": {Points: []config.Point{config.Filter}, Args: decode}}})
	fmt.Println(err)
	// Output:
	// line 8: unknown field "profiles[0].pluginConfig[0].args.limits"
}

func ExampleYAMLToJSON() {
	docs, err := config.YAMLToJSON([]byte("kind: Node\nmetadata: {name: n1}\n---\nkind: Pod\n"))
	for _, d := range docs {
		fmt.Println(string(d))
	}
	fmt.Println(err)
	// Output:
	// {"kind":"Node","metadata":{"name":"n1"}}
	// {"kind":"Pod"}
	// <nil>
}

func ExampleConfiguration_OrderedExtenders() {
	c := config.Configuration{Extenders: []config.Extender{{URLPrefix: "http://soft", Ignorable: true}, {URLPrefix: "http://hard"}}}
	for _, e := range c.OrderedExtenders() {
		fmt.Println(e.URLPrefix)
	}
	// Output:
	// http://hard
	// http://soft
}
