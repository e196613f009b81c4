package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/kube"
)

// options are the values of the flags.
type options struct {
	config, kubeconfig, master, name string

	serving

	elect                   bool
	leaseNamespace, lease   string
	duration, renew, period time.Duration
	qps                     float64
	burst                   int
	seed                    uint64
	verbosity               int
	fullSelectors           bool

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
	f.IntVar(&o.port, "secure-port", 10259, "`port` of /metrics, /healthz, /livez and /readyz, by HTTPS; 0 for none")
	f.StringVar(&o.address, "bind-address", "0.0.0.0", "IP `address` to serve at; 0.0.0.0 or :: for all interfaces")
	f.StringVar(&o.cert, "tls-cert-file", "", "`file` of the certificate to serve with; without it, a new one that is signed by itself")
	f.StringVar(&o.key, "tls-private-key-file", "", "`file` of the key of --tls-cert-file")
	f.StringVar(&o.name, "identity", "", "`name` that begins the identity of this process in leases and events; the host name by default")
	f.BoolVar(&o.elect, "leader-elect", true, "schedule only while holding the lease")
	f.StringVar(&o.leaseNamespace, "leader-elect-resource-namespace", "kube-system", "`namespace` of the lease")
	f.StringVar(&o.lease, "leader-elect-resource-name", "berth-scheduler", "`name` of the lease")
	f.DurationVar(&o.duration, "leader-elect-lease-duration", 15*time.Second, "how long others wait for a leader that does not answer")
	f.DurationVar(&o.renew, "leader-elect-renew-deadline", 10*time.Second, "how long a leader tries to renew the lease before it gives up")
	f.DurationVar(&o.period, "leader-elect-retry-period", 2*time.Second, "the time between two tries")
	f.Float64Var(&o.qps, "kube-api-qps", 50, "requests per second to the API server; a negative number means no limit")
	f.IntVar(&o.burst, "kube-api-burst", 100, "requests at once to the API server")
	f.Uint64Var(&o.seed, "seed", 0, "the seed of random choices; 0 takes the time")
	f.BoolVar(&o.fullSelectors, "full-device-selectors", false, "take selectors of devices in the whole Common Expression Language, with Kubernetes' compiler; whoever may create claims can then keep the scheduler busy for ever, as they can kube-scheduler")
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
	if err := o.check(); err != nil {
		return nil, err
	}
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
		if data, err = readConfig(o.config); err != nil {
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
		c.ClientConnection.QPS = cmp.Or(float32(o.qps), 50) // 0 means the default, as in a file
	}
	if o.set["kube-api-burst"] {
		c.ClientConnection.Burst = cmp.Or(int32(o.burst), 100)
	}
	return c, o.limits(c)
}

// readConfig reads no more of a file than config.Load takes, and the byte with which it
// refuses a larger one: a file may be endless.
func readConfig(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, config.DefaultMaxBytes+1))
}

// limits checks the limits of requests. As in kube-scheduler, a negative rate means that
// there is none.
func (o *options) limits(c *config.Configuration) error {
	qps, burst := o.source("kube-api-qps", "clientConnection.qps"), o.source("kube-api-burst", "clientConnection.burst")
	rate := float64(c.ClientConnection.QPS)
	switch {
	case math.IsNaN(rate) || math.IsInf(rate, 0):
		return fmt.Errorf("%s: %v: must be a finite number", qps, rate)
	case o.burst < 0 || o.burst > math.MaxInt32:
		return fmt.Errorf("--kube-api-burst: %d: must be between 0 and %d, inclusive", o.burst, math.MaxInt32)
	case rate >= 0 && c.ClientConnection.Burst < 1:
		return fmt.Errorf("%s: %d: must be greater than 0 while %s limits requests", burst, c.ClientConnection.Burst, qps)
	}
	return nil
}

// source names where a setting is from: the flag, or the field of the file.
func (o *options) source(flag, field string) string {
	if o.set[flag] || o.config == "" {
		return "--" + flag
	}
	return "--config " + o.config + ": " + field
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
	file, source := o.kubeconfig, "--kubeconfig"
	if file == "" {
		file, source = c.ClientConnection.Kubeconfig, "--config "+o.config+": clientConnection.kubeconfig"
	}
	var r *rest.Config
	var err error
	if file == "" && o.master == "" {
		if r, err = rest.InClusterConfig(); err != nil {
			return nil, fmt.Errorf("neither --kubeconfig nor --master is given, and this is no pod of a cluster: %w", err)
		}
	} else if r, err = clientcmd.BuildConfigFromFlags(o.master, file); err != nil {
		return nil, fmt.Errorf("%s %s: %w", source, file, err)
	}
	r.UserAgent = "berth-scheduler"
	r.QPS, r.Burst = c.ClientConnection.QPS, int(c.ClientConnection.Burst)
	r.ContentType, r.AcceptContentTypes = c.ClientConnection.ContentType, c.ClientConnection.AcceptContentTypes
	r.DisableCompression = true // as in kube-scheduler: it costs CPU at both ends
	return r, nil
}

// identity is different for every process, also for those of one --identity: two that held
// a lease under one identity would both lead.
func (o *options) identity() string {
	name := o.name
	if name == "" {
		if host, err := os.Hostname(); err == nil && host != "" {
			name = host
		} else {
			name = "berth-scheduler"
		}
	}
	return fmt.Sprintf("%s_%s", name, rand.Text())
}

func (o *options) logger(out io.Writer) *slog.Logger {
	level := slog.LevelInfo
	if o.verbosity > 1 {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}))
}
