package workload

import (
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// zones is the number of zones of every cluster.
const zones = 10

// NodeName returns the name of node i.
func NodeName(i int) string { return fmt.Sprintf("node-%05d", i) }

// Node returns node i of any cluster: 4 CPU, 32Gi of memory and 110 pods, in
// zone i mod 10 of one region.
func Node(i int) *api.Node {
	name := NodeName(i)
	capacity := func() resource.List {
		return resource.List{
			"cpu":    resource.MustParse("4000m"),
			"memory": resource.MustParse("32Gi"),
			"pods":   resource.MustParse("110"),
		}
	}
	return &api.Node{
		TypeMeta: api.TypeMeta{Kind: "Node", APIVersion: "v1"},
		ObjectMeta: api.ObjectMeta{
			Name: name,
			Labels: map[string]string{
				"kubernetes.io/hostname":        name,
				"topology.kubernetes.io/region": "region-0",
				"topology.kubernetes.io/zone":   zone(i % zones),
			},
		},
		Status: api.NodeStatus{Capacity: capacity(), Allocatable: capacity()},
	}
}

// zone returns the name of a zone.
func zone(i int) string { return fmt.Sprintf("zone-%d", i) }
