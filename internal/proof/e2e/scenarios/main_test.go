package scenarios

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
)

var (
	// long makes every scenario as large as the promise it proves.
	long = flag.Bool("long", false, "run the scenarios at full size: 5,000 and more pods, ten minutes in all")
	// stock shows that the scenarios ask for nothing that the original does not do.
	stock = flag.Bool("stock", false, "run the scenarios with the stock kube-scheduler in place of berth-scheduler")
)

// cluster is the control plane that the scenarios share. Each begins with an empty one.
var cluster *controlplane.Cluster

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asSubject {
		os.Exit(runSubject(os.Args[2:]))
	}
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx := context.Background()
	if _, err := controlplane.Build(ctx, program(), os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var err error
	if cluster, err = controlplane.Start(ctx, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer cluster.Stop()
	if err := cluster.ApplyManifests(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// program is the scheduler under test.
func program() controlplane.Program {
	if *stock {
		return controlplane.KubeScheduler
	}
	return controlplane.BerthScheduler
}

// berthOnly skips what the stock scheduler does otherwise.
func berthOnly(t *testing.T, why string) {
	t.Helper()
	if *stock {
		t.Skip(why)
	}
}

// longOnly skips what takes minutes.
func longOnly(t *testing.T) {
	t.Helper()
	if !*long {
		t.Skip("takes minutes: run with -long")
	}
}

// size is the number for a long run, or the one for a short run.
func size(short, full int) int {
	if *long {
		return full
	}
	return short
}
