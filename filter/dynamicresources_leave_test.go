package filter_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A gate is an extension that lets no pod leave a node while it is closed.
type gate struct{ closed *bool }

func (g gate) Fork(*framework.Snapshot) framework.Extension { return g }

func (gate) PodAdded(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {}

func (g gate) PodRemoved(*framework.Snapshot, *framework.NodeInfo, *framework.PodInfo) {
	if *g.closed {
		panic("closed")
	}
}

// TestDevicesGoWithThePod: what a pod has in flight goes with it, however it leaves, and stays
// if it stays.
func TestDevicesGoWithThePod(t *testing.T) {
	within := func(do func(s *framework.Snapshot, p *framework.PodInfo, node string) error, end func(*framework.Snapshot, framework.Mark)) func(s *framework.Snapshot, p *framework.PodInfo, node string) error {
		return func(s *framework.Snapshot, p *framework.PodInfo, node string) error {
			m := s.Begin()
			err := do(s, p, node)
			end(s, m)
			return err
		}
	}
	remove := (*framework.Snapshot).RemovePod
	again := func(s *framework.Snapshot, p *framework.PodInfo, node string) error {
		return errors.Join(s.RemovePod(p, node), s.AddPod(p, node))
	}
	refused := func(s *framework.Snapshot, p *framework.PodInfo, node string) error {
		closed := true
		framework.NewExtensionKey(func(*framework.Snapshot) gate { return gate{&closed} }).Of(s)
		err := s.RemovePod(p, node)
		closed = false
		if err == nil {
			return errors.New("the pod left through a closed gate")
		}
		return nil
	}
	for _, tt := range []struct {
		name string
		do   func(s *framework.Snapshot, p *framework.PodInfo, node string) error
		free bool
	}{
		{"removed", remove, true},
		{"may not leave", refused, false},
		{"may not leave, and then it may", func(s *framework.Snapshot, p *framework.PodInfo, node string) error {
			return errors.Join(refused(s, p, node), s.RemovePod(p, node))
		}, true},
		{"may not leave in a transaction", within(refused, (*framework.Snapshot).Commit), false},
		{"removed with its node", func(s *framework.Snapshot, _ *framework.PodInfo, node string) error { return s.RemoveNode(node) }, true},
		{"its node is lost", func(s *framework.Snapshot, _ *framework.PodInfo, node string) error { return s.LoseNode(node) }, false},
		{"its node is lost, and then it goes", func(s *framework.Snapshot, p *framework.PodInfo, node string) error {
			return errors.Join(s.LoseNode(node), s.ReleasePod(p))
		}, true},
		{"it is elsewhere, too", (*framework.Snapshot).LosePod, false},
		{"it is elsewhere, too, and then it goes", func(s *framework.Snapshot, p *framework.PodInfo, node string) error {
			return errors.Join(s.LosePod(p, node), s.ReleasePod(p))
		}, true},
		{"goes, and is taken back", within(func(s *framework.Snapshot, p *framework.PodInfo, node string) error {
			return errors.Join(s.RemovePod(p, node), s.ReleasePod(p))
		}, (*framework.Snapshot).Rollback), false},
		{"its node comes back, and then it goes", func(s *framework.Snapshot, p *framework.PodInfo, node string) error {
			object := s.Node(node).Node
			return errors.Join(s.LoseNode(node), s.AddNode(object), s.AddPod(p, node), s.RemovePod(p, node))
		}, true},
		{"its node comes back", func(s *framework.Snapshot, p *framework.PodInfo, node string) error {
			object := s.Node(node).Node
			return errors.Join(s.LoseNode(node), s.AddNode(object), s.AddPod(p, node))
		}, false},
		{"removed in a transaction", within(remove, (*framework.Snapshot).Commit), true},
		{"removed in an inner transaction", within(within(remove, (*framework.Snapshot).Commit), (*framework.Snapshot).Commit), true},
		{"removed, and taken back", within(remove, (*framework.Snapshot).Rollback), false},
		{"removed in an inner transaction, and taken back", within(within(remove, (*framework.Snapshot).Rollback), (*framework.Snapshot).Commit), false},
		{"removed and added in a transaction", within(again, (*framework.Snapshot).Commit), false},
		{"removed and added, and taken back", within(again, (*framework.Snapshot).Rollback), false},
		{"replaced by a newer version", func(s *framework.Snapshot, p *framework.PodInfo, node string) error {
			pod := *p.Pod
			pod.Labels = map[string]string{"version": "2"}
			newer, err := s.NewPodInfo(&pod)
			if err != nil {
				return err
			}
			return s.ReplacePod(p, newer, node)
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := networkDevice(t)
			p := scheduling.Kubernetes137()
			p.Cache.Verify = true
			sched, err := scheduling.New(p)
			if err != nil {
				t.Fatal(err)
			}
			place := func(name string) (*framework.PodInfo, string, error) {
				pod, err := s.NewPodInfo(gpuPod(name, 1))
				if err != nil {
					t.Fatal(err)
				}
				d, err := sched.Place(s, pod)
				if err != nil {
					return pod, "", err
				}
				return pod, d.Node, nil
			}
			pod, node, err := place("p")
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := place("beside"); err == nil {
				t.Fatal("the only device is given twice")
			}
			if err := tt.do(s, pod, node); err != nil {
				t.Fatal(err)
			}
			if held := len(filter.DeviceClaimsOf(s, pod)); held > 0 == tt.free {
				t.Errorf("the pod holds %d claims, want none: %t", held, tt.free)
			}
			if err := s.Check(); err != nil {
				t.Error(err)
			}
			if _, _, err := place("next"); (err == nil) != tt.free {
				t.Errorf("the next pod: %v, want a place: %t", err, tt.free)
			}
		})
	}
}

// TestDevicesOfPodThatIsPlacedAnew: a pod that has left and given its devices back, and is placed
// again in the same transaction, keeps what it got then: the commit must not take it.
func TestDevicesOfPodThatIsPlacedAnew(t *testing.T) {
	for name, giveBack := range map[string]func(*testing.T, *framework.Snapshot, *framework.PodInfo) error{
		"released": func(_ *testing.T, s *framework.Snapshot, p *framework.PodInfo) error { return s.ReleasePod(p) },
		"unreserved": func(_ *testing.T, s *framework.Snapshot, p *framework.PodInfo) error {
			c := new(framework.Cycle)
			c.Reset(p, s, 1, 1)
			filter.DynamicResources{}.Unreserve(c, nil)
			return nil
		},
		"written, and the claim is deleted": func(t *testing.T, s *framework.Snapshot, p *framework.PodInfo) error {
			c := filter.DeviceClaimsOf(s, p)[0]
			w, err := c.Write(nil, p.Pod, time.Unix(1, 0))
			if err != nil {
				t.Fatal(err)
			}
			w.Name = "written"
			err = framework.Put(s, w)
			framework.Delete[api.ResourceClaim](s, w.Key())
			return err
		},
	} {
		for _, commit := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, commit %t", name, commit), func(t *testing.T) {
				s := networkDevice(t)
				pod, node, err := placeOnNetwork(t, s, "p")
				if err != nil {
					t.Fatal(err)
				}
				sched, err := scheduling.New(scheduling.Kubernetes137())
				if err != nil {
					t.Fatal(err)
				}
				outer := s.Begin()
				if err := errors.Join(s.RemovePod(pod, node), giveBack(t, s, pod)); err != nil {
					t.Fatal(err)
				}
				inner := s.Begin()
				d, err := sched.Place(s, pod)
				if err != nil {
					t.Fatal(err)
				}
				if !commit {
					s.Rollback(inner)
				}
				s.Commit(outer)
				want := 0
				if commit {
					want = 1
				}
				if held := len(filter.DeviceClaimsOf(s, pod)); held != want {
					t.Errorf("the pod, placed on %s: %t, holds %d claims, want %d", d.Node, commit, held, want)
				}
				if _, _, err := placeOnNetwork(t, s, "next"); (err == nil) == commit {
					t.Errorf("the next pod: %v", err)
				}
				if err := s.Check(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
