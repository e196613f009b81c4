package frameworktest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Noon is the moment at which the clusters of this package are seen: nodes and
// pods were made before it, and a [Snapshot] of them has it as its time.
func Noon() time.Time { return time.Date(2026, time.January, 15, 12, 0, 0, 0, time.UTC) }

// Cluster returns a random cluster: up to 16 nodes, the pods that run on them,
// some pods to place, and namespaces. It is a function of the seed.
//
// Three clusters of four are such as one meets: workloads of several equal
// pods, zones, some taints, tolerations, affinities that match something. The
// fourth (seeds that leave a remainder of 3) holds what breaks code: nodes
// without labels or resources, requests near the largest int64, malformed
// affinity terms, operators that nobody knows, empty strings. All of it can be
// put into a snapshot without an error. An image has the same size on every
// node that has it.
func Cluster(seed uint64) *api.Objects {
	g := newGenerator(seed)
	o := &api.Objects{}
	for _, name := range namespaces {
		o.Namespaces = append(o.Namespaces, &api.Namespace{
			TypeMeta:   api.TypeMeta{Kind: "Namespace", APIVersion: "v1"},
			ObjectMeta: api.ObjectMeta{Name: name, Labels: map[string]string{"team": g.one("a", "b", "")}},
		})
	}
	for i := range g.size() {
		o.Nodes = append(o.Nodes, g.node(fmt.Sprintf("node-%02d", i)))
	}
	workloads := make([]*api.Pod, g.between(2, 5))
	for i := range workloads {
		workloads[i] = g.pod(fmt.Sprintf("w%d", i))
	}
	for i := range o.Nodes {
		for k := range g.between(0, 5) {
			p := api.Clone(workloads[g.IntN(len(workloads))])
			if g.chance(20) {
				p = g.pod("")
			}
			g.place(p, fmt.Sprintf("run-%02d-%d", i, k), o.Nodes[i].Name)
			o.Pods = append(o.Pods, p)
		}
	}
	for i := range g.between(4, 8) {
		p := api.Clone(workloads[g.IntN(len(workloads))])
		if g.chance(60) {
			p = g.pod("")
		}
		g.wait(p, fmt.Sprintf("pod-%02d", i), o.Nodes)
		o.Pods = append(o.Pods, p)
	}
	return o
}

// Node returns a random node of that name, as [Cluster] holds them.
func Node(r *rand.Rand, name string) *api.Node {
	g := generator{r, r.IntN(4) == 3}
	return g.node(name)
}

// Pod returns a random pod of that name without a node, as [Cluster] holds
// them.
func Pod(r *rand.Rand, name string) *api.Pod {
	g := generator{r, r.IntN(4) == 3}
	p := g.pod(name)
	g.wait(p, name, nil)
	return p
}

// Snapshot makes a snapshot of the objects, seen at [Noon], in kube-scheduler's
// order. It returns what [framework.SnapshotOf] returns.
func Snapshot(o *api.Objects) (s *framework.Snapshot, pending []*framework.PodInfo, err error) {
	s, pending, err = framework.SnapshotOf(o, framework.ZoneInterleaved)
	s.SetNow(Noon())
	return s, pending, err
}

// generator draws objects.
type generator struct {
	*rand.Rand
	hostile bool // draw what breaks code
}

// stream separates the random numbers of this package from those that others
// draw from the same seed.
const stream = 0x6265727468

func newGenerator(seed uint64) *generator {
	return &generator{rand.New(rand.NewPCG(seed, stream)), seed%4 == 3}
}

// size draws the number of nodes.
func (g *generator) size() int {
	switch {
	case g.hostile && g.chance(10):
		return 0
	case g.chance(10):
		return 1
	}
	return g.between(2, 16)
}

// chance is true in so many percent of the calls.
func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// between draws from both ends and what lies between them.
func (g *generator) between(from, to int) int { return from + g.IntN(to-from+1) }

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

// some draws each of the strings with a chance, in their order.
func (g *generator) some(percent int, of ...string) []string {
	var drawn []string
	for _, s := range of {
		if g.chance(percent) {
			drawn = append(drawn, s)
		}
	}
	return drawn
}

// The vocabulary of the clusters: few words, so that things match.
var (
	namespaces   = []string{"default", "prod", "team-a"}
	apps         = []string{"web", "db", "cache", "batch"}
	topologyKeys = []string{api.LabelHostname, api.LabelTopologyZone, "rack", "disk"}
	devices      = []string{"example.com/gpu", "hugepages-2Mi", "ephemeral-storage", "attachable-volumes-csi-x"}
	images       = []struct {
		name string
		size int64
	}{
		{"web:1", 120 << 20},
		{"web:2", 130 << 20},
		{"db:latest", 900 << 20},
		{"registry.example:5000/ml/train:7", 6 << 30},
		{"tiny:latest", 1 << 20},
		{"cache@sha256:0a1b", 48 << 20},
	}
)
