package page

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
)

// A Sample is a cluster to begin with.
type Sample struct {
	Name   string
	Title  string
	Preset string
	Texts
}

// The texts of samples. An embed.FS is more to load.
var (
	//go:embed samples/shop-nodes.yaml
	shopNodes string
	//go:embed samples/shop-pods.yaml
	shopPods string
	//go:embed samples/ties-nodes.yaml
	tiesNodes string
	//go:embed samples/ties-pods.yaml
	tiesPods string
	//go:embed samples/load-nodes.yaml
	loadNodes string
	//go:embed samples/load-pods.yaml
	loadPods string
)

// samples are the clusters to begin with, the first one for a new page. sampleTexts has
// their texts.
var samples = []Sample{
	{Name: "shop", Title: "A web shop on six nodes", Preset: "1.37"},
	{Name: "ties", Title: "Equal nodes: ties", Preset: "1.34"},
	{Name: "load", Title: "Busy nodes: load-aware", Preset: LoadAware},
	{Name: "large", Title: "500 nodes, 5,000 pods", Preset: "1.37"},
}

// sampleTexts returns a sample with its texts.
func sampleTexts(name string) (Sample, bool) {
	for _, s := range samples {
		if s.Name == name {
			switch name {
			case "shop":
				s.Texts = Texts{Nodes: shopNodes, Pods: shopPods}
			case "ties":
				s.Texts = Texts{Nodes: tiesNodes, Pods: tiesPods}
			case "load":
				s.Texts = Texts{Nodes: loadNodes, Pods: loadPods, Config: loadAwareConfig}
			case "large":
				s.Texts = large()
			}
			return s, true
		}
	}
	return Sample{}, false
}

// large makes 500 nodes of three shapes in five zones and 50 Deployments of 100 pods.
var large = sync.OnceValue(func() Texts {
	var nodes, pods strings.Builder
	shapes := []struct{ name, cpu, memory string }{{"general", "8", "32Gi"}, {"compute", "16", "32Gi"}, {"memory", "8", "64Gi"}}
	for i := range 500 {
		s := shapes[i%7%3]
		name := fmt.Sprintf("%s-%03d", s.name, i)
		taints := ""
		if i%25 == 0 {
			taints = `,"spec":{"taints":[{"key":"dedicated","value":"batch","effect":"NoSchedule"}]}`
		}
		fmt.Fprintf(&nodes, `{"kind":"Node","apiVersion":"v1","metadata":{"name":"%s","labels":{"kubernetes.io/hostname":"%s","topology.kubernetes.io/zone":"zone-%d","shape":"%s"}}%s,"status":{"allocatable":{"cpu":"%s","memory":"%s","pods":"110"}}}`+"\n",
			name, name, i%5, s.name, taints, s.cpu, s.memory)
	}
	for i := range 50 {
		name, more := fmt.Sprintf("app-%02d", i), ""
		switch i % 5 {
		case 1:
			more = "\n      nodeSelector: {shape: compute}"
		case 2:
			more = fmt.Sprintf("\n      topologySpreadConstraints:\n      - {maxSkew: 2, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: %s}}}", name)
		case 3:
			more = "\n      tolerations: [{key: dedicated, operator: Exists}]"
		}
		fmt.Fprintf(&pods, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec:\n  replicas: 100\n  template:\n    metadata: {labels: {app: %s}}\n    spec:%s\n      containers: [{name: main, image: \"registry.example/%s:1\", resources: {requests: {cpu: %dm, memory: %dMi}}}]\n",
			name, name, more, name, 100+50*(i%7), 128*(1+i%9))
	}
	return Texts{Nodes: nodes.String(), Pods: pods.String()}
})
