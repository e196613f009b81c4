package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/kube"
)

// options are the values of the flags.
type options struct {
	config, kubeconfig, master, address, name string

	elect                   bool
	leaseNamespace, lease   string
	duration, renew, period time.Duration
	qps                     float64
	burst                   int
	seed                    uint64
	verbosity               int

	set map[string]bool // flags that were given
}

// parse reads the flags. It returns nil if they only asked for help.
func parse(arguments []string, out io.Writer) (*options, error) {
	o := &options{set: map[string]bool{}}
	f := flag.NewFlagSet("berth-scheduler", flag.ContinueOnError)
	f.SetOutput(out)
	f.StringVar(&o.config, "config", "", "`file` of kind KubeSchedulerConfiguration; without it the defaults of kube-scheduler 1.37 apply")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file`; without it, and without one in --config, the service account of the pod")
	f.StringVar(&o.master, "master", "", "`URL` of the API server, in place of the one in the kubeconfig file")
	f.StringVar(&o.address, "metrics-address", ":10251", "`address` of /metrics, /healthz, /livez and /readyz, by HTTP; empty for none")
	f.StringVar(&o.name, "identity", "", "`name` of this process in leases and events; host name and process number by default")
	f.BoolVar(&o.elect, "leader-elect", true, "schedule only while holding the lease")
	f.StringVar(&o.leaseNamespace, "leader-elect-resource-namespace", "kube-system", "`namespace` of the lease")
	f.StringVar(&o.lease, "leader-elect-resource-name", "berth-scheduler", "`name` of the lease")
	f.DurationVar(&o.duration, "leader-elect-lease-duration", 15*time.Second, "how long others wait for a leader that does not answer")
	f.DurationVar(&o.renew, "leader-elect-renew-deadline", 10*time.Second, "how long a leader tries to renew the lease before it gives up")
	f.DurationVar(&o.period, "leader-elect-retry-period", 2*time.Second, "the time between two tries")
	f.Float64Var(&o.qps, "kube-api-qps", 50, "requests per second to the API server")
	f.IntVar(&o.burst, "kube-api-burst", 100, "requests at once to the API server")
	f.Uint64Var(&o.seed, "seed", 0, "the seed of random choices; 0 takes the time")
	f.IntVar(&o.verbosity, "v", 0, "verbosity: 0 warnings and changes of state, 1 every pod, 2 every step of every pod")
	switch err := f.Parse(arguments); {
	case errors.Is(err, flag.ErrHelp):
		return nil, nil
	case err != nil:
		return nil, err
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	f.Visit(func(f *flag.Flag) { o.set[f.Name] = true })
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	return o, nil
}

// settings loads the configuration file, or the defaults. Flags that were given win.
func (o *options) settings() (*config.Configuration, error) {
	data := []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n")
	if o.config != "" {
		var err error
		if data, err = os.ReadFile(o.config); err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
	}
	c, err := config.Load(data, config.LoadConfig{ReadFile: os.ReadFile})
	if err != nil {
		return nil, fmt.Errorf("--config %s: %w", o.config, err)
	}
	if o.set["leader-elect"] || o.config == "" {
		c.LeaderElection.LeaderElect = o.elect
	}
	if o.set["kube-api-qps"] {
		c.ClientConnection.QPS = float32(o.qps)
	}
	if o.set["kube-api-burst"] {
		c.ClientConnection.Burst = int32(o.burst)
	}
	return c, nil
}

// election returns the election to take part in, nil for none. A file that does not name
// the lease means kube-scheduler's, as it does for kube-scheduler; without a file, the lease
// is berth's own.
func (o *options) election(c *config.Configuration) *kube.LeaderElection {
	e := c.LeaderElection
	if !e.LeaderElect {
		return nil
	}
	l := &kube.LeaderElection{
		Namespace: e.ResourceNamespace, Name: e.ResourceName,
		LeaseDuration: e.LeaseDuration.Duration, RenewDeadline: e.RenewDeadline.Duration, RetryPeriod: e.RetryPeriod.Duration,
	}
	given := func(name string) bool { return o.set["leader-elect-"+name] || o.config == "" }
	if given("resource-namespace") {
		l.Namespace = o.leaseNamespace
	}
	if given("resource-name") {
		l.Name = o.lease
	}
	if given("lease-duration") {
		l.LeaseDuration = o.duration
	}
	if given("renew-deadline") {
		l.RenewDeadline = o.renew
	}
	if given("retry-period") {
		l.RetryPeriod = o.period
	}
	return l
}

// connect returns how to reach the API server.
func (o *options) connect(c *config.Configuration) (*rest.Config, error) {
	file := o.kubeconfig
	if file == "" {
		file = c.ClientConnection.Kubeconfig
	}
	var r *rest.Config
	var err error
	if file == "" && o.master == "" {
		if r, err = rest.InClusterConfig(); err != nil {
			return nil, fmt.Errorf("neither --kubeconfig nor --master is given, and this is no pod of a cluster: %w", err)
		}
	} else if r, err = clientcmd.BuildConfigFromFlags(o.master, file); err != nil {
		return nil, fmt.Errorf("--kubeconfig %s: %w", file, err)
	}
	r.UserAgent = "berth-scheduler"
	r.QPS, r.Burst = c.ClientConnection.QPS, int(c.ClientConnection.Burst)
	r.ContentType, r.AcceptContentTypes = c.ClientConnection.ContentType, c.ClientConnection.AcceptContentTypes
	r.DisableCompression = true // as in kube-scheduler: it costs CPU at both ends
	return r, nil
}

func (o *options) identity() string {
	if o.name != "" {
		return o.name
	}
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "berth-scheduler"
	}
	return fmt.Sprintf("%s_%d_%x", host, os.Getpid(), time.Now().UnixNano())
}

func (o *options) logger(out io.Writer) *slog.Logger {
	level := slog.LevelInfo
	if o.verbosity > 1 {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
}
