package podsize

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Each kind of part makes a pod large.
func TestParts(t *testing.T) {
	selector := &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: "k", Operator: "In", Values: many()}}}
	node := []api.NodeSelectorRequirement{{Key: "k", Operator: "In", Values: many()}}
	for name, change := range map[string]func(p *api.Pod){
		"labels":      func(p *api.Pod) { p.Labels = labels() },
		"selector":    func(p *api.Pod) { p.Spec.NodeSelector = labels() },
		"tolerations": func(p *api.Pod) { p.Spec.Tolerations = make([]api.Toleration, largeParts) },
		"claims":      func(p *api.Pod) { p.Spec.ResourceClaims = make([]api.PodResourceClaim, largeParts) },
		"containers":  func(p *api.Pod) { p.Spec.Containers = make([]api.Container, largeParts) },
		"init":        func(p *api.Pod) { p.Spec.InitContainers = make([]api.Container, largeParts) },
		"ports":       func(p *api.Pod) { p.Spec.Containers[0].Ports = make([]api.ContainerPort, largeParts) },
		"volumes":     func(p *api.Pod) { p.Spec.Volumes = make([]api.Volume, largeParts) },
		"monitors": func(p *api.Pod) {
			p.Spec.Volumes = make([]api.Volume, 1)
			p.Spec.Volumes[0].RBD = &api.RBDVolumeSource{CephMonitors: many()}
		},
		"spread": func(p *api.Pod) {
			p.Spec.TopologySpreadConstraints = []api.TopologySpreadConstraint{{LabelSelector: selector}}
		},
		"node affinity": func(p *api.Pod) {
			p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchExpressions: node}}}}}
		},
		"preferred node affinity": func(p *api.Pod) {
			p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []api.PreferredSchedulingTerm{{Preference: api.NodeSelectorTerm{MatchFields: node}}}}}
		},
		"affinity": func(p *api.Pod) {
			p.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{LabelSelector: selector}}}}
		},
		"preferred affinity": func(p *api.Pod) {
			p.Spec.Affinity = &api.Affinity{PodAffinity: &api.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []api.WeightedPodAffinityTerm{{PodAffinityTerm: api.PodAffinityTerm{NamespaceSelector: selector}}}}}
		},
		"anti-affinity": func(p *api.Pod) {
			p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []api.PodAffinityTerm{{Namespaces: many()}}}}
		},
		"preferred anti-affinity": func(p *api.Pod) {
			p.Spec.Affinity = &api.Affinity{PodAntiAffinity: &api.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: make([]api.WeightedPodAffinityTerm, largeParts)}}
		},
	} {
		p := api.MakePod("p").Requests("1", "1Gi").Obj()
		before := Parts(p)
		change(p)
		if got := Parts(p); got < largeParts || got > largeParts+before+8 {
			t.Errorf("%s: %d parts, want %d and a few", name, got, largeParts)
		}
	}
}

func TestIsLarge(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	for n, want := range map[int]bool{0: false, largeParts - 2: false, largeParts - 1: true} {
		p := &api.Pod{ObjectMeta: api.ObjectMeta{Name: "p", Namespace: "default"}}
		p.Spec.Containers = make([]api.Container, 1)
		p.Spec.Containers[0].Name = "c"
		p.Spec.Tolerations, p.Labels = make([]api.Toleration, n), labels()
		info, err := s.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := IsLarge(info); got != want {
			t.Errorf("%d tolerations: large %t, want %t", n, got, want)
		}
	}
}

// A list that the pod has got since this was written is missing here.
func TestPodHasNoOtherLists(t *testing.T) {
	known := map[string]bool{
		"InitContainers": true, "Containers": true, "Volumes": true, "NodeSelector": true, "Tolerations": true,
		"TopologySpreadConstraints": true, "ResourceClaims": true,
		"Overhead": true, "SchedulingGates": true, // nothing goes through them for each event
	}
	spec := reflect.TypeFor[api.PodSpec]()
	for i := range spec.NumField() {
		f := spec.Field(i)
		if k := f.Type.Kind(); (k == reflect.Slice || k == reflect.Map) && !known[f.Name] {
			t.Errorf("Parts does not count %s", f.Name)
		}
	}
}

func many() (list []string) {
	for i := range largeParts {
		list = append(list, fmt.Sprint("v", i))
	}
	return list
}

func labels() map[string]string {
	m := map[string]string{}
	for _, name := range many() {
		m[name] = ""
	}
	return m
}
