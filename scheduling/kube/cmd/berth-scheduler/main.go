// Command berth-scheduler is a scheduler for Kubernetes clusters: kube-scheduler's
// decisions, made by the library berth.
//
//	berth-scheduler --kubeconfig ~/.kube/config
//	berth-scheduler --config scheduler.yaml --leader-elect=false -v 1
//
// It reads kube-scheduler's configuration files, of every version that the library reads.
// SIGINT and SIGTERM end it gracefully: bindings under way are finished, and the lease is
// given back. The exit status is 1 after an error, such as a file that cannot be read or a
// lease that another process has taken; an API server that does not answer is not one.
//
// It serves metrics and health by HTTPS, on kube-scheduler's port. Everyone who reaches the
// port may read them, unlike kube-scheduler's metrics.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"github.com/berth-sched/berth/scheduling/kube"
	"github.com/berth-sched/berth/scheduling/kube/celselector"
	"github.com/berth-sched/berth/scheduling/observe"
)

// gcPercent lets the heap grow further between two collections than Go does by default. The
// heap is small beside the machines of a control plane, and each binding leaves garbage of
// requests and events.
const gcPercent = 400

// processors is on how many processors Go code runs at once, unless GOMAXPROCS says
// otherwise. Decisions are made one after the other, and what the answers of the API server
// need beside them is so little that waking a second thread for it costs more.
const processors = 1

func main() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(processors)
	}
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "berth-scheduler:", err)
		os.Exit(1)
	}
}

// run runs the command until ctx is done.
func run(ctx context.Context, arguments []string, out io.Writer) error {
	o, err := parse(arguments, out)
	if o == nil || err != nil {
		return err
	}
	settings, err := o.settings()
	if err != nil {
		return err
	}
	log := o.logger(out)
	klog.SetSlogLogger(log) // client-go's lines
	client, err := o.connect(settings)
	if err != nil {
		return err
	}
	c := kube.Config{Configuration: settings, Identity: o.identity(), Log: log, Seed: o.seed, LeaderElection: o.election(settings)}
	if c.Client, err = kubernetes.NewForConfig(client); err != nil {
		return fmt.Errorf("connecting to the API server: %w", err)
	}
	if c.Events, err = kubernetes.NewForConfig(client); err != nil { // with limits of its own
		return fmt.Errorf("connecting to the API server: %w", err)
	}
	if o.fullSelectors {
		c.DeviceSelectors = celselector.Compiler{}
	}
	if o.verbosity > 0 {
		c.Observer = observe.Log{Logger: log}.Observer()
	}
	scheduler, err := kube.New(c)
	if err != nil {
		return err
	}
	stop, err := o.serving.start(scheduler.Handler(), log)
	if err != nil {
		return err
	}
	defer stop()
	if err := scheduler.Run(ctx); ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	log.Info("stopped")
	return nil
}
