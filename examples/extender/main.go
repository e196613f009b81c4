// Extender lets a stock kube-scheduler ask berth. It serves the HTTP extender
// protocol from a profile, over a cluster that it reads from files.
//
//	go run ./examples/extender
//	go run ./examples/extender -nodes cluster.json -listen 127.0.0.1:9000
//
// It prints the lines that kube-scheduler's configuration file needs, and serves
// until it is interrupted. The profile packs, while kube-scheduler spreads pods. So
// the extender prefers the nodes that the pod would fill, and rejects nodes where
// the pod does not fit by berth's data.
//
// The cluster stays as it was read. A program for a real cluster would follow its
// watches, and hand out the current snapshot in place of the single one here.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/berth-sched/berth/examples/internal/display"
	"github.com/berth-sched/berth/examples/internal/input"
	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
	"github.com/berth-sched/berth/scoring"
)

// packing prefers the fullest node on which a pod fits.
var packing = scheduling.Profile{
	Name:   "packing",
	Filter: []framework.Plugin{filter.NodeResourcesFit{}},
	Score:  []scheduling.Weighted{{Plugin: scoring.NodeResourcesFit{Strategy: scoring.MostAllocated}}},
}

// configuration is the text that kube-scheduler needs; the address comes in between.
const configuration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: http://%s
  filterVerb: filter
  prioritizeVerb: prioritize
  weight: 5
  nodeCacheCapable: true
  httpTimeout: 2s
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		display.Fail(os.Stderr, "extender", err)
		os.Exit(1)
	}
}

// run serves until ctx is done.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("extender", flag.ContinueOnError)
	nodes := flags.String("nodes", "", "`file` with nodes, as for simulate; without it and -pods a sample")
	pods := flags.String("pods", "", "`file` with pods, as for simulate; those that have a node count there")
	address := flags.String("listen", "127.0.0.1:8888", "`address` to serve on; port 0 takes any that is free")
	flags.SetOutput(io.Discard)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(out)
			flags.Usage()
		}
		return err
	}
	cluster, err := input.Load(*nodes, *pods)
	if err != nil {
		return err
	}
	snapshot, _, err := cluster.Snapshot()
	if err != nil {
		return err
	}
	scheduler, err := scheduling.New(packing)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "# %d nodes of %s. kube-scheduler asks with --config and this file:\n", snapshot.Len(), cluster.Title)
	fmt.Fprintf(out, configuration, listener.Addr())
	return serve(ctx, listener, &extender.Handler{
		Scheduler: scheduler,
		Snapshot:  func(context.Context) (*framework.Snapshot, error) { return snapshot, nil },
	})
}

// serve answers requests until ctx is done. Then it finishes the requests that have
// come in.
func serve(ctx context.Context, l net.Listener, h http.Handler) error {
	const patience = 5 * time.Second
	server := &http.Server{Handler: h, ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	return server.Shutdown(last)
}
