package kube_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/kube"
)

// A scheduler with leader election and a what-if about the live cluster. In a program,
// Client is kubernetes.NewForConfig(...), and main returns what Run returns.
func ExampleNew() {
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	profile := scheduling.Kubernetes137()
	s, err := kube.New(kube.Config{
		Client:   fake.NewClientset(node("small", "2"), node("large", "64")),
		Profiles: []scheduling.Profile{profile},
		Identity: "replica-1",
		Log:      slog.New(slog.DiscardHandler),
		LeaderElection: &kube.LeaderElection{
			Namespace: "kube-system", Name: "my-scheduler",
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()

	snapshot, err := s.Snapshot(ctx) // waits until the cluster is known
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(snapshot.Len(), "nodes")
	whatIf, err := scheduling.New(profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	pod, err := snapshot.NewPodInfo(api.MakePod("trainer").Requests("16", "1Gi").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	decision, err := whatIf.Schedule(snapshot, pod)
	fmt.Println("a pod of 16 CPUs would go to", decision.Node, err)

	stop()
	fmt.Println(<-done)
	// Output:
	// 2 nodes
	// a pod of 16 CPUs would go to large <nil>
	// context canceled
}
