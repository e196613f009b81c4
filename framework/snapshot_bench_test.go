package framework_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// warm brings a snapshot to a steady state: the journal is full and every
// slice has the room it will need.
func warm(t testing.TB, s *framework.Snapshot, p *framework.PodInfo) {
	t.Helper()
	for i := range 20_000 {
		n := s.At(i % s.Len())
		m := s.Begin()
		must(t, s.AddPodAt(p, n))
		must(t, s.RemovePodAt(p, n))
		s.Rollback(m)
	}
}

func TestSnapshotAllocations(t *testing.T) {
	s := snapshotOf(t, framework.ZoneInterleaved, manyNames(10)...)
	pod := plainPod("p", "cpu", "1", "example.com/gpu", "1")
	pod.Spec.Containers[0].Ports = []api.ContainerPort{{HostPort: 80}, {HostPort: 81}}
	p := podInfo(t, s, pod)
	n := s.At(3)
	key := chargesKey.Of(s)
	key.charge(s, n, 1)
	warm(t, s, p)
	tests := []struct {
		name string
		do   func()
	}{
		{"Assume and Forget", func() {
			must(t, s.AddPodAt(p, n))
			must(t, s.RemovePodAt(p, n))
		}},
		{"AddPod and RemovePod", func() {
			must(t, s.AddPod(p, "node-00003"))
			must(t, s.RemovePod(p, "node-00003"))
		}},
		{"Begin, Assume, Rollback", func() {
			m := s.Begin()
			must(t, s.AddPodAt(p, n))
			s.Rollback(m)
		}},
		{"nested", func() {
			m := s.Begin()
			must(t, s.AddPodAt(p, n))
			inner := s.Begin()
			must(t, s.RemovePodAt(p, n))
			s.Rollback(inner)
			s.Rollback(m)
			s.Commit(m)
		}},
		{"Touch", func() { s.Touch(n) }},
		{"reading", func() {
			for _, n := range s.All() {
				if s.Node(n.Name()) != n {
					t.Error("not the node")
				}
			}
			s.Changes(s.Version())
			s.Image("x")
		}},
	}
	for _, test := range tests {
		if got := testing.AllocsPerRun(100, test.do); got != 0 {
			t.Errorf("%s allocates %v times, want 0", test.name, got)
		}
	}
}

var benchSizes = []int{1_000, 5_000, 100_000}

func benchSnapshot(b *testing.B, nodes int) (*framework.Snapshot, *framework.PodInfo) {
	b.Helper()
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	for i, name := range manyNames(nodes) {
		must(b, s.AddNode(plainNode(name, api.LabelTopologyZone, fmt.Sprint("zone-", i%10))))
	}
	for i := range 2 * nodes {
		must(b, s.AddPod(podInfo(b, s, plainPod(fmt.Sprint("init-", i), "cpu", "100m", "memory", "500Mi")), s.At(i%nodes).Name()))
	}
	return s, podInfo(b, s, plainPod("p", "cpu", "100m", "memory", "500Mi"))
}

func BenchmarkAssumeForget(b *testing.B) {
	for _, nodes := range benchSizes {
		b.Run(fmt.Sprint("nodes=", nodes), func(b *testing.B) {
			s, p := benchSnapshot(b, nodes)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				n := s.At(i % nodes)
				i += 7
				if s.AddPodAt(p, n) != nil || s.RemovePodAt(p, n) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}

// quiet is an extension that is told of pods and does nothing.
type quiet struct{}

func (quiet) Fork(*framework.Snapshot) framework.Extension { return quiet{} }

func (quiet) PodAdded(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {}

func (quiet) PodRemoved(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {}

// BenchmarkToldOfPods shows what a pod's coming and going costs more if an extension is told of it: inside of a transaction,
// and outside of one, where each is a transaction of its own.
func BenchmarkToldOfPods(b *testing.B) {
	for _, told := range []bool{false, true} {
		s, p := benchSnapshot(b, 1_000)
		if told {
			framework.NewExtensionKey(func(*framework.Snapshot) quiet { return quiet{} }).Of(s)
		}
		n := s.At(7)
		pair := func() {
			if s.AddPodAt(p, n) != nil || s.RemovePodAt(p, n) != nil {
				b.Fatal("refused")
			}
		}
		b.Run(fmt.Sprintf("told=%t/outside", told), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				pair()
			}
		})
		b.Run(fmt.Sprintf("told=%t/inside", told), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := s.Begin()
				pair()
				s.Commit(m)
			}
		})
	}
}

func BenchmarkRollback(b *testing.B) {
	s, p := benchSnapshot(b, 1_000)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		m := s.Begin()
		for k := range 3 {
			if err := s.AddPodAt(p, s.At((i+k)%1_000)); err != nil {
				b.Fatal(err)
			}
		}
		s.Rollback(m)
	}
}

func BenchmarkFork(b *testing.B) {
	for _, nodes := range benchSizes {
		b.Run(fmt.Sprint("nodes=", nodes), func(b *testing.B) {
			s, p := benchSnapshot(b, nodes)
			b.Run("alone", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.Fork()
				}
			})
			b.Run("write", func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					i += 7
					f := s.Fork()
					if err := f.AddPodAt(p, f.At(i%nodes)); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("write100", func(b *testing.B) {
				b.ReportAllocs()
				i := 0
				for b.Loop() {
					f := s.Fork()
					for range 100 {
						i += 7
						if err := f.AddPodAt(p, f.At(i%nodes)); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		})
	}
}

func BenchmarkAddNode(b *testing.B) {
	for _, zones := range []int{10, 10_000} {
		b.Run(fmt.Sprint("nodes=10000/zones=", zones), func(b *testing.B) {
			nodes := make([]*api.Node, 10_000)
			for i, name := range manyNames(len(nodes)) {
				nodes[i] = plainNode(name, api.LabelTopologyZone, fmt.Sprint("zone-", i%zones))
			}
			b.ReportAllocs()
			for b.Loop() {
				s := framework.NewSnapshot(framework.ZoneInterleaved)
				for _, n := range nodes {
					if err := s.AddNode(n); err != nil {
						b.Fatal(err)
					}
				}
				s.At(0)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(nodes)), "ns/node")
		})
	}
}

func BenchmarkNewPodInfo(b *testing.B) {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	p := plainPod("p", "cpu", "100m", "memory", "500Mi")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.NewPodInfo(p); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPodIndex shows what a snapshot pays once somebody asked for a pod by name.
func BenchmarkPodIndex(b *testing.B) {
	s, p := benchSnapshot(b, 5_000)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			s.Fork().Pod("default/init-77")
		}
	})
	s.Pod("default/init-77")
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Pod("default/init-77")
		}
	})
	b.Run("AddRemove", func(b *testing.B) {
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			n := s.At(i % 5_000)
			i += 7
			if s.AddPodAt(p, n) != nil || s.RemovePodAt(p, n) != nil {
				b.Fatal("refused")
			}
		}
	})
}
