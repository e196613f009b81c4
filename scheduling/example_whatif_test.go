package scheduling_test

import (
	"fmt"
	"sync"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// A thousand what-ifs: a pod fits nowhere. Which of the thousand running pods could make
// room for it, and where would it go? Four goroutines ask, each with a fork of the
// scheduler and of the snapshot, and take back each question.
func ExampleScheduler_Fork() {
	s := framework.NewSnapshot(framework.ZoneInterleaved)
	var running []*framework.PodInfo
	for i := range 100 {
		node := fmt.Sprintf("node-%d", i)
		if err := s.AddNode(api.MakeNode(node, "4", "16Gi").Obj()); err != nil {
			fmt.Println(err)
		}
		for k := range 10 {
			p, err := s.NewPodInfo(api.MakePod(fmt.Sprintf("web-%d-%d", i, k)).Requests("380m", "1Gi").Node(node).Obj())
			if err != nil {
				fmt.Println(err)
			}
			if err := s.AddPod(p, node); err != nil {
				fmt.Println(err)
			}
			running = append(running, p)
		}
	}
	sched := scheduler(scheduling.Kubernetes137())
	big := pending(s, "big", "500m", "1Gi")
	_, err := sched.Schedule(s, big) // before the forks, so that they share what it found
	fmt.Println(err)

	answers := make([]string, len(running))
	var wait sync.WaitGroup
	const goroutines = 4
	for g := range goroutines {
		sched, s := sched.Fork(), s.Fork()
		wait.Go(func() {
			for i := g; i < len(running); i += goroutines {
				mark := s.Begin()
				if err := s.RemovePod(running[i], running[i].Pod.Spec.NodeName); err != nil {
					answers[i] = err.Error()
				} else if d, err := sched.Schedule(s, big); err != nil {
					answers[i] = err.Error()
				} else {
					answers[i] = d.Node
				}
				s.Rollback(mark)
			}
		})
	}
	wait.Wait()
	fmt.Println(len(answers), "answers, such as", answers[0], answers[555], answers[999])
	// Output:
	// 0/100 nodes are available: 100 Insufficient cpu.
	// 1000 answers, such as node-0 node-55 node-99
}
