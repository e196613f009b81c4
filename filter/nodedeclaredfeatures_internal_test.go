package filter

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// A pod that needs a feature concerns the plugin, whatever needs it.
func TestFeaturesConcern(t *testing.T) {
	rules := []api.ContainerRestartRule{{Action: api.ContainerRestartRuleActionRestartAllContainers}}
	mounts := []api.VolumeMount{{Name: "v", BindMountOptions: []string{"noexec"}}}
	for name, change := range map[string]func(s *api.PodSpec){
		"nothing":                          func(*api.PodSpec) {},
		"users of its own":                 func(s *api.PodSpec) { s.HostNetwork, s.HostUsers = true, new(false) },
		"users of the node":                func(s *api.PodSpec) { s.HostNetwork, s.HostUsers = true, new(true) },
		"rules of a container":             func(s *api.PodSpec) { s.Containers = []api.Container{{RestartPolicyRules: rules}} },
		"rules of a second one":            func(s *api.PodSpec) { s.Containers = []api.Container{{}, {RestartPolicyRules: rules}} },
		"rules of an init container":       func(s *api.PodSpec) { s.InitContainers = []api.Container{{RestartPolicyRules: rules}} },
		"options of a container":           func(s *api.PodSpec) { s.Containers = []api.Container{{VolumeMounts: mounts}} },
		"options of an init container":     func(s *api.PodSpec) { s.InitContainers = []api.Container{{}, {VolumeMounts: mounts}} },
		"a mount without options, no rule": func(s *api.PodSpec) { s.Containers = []api.Container{{VolumeMounts: []api.VolumeMount{{}}}} },
	} {
		p := api.MakePod("p").Obj()
		change(&p.Spec)
		pod, err := framework.NewPodInfo(p, resource.NewSchema())
		if err != nil {
			t.Fatal(err)
		}
		needs := neededFeatures(&p.Spec) != 0
		if concerns := pod.Parts()&(NodeDeclaredFeatures{}).Concern() != 0; concerns != needs {
			t.Errorf("%s: it concerns the plugin %t, it needs a feature %t", name, concerns, needs)
		}
	}
}

// Pods that need other features have other keys.
func TestFeaturesKey(t *testing.T) {
	schema, keys := resource.NewSchema(), map[string]features{}
	for f := features(0); f < 1<<len(featureNames); f++ {
		p := api.MakePod("p").Obj()
		if f&featureUserNamespaces != 0 {
			p.Spec.HostNetwork, p.Spec.HostUsers = true, new(false)
		}
		if f&featureRestartAll != 0 {
			p.Spec.Containers = append(p.Spec.Containers, api.Container{RestartPolicyRules: []api.ContainerRestartRule{{Action: api.ContainerRestartRuleActionRestartAllContainers}}})
		}
		if f&featureMountOptions != 0 {
			p.Spec.InitContainers = []api.Container{{VolumeMounts: []api.VolumeMount{{Name: "v", BindMountOptions: []string{"noexec"}}}}}
		}
		pod, err := framework.NewPodInfo(p, schema)
		if err != nil {
			t.Fatal(err)
		}
		if needs := neededFeatures(&p.Spec); needs != f {
			t.Errorf("features %03b: it needs %03b", f, needs)
		}
		key := string(NodeDeclaredFeatures{}.AppendClassKey(nil, nil, pod))
		if other, known := keys[key]; known {
			t.Errorf("features %03b have the key of %03b", f, other)
		}
		keys[key] = f
	}
}

// What the scheduler requires holds for pods whose only node is known, too.
func TestOnlyNodeAndAddedAffinity(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("a", "4", "8Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	pod, err := s.NewPodInfo(api.MakePod("p").NodeAffinity("metadata.name=a").Obj())
	if err != nil {
		t.Fatal(err)
	}
	plugin := NodeAffinity{AddedAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{
		NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: []api.NodeSelectorRequirement{{Key: "zone", Operator: "Exists"}}}},
	}}}
	var c framework.Cycle
	c.Reset(pod, s, 0, 0)
	bound, status := plugin.PreFilter(&c)
	if !status.IsSuccess() || bound.Filter.Filter(pod, s.Node("a")).IsSuccess() {
		t.Errorf("PreFilter: %v; the node passes without what the scheduler requires", status)
	}
}
