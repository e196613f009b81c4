package karmada

import (
	"container/heap"

	"github.com/karmada-io/karmada/pkg/util"
	corev1 "k8s.io/api/core/v1"
)

// Karmada places replicas one by one since 1.18 and divides them one by one since
// 1.16. A module imports one version; the modules karmada118 and karmada116 import
// these. The two loops are transcribed here, over the types of the imported version,
// so that they can be measured beside it too.

// PlaceOneByOne returns how many replicas find room on the nodes, up to limit. Each
// takes the first node with room.
func PlaceOneByOne(nodes []*util.Resource, request corev1.ResourceList, limit int) int {
	one := util.NewResource(request)
	one.AllowedPodNumber = 1
	for n := range limit {
		placed := false
		for _, free := range nodes {
			if free.AllowedPodNumber > 0 && free.MaxDivided(request) > 0 {
				free.SubResource(one)
				placed = true
				break
			}
		}
		if !placed {
			return n
		}
	}
	return limit
}

// A claimant is a cluster in a division by Webster's method.
type claimant struct {
	name   string
	weight int64
	seats  int64
}

type claimants []claimant

func (c claimants) Len() int      { return len(c) }
func (c claimants) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *claimants) Push(x any)   { *c = append(*c, x.(claimant)) }
func (c *claimants) Pop() any     { panic("not used") }

func (c claimants) Less(i, j int) bool {
	a, b := float64(c[i].weight)/float64(2*c[i].seats+1), float64(c[j].weight)/float64(2*c[j].seats+1)
	switch {
	case a != b:
		return a > b
	case c[i].seats != c[j].seats:
		return c[i].seats < c[j].seats
	}
	return c[i].name < c[j].name
}

// DivideOneByOne gives n replicas out one by one by Webster's method. It returns how
// many each name has.
func DivideOneByOne(n int, weights map[string]int64) map[string]int64 {
	c := claimants{}
	for name, w := range weights {
		c = append(c, claimant{name: name, weight: w})
	}
	heap.Init(&c)
	for range n {
		c[0].seats++
		heap.Fix(&c, 0)
	}
	result := map[string]int64{}
	for _, x := range c {
		result[x.name] = x.seats
	}
	return result
}
