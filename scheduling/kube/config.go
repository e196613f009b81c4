package kube

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// Config says how a [Scheduler] works. Client, and either Profiles or Configuration, must
// be set.
type Config struct {
	// Client talks to the API server. Its limits of requests per second bound how many
	// pods are bound per second: a pod takes a request for its binding.
	Client kubernetes.Interface
	// Events is the client for events, which should have limits of its own; nil means
	// Client.
	Events kubernetes.Interface
	// Profiles are the profiles; a pod chooses one by spec.schedulerName.
	Profiles []scheduling.Profile
	// Configuration is a loaded file, in place of Profiles. Its backoff applies too. Its
	// leader election and client connection are settings for programs.
	Configuration *config.Configuration
	// DeviceSelectors compiles the selectors of devices, for every plugin that looks at
	// devices and has no compiler; nil means the built-in one. Package
	// celselector has a compiler of the whole language, for claims of authors whom you trust.
	DeviceSelectors api.DeviceSelectorCompiler
	// Handle is the handle that plugins in Profiles were made with; nil if none needs one.
	Handle *lifecycle.Handle

	// Identity names this process in events and leases; "" means "berth-scheduler".
	// Processes that share a lease must have different ones.
	Identity string
	// LeaderElection lets one of several schedulers act; nil means no election, and
	// then no other scheduler may serve the same profiles.
	LeaderElection *LeaderElection
	// Seed is the seed of all random choices.
	Seed uint64
	// Bindings is how many pods are bound at once; 0 means 64. Those whose volumes or claims are
	// written, or that wait for volumes or devices, do not count: an eighth as many objects,
	// at least one, are written at once besides, and the namespaces of the pods take turns.
	Bindings int
	// Log gets what happens; nil means slog.Default().
	Log *slog.Logger
	// Observer learns of every attempt, beside the metrics; nil means none. An
	// [observe.Log] writes a line for each pod.
	Observer lifecycle.Observer
}

// LeaderElection says which lease the schedulers share. Times of 0 are kube-scheduler's.
type LeaderElection struct {
	Namespace, Name string        // of the lease
	LeaseDuration   time.Duration // 0 means 15 s
	RenewDeadline   time.Duration // 0 means 10 s; must be below LeaseDuration
	RetryPeriod     time.Duration // 0 means 2 s; must be below RenewDeadline
}

func (l *LeaderElection) complete() error {
	l.LeaseDuration = cmp.Or(l.LeaseDuration, 15*time.Second)
	l.RenewDeadline = cmp.Or(l.RenewDeadline, 10*time.Second)
	l.RetryPeriod = cmp.Or(l.RetryPeriod, 2*time.Second)
	switch {
	case l.Name == "" || l.Namespace == "":
		return errors.New("kube: LeaderElection: needs the Namespace and the Name of a lease")
	case l.RetryPeriod < 0:
		return fmt.Errorf("kube: LeaderElection.RetryPeriod: %v: must not be negative", l.RetryPeriod)
	case l.LeaseDuration <= l.RenewDeadline:
		return fmt.Errorf("kube: LeaderElection.LeaseDuration: %v: must be longer than RenewDeadline, %v", l.LeaseDuration, l.RenewDeadline)
	case l.RenewDeadline <= l.RetryPeriod+l.RetryPeriod/5:
		return fmt.Errorf("kube: LeaderElection.RenewDeadline: %v: must be more than 1.2 times RetryPeriod, %v", l.RenewDeadline, l.RetryPeriod)
	}
	return nil
}

// complete checks the configuration and fills in defaults.
func (c *Config) complete() error {
	if c.Client == nil {
		return errors.New("kube: Client: is nil")
	}
	if (len(c.Profiles) == 0) == (c.Configuration == nil) {
		return errors.New("kube: either Profiles or Configuration must be set")
	}
	if c.Bindings < 0 {
		return fmt.Errorf("kube: Bindings: %d: must not be negative", c.Bindings)
	}
	c.Bindings = cmp.Or(c.Bindings, 64)
	c.Events = cmp.Or(c.Events, c.Client)
	c.Identity = cmp.Or(c.Identity, "berth-scheduler")
	c.Log = cmp.Or(c.Log, slog.Default())
	c.Handle = cmp.Or(c.Handle, lifecycle.NewHandle())
	if c.LeaderElection != nil {
		l := *c.LeaderElection
		c.LeaderElection = &l
		return c.LeaderElection.complete()
	}
	return nil
}

// A profile is a profile with what binding its pods needs to know.
type profile struct {
	scheduling.Profile
	bindTimeout time.Duration // of volumes
}

// build makes the profiles and the backoff.
func (c *Config) build() ([]profile, queue.Backoff, error) {
	var (
		profiles []profile
		backoff  queue.Backoff
	)
	for _, p := range c.Profiles {
		profiles = append(profiles, profile{p, config.Profile{}.BindTimeout()})
	}
	if c.Configuration != nil {
		built, err := c.Configuration.Build(config.BuildConfig{Handle: c.Handle})
		if err != nil {
			return nil, backoff, err
		}
		if len(built.Missing) > 0 {
			c.Log.Info("plugins of kube-scheduler that are left out", "plugins", built.Missing)
		}
		for i, p := range built.Profiles {
			profiles = append(profiles, profile{p, c.Configuration.Profiles[i].BindTimeout()})
		}
		backoff.Initial, backoff.Max = c.Configuration.Backoff()
	}
	return profiles, backoff, nil
}

// equip adds to a profile what a real cluster needs: the PreBind parts of plugins that
// write to the API server, and a filter against pods that need what it lacks.
func (s *Scheduler) equip(p *profile) scheduling.Profile {
	has := func(list []framework.Plugin, name string) bool {
		return slices.ContainsFunc(list, func(q framework.Plugin) bool { return q.Name() == name })
	}
	out := p.WithDeviceSelectors(s.config.DeviceSelectors)
	out.PreBind = slices.Clone(out.PreBind)
	if has(out.Reserve, "VolumeBinding") && !has(out.PreBind, "VolumeBinding") {
		out.PreBind = append(out.PreBind, volumeBinder{s, p.bindTimeout})
	}
	if has(out.Reserve, "DynamicResources") && !has(out.PreBind, "DynamicResources") {
		out.PreBind = append(out.PreBind, claimBinder{s})
	}
	if !has(out.Filter, "DynamicResources") {
		out.Filter = append(slices.Clone(out.Filter), filter.NoResourceClaims{})
	}
	return out
}
