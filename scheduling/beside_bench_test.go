//go:build full

package scheduling_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
	"github.com/berth-sched/berth/scheduling"
)

// bothPaths runs a benchmark with the reference path and with the incremental path.
func bothPaths(b *testing.B, name string, run func(b *testing.B, p scheduling.Profile)) {
	for _, path := range []string{"reference", "incremental"} {
		b.Run(fmt.Sprintf("%s/nodes=5000/path=%s", name, path), func(b *testing.B) {
			p := scheduling.Kubernetes137()
			p.Cache.Off = path == "reference"
			run(b, p)
		})
	}
}

// BenchmarkNominated places pods while other pods are nominated to a few nodes.
func BenchmarkNominated(b *testing.B) {
	for _, kind := range []workload.Kind{workload.Basic, workload.SpreadSoft, workload.PrefAffinity} {
		for _, nominated := range []int{1, 10, 100} {
			bothPaths(b, fmt.Sprintf("workload=%s/nominated=%d", kind, nominated), func(b *testing.B, p scheduling.Profile) {
				s := cluster(b, 5000)
				for i := range nominated {
					q := podInfo(b, s, api.MakePod(fmt.Sprint("nominated", i)).Requests("3800m", "1Gi").Priority(10).Obj())
					if err := s.Nominate(q, s.At(i*17).Name(), ""); err != nil {
						b.Fatal(err)
					}
				}
				place(b, build(b, p), s, pods(b, s, kind, 1000))
			})
		}
	}
}

// BenchmarkExtender places pods with an extender in this process, which refuses one node
// in a hundred and scores the others, or is interested in no pod.
func BenchmarkExtender(b *testing.B) {
	for _, interested := range []bool{false, true} {
		bothPaths(b, fmt.Sprintf("interested=%t", interested), func(b *testing.B, p scheduling.Profile) {
			var names []string
			var scores []scheduling.HostScore
			p.Extenders = []scheduling.Extender{{
				Name: "local", Weight: 1,
				Interested: func(*framework.PodInfo) bool { return interested },
				Filter: func(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) (v scheduling.ExtenderVerdict, _ error) {
					names = names[:0]
					for i, n := range nodes {
						if i%100 > 0 {
							names = append(names, n.Name())
						}
					}
					v.Nodes = names
					return v, nil
				},
				Prioritize: func(_ context.Context, _ *framework.PodInfo, nodes []*framework.NodeInfo) ([]scheduling.HostScore, error) {
					scores = scores[:0]
					for i, n := range nodes {
						scores = append(scores, scheduling.HostScore{Host: n.Name(), Score: int64(i % 5)})
					}
					return scores, nil
				},
			}}
			s := cluster(b, 5000)
			place(b, build(b, p), s, pods(b, s, workload.Basic, 1000))
		})
	}
}

// BenchmarkDaemonSet places pods that are each for one node, and have never been seen
// before.
func BenchmarkDaemonSet(b *testing.B) {
	bothPaths(b, "workload=daemonset", func(b *testing.B, p scheduling.Profile) {
		s := cluster(b, 5000)
		sched := build(b, p)
		list := make([]*framework.PodInfo, s.Len())
		b.ReportAllocs()
		k := len(list)
		for i := 0; b.Loop(); i++ {
			if k == len(list) {
				b.StopTimer()
				for j := range list {
					if list[j] != nil {
						if err := s.RemovePod(list[j], s.At(j).Name()); err != nil {
							b.Fatal(err)
						}
					}
					name := fmt.Sprintf("ds-%d-%d", i, j)
					list[j] = podInfo(b, s, api.MakePod(name).UID(api.UID(name)).Requests("100m", "100Mi").
						NodeAffinity("metadata.name="+s.At(j).Name()).Tolerates("").Obj())
				}
				k = 0
				b.StartTimer()
			}
			if _, err := sched.Place(s, list[k]); err != nil {
				b.Fatal(err)
			}
			k++
		}
	})
}

// pools is a PreFilter that names the nodes of the pod's pool.
type pools struct{ nodes map[string][]string }

func (pools) Name() string { return "pools" }

func (p pools) PreFilter(c *framework.Cycle) (framework.PreFiltered, framework.Status) {
	return framework.PreFiltered{NodeNames: p.nodes[c.Pod.Pod.Labels["pool"]]}, framework.Status{}
}

// Filter rejects no named node.
func (pools) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

// BenchmarkNamed places pods of ten pools, for which a PreFilter names some of the nodes.
func BenchmarkNamed(b *testing.B) {
	for _, named := range []int{10, 100, 500, 2500} {
		bothPaths(b, fmt.Sprintf("named=%d", named), func(b *testing.B, p scheduling.Profile) {
			s := cluster(b, 5000)
			x := pools{map[string][]string{}}
			for i := range 10 {
				pool := fmt.Sprint("pool-", i)
				for k := range named {
					x.nodes[pool] = append(x.nodes[pool], s.At((i*500+k*7)%5000).Name())
				}
				slices.Sort(x.nodes[pool])
			}
			p.Filter = append(p.Filter, x)
			list := pods(b, s, workload.Basic, 1000)
			for i, info := range list {
				pod := *info.Pod
				pod.Labels = maps.Clone(pod.Labels)
				if pod.Labels == nil {
					pod.Labels = map[string]string{}
				}
				pod.Labels["pool"] = fmt.Sprint("pool-", i%10)
				list[i] = podInfo(b, s, &pod)
			}
			place(b, build(b, p), s, list)
		})
	}
}
