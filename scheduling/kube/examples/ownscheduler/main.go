// Command ownscheduler is the program of README.md: a scheduler with a plugin of its own.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/kube"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Quiet prefers nodes with few pods.
type Quiet struct{}

func (Quiet) Name() string { return "Quiet" }

func (Quiet) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	return max(0, 100-int64(len(node.Pods)))
}

func profile() scheduling.Profile {
	p := scheduling.Kubernetes137()
	p.Name = "myscheduler"
	p.Score = append(p.Score, scheduling.Weighted{Plugin: Quiet{}, Weight: 5})
	return p
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	settings, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		log.Fatal(err)
	}
	settings.QPS, settings.Burst = 50, 100 // as in kube-scheduler; client-go's own limit is 5
	scheduler, err := kube.New(kube.Config{
		Client:   kubernetes.NewForConfigOrDie(settings),
		Profiles: []scheduling.Profile{profile()},
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Print(scheduler.Run(ctx))
}
