package controlplane

import (
	"context"
	"fmt"
	"strings"
)

// Scheduler says how a scheduler runs. Both schedulers read the same configuration file,
// written from it.
type Scheduler struct {
	// Program is KubeScheduler or BerthScheduler.
	Program Program
	// User is whose rights it has; nobody means Stock's or Berth's.
	User User
	// URL is the address of the API server; "" means the cluster's.
	URL string
	// LeaderElect is whether it asks to lead before it schedules.
	LeaderElect bool
	// Sample leaves it to the scheduler how many nodes it scores, and with how many
	// workers. Otherwise it scores all nodes with one.
	Sample bool
	// Lists has the stock scheduler begin with lists, which come in the order of names. By
	// default it begins with watches, and then the order of nodes and of waiting pods is
	// another after every start. berth-scheduler sorts what it begins with.
	Lists bool
	// More is added to the configuration file as it is.
	More string
	// Args are more arguments.
	Args []string
}

// QPS and burst are the limit of requests of every scheduler: high enough not to be the
// bottleneck, and the same for both.
const (
	qps   = 5000
	burst = 10000
)

// Configuration is the file, for the kubeconfig at a path.
func (s Scheduler) Configuration(kubeconfig string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
	if !s.Sample {
		b.WriteString("parallelism: 1\npercentageOfNodesToScore: 100\n")
	}
	fmt.Fprintf(&b, "clientConnection:\n  kubeconfig: %q\n  qps: %d\n  burst: %d\n", kubeconfig, qps, burst)
	b.WriteString("  contentType: application/vnd.kubernetes.protobuf\n")
	fmt.Fprintf(&b, "leaderElection:\n  leaderElect: %t\n", s.LeaderElect)
	if s.LeaderElect {
		fmt.Fprintf(&b, "  resourceName: %s\n  leaseDuration: 15s\n  renewDeadline: 10s\n  retryPeriod: 500ms\n", s.Program.Name())
	}
	b.WriteString(s.More)
	return b.String()
}

// StartScheduler starts a scheduler. It does not wait until the scheduler is ready.
func (c *Cluster) StartScheduler(ctx context.Context, s Scheduler) (*Process, error) {
	user := s.User
	if user.Name == "" {
		if user = Berth; s.Program == KubeScheduler {
			user = Stock
		}
	}
	url := s.URL
	if url == "" {
		url = c.URL()
	}
	kubeconfig, err := c.Kubeconfig(user, url)
	if err != nil {
		return nil, err
	}
	file, err := c.WriteFile("config.yaml", []byte(s.Configuration(kubeconfig)))
	if err != nil {
		return nil, err
	}
	arguments := []string{"--config=" + file, "--secure-port=0"}
	if s.Program == KubeScheduler && s.Lists {
		arguments = append(arguments, "--feature-gates=WatchListClient=false")
	}
	return c.Run(ctx, s.Program, append(arguments, s.Args...)...)
}

// StartVolumeController starts kube-controller-manager with the binder of persistent volumes
// alone. It provisions volumes of kubernetes.io/host-path, as empty folders below /tmp/hostpath_pv.
func (c *Cluster) StartVolumeController(ctx context.Context) (*Process, error) {
	kubeconfig, err := c.Kubeconfig(Admin, c.URL())
	if err != nil {
		return nil, err
	}
	return c.Run(ctx, ControllerManager, "--kubeconfig="+kubeconfig, "--secure-port=0", "--leader-elect=false",
		"--controllers=persistentvolume-binder-controller", "--enable-hostpath-provisioner",
		"--pvclaimbinder-sync-period=1s", "--kube-api-qps=500", "--kube-api-burst=1000")
}
