package shapes

import (
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
)

// Shapes in which one scheduler is asked about several snapshots.

// forkPods is how many pods move in each fork.
const forkPods = 11

func fork() Shape {
	return Shape{
		Name: "fork", About: "what-ifs: a fork of the snapshot for every 11 pods, each in place of a pod that leaves its node",
		Pod: func(i, _ int) *api.Pod { return workload.Pod(workload.Basic, i) },
		Come: func(w *World, p *framework.PodInfo) error {
			if w.forked%forkPods == 0 {
				w.forks = append(w.forks[:0], w.Snapshot.Fork())
			}
			w.forked++
			return w.replace(w.forks[0], p, 1)
		},
	}
}

// poolForks is how many forks live at a time in the shape forkpool, and poolPods how many pods leave each.
const poolForks, poolPods = 20, 3

func forkPool() Shape {
	s := deployments()
	s.Name, s.About = "forkpool", "a search: a fork of one of the last 20 forks for every pod, which three pods have left"
	s.Come = func(w *World, p *framework.PodInfo) error {
		if len(w.forks) == 0 {
			w.forks = append(w.forks, w.Snapshot)
		}
		w.forked++
		f := w.forks[w.forked*7919%len(w.forks)].Fork()
		if len(w.forks) < poolForks {
			w.forks = append(w.forks, f)
		} else {
			w.forks[w.forked*31%poolForks] = f
		}
		return w.replace(f, p, poolPods)
	}
	return s
}

func clusters() Shape {
	s := deployments()
	s.Name, s.About = "clusters", "one scheduler for two clusters, which are asked about in turn"
	s.Ready = func(w *World) error {
		other, _, err := framework.SnapshotOf(w.shape.Objects(w.nodes), framework.ZoneInterleaved)
		w.forks = []*framework.Snapshot{w.Snapshot, other}
		return err
	}
	s.Come = func(w *World, p *framework.PodInfo) error {
		s := w.forks[w.forked%len(w.forks)]
		w.forked++
		if s == w.Snapshot {
			return w.Place(p)
		}
		info, err := s.NewPodInfo(p.Pod)
		if err != nil {
			return err
		}
		_, err = w.decide(s, info)
		return err
	}
	return s
}

// replace places the pod in a fork of the cluster after so many others have left their nodes.
func (w *World) replace(f *framework.Snapshot, p *framework.PodInfo, leaving int) error {
	for i := range leaving {
		node := f.At((w.forked*7919 + 31*i) % f.Len())
		if len(node.Pods) > 0 {
			if err := f.RemovePodAt(node.Pods[0], node); err != nil {
				return err
			}
		}
	}
	_, err := w.decide(f, p)
	return err
}
