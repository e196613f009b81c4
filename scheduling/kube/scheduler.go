package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/klog/v2"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/extender"
	"github.com/berth-sched/berth/scheduling/kube/internal/direct"
	"github.com/berth-sched/berth/scheduling/kube/internal/feed"
	"github.com/berth-sched/berth/scheduling/kube/internal/record"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/observe"
)

// A Scheduler schedules the pods of one cluster. Make it with [New] and let [Scheduler.Run]
// work. Any goroutine may call its other methods meanwhile.
type Scheduler struct {
	config   Config
	profiles map[string]scheduling.Profile
	driver   *lifecycle.Driver
	metrics  *observe.Metrics
	counts   sharedCounts
	events   *record.Writer
	poster   direct.Poster
	writes   *turns   // of volumes and claims
	warnings sync.Map // a *rate.Sometimes for each text

	cluster *feed.Cluster   // set by Run before anything is bound
	leading context.Context // ends when this process must not act any more
	working context.Context // ends with leading, and when Run no longer waits for bindings
	started chan struct{}   // closed once the driver has the cluster
	state   atomic.Pointer[state]
}

// state is how far Run has come.
type state struct {
	text    string
	cluster *feed.Cluster
	leads   bool
}

// ErrLeadershipLost is the error of Run if another scheduler has taken the lease.
var ErrLeadershipLost = errors.New("kube: leadership lost")

// grace is how long bindings under way may take when Run ends.
const grace = 10 * time.Second

// ErrRan is the error of a second Run.
var ErrRan = errors.New("kube: a Scheduler runs only once")

// New checks the configuration and returns a scheduler that has done nothing yet.
func New(c Config) (*Scheduler, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	s := &Scheduler{config: c, profiles: map[string]scheduling.Profile{}, metrics: observe.NewMetrics()}
	s.leading, s.working, s.started = context.Background(), context.Background(), make(chan struct{})
	s.poster = direct.New(c.Client.CoreV1().RESTClient())
	s.writes = newTurns(max(1, c.Bindings/8))
	s.events = record.New(c.Events, c.Identity, c.Log)
	built, backoff, err := c.build()
	if err != nil {
		return nil, err
	}
	var profiles []scheduling.Profile
	for i := range built {
		p := s.equip(&built[i])
		profiles = append(profiles, p)
		if p.Name == "" {
			p.Name = scheduling.DefaultName
		}
		s.profiles[p.Name] = p
	}
	var observer lifecycle.Observer = s.metrics
	if c.Observer != nil {
		observer = observe.All(s.metrics, c.Observer)
	}
	s.driver, err = lifecycle.New(lifecycle.Config{
		Profiles: profiles, Binder: s, Handle: c.Handle, Seed: c.Seed, Bindings: c.Bindings, Backoff: backoff, Grace: grace,
		Clock:    framework.ClockOf(time.Now, time.AfterFunc),
		Observer: observer,
		ErrorHandler: func(err error) {
			c.Log.Error("a fault that fails no pod", "error", err)
		},
	})
	s.counts.ask = func(ctx context.Context) (c lifecycle.Counts, err error) {
		err = s.driver.Do(ctx, func(*framework.Snapshot) { c = s.driver.Counts() })
		return c, err
	}
	return s, err
}

// Run follows the cluster and schedules its pods until ctx is done or the leadership is
// lost, and returns why. It waits, for as long as ctx allows, until the API server answers,
// everything has been listed, and this process leads. It ends gracefully: bindings under
// way get up to 10 s, and then a lease is given back. When Run returns, none of its
// goroutines is left.
func (s *Scheduler) Run(ctx context.Context) error {
	if !s.state.CompareAndSwap(nil, &state{text: "waiting for the API server"}) {
		return ErrRan
	}
	has, err := s.discover(ctx)
	if err != nil {
		return err
	}
	s.cluster = feed.New(s.config.Client, has, func(err error) { s.config.Log.Error("an object is ignored", "error", err) })
	s.state.Store(&state{text: "waiting for the first lists", cluster: s.cluster})

	// Bindings under way need the feed and the lease to the end.
	background, end := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), logr.FromSlogHandler(s.config.Log.Handler())))
	var wg sync.WaitGroup
	defer wg.Wait()
	defer end()
	wg.Go(func() { s.cluster.Run(background) })
	wg.Go(func() { s.events.Run(background) })
	if err := s.sync(ctx); err != nil {
		return err
	}
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	if l := s.config.LeaderElection; l != nil {
		s.state.Store(&state{text: "waiting for the lease " + l.Namespace + "/" + l.Name, cluster: s.cluster})
		leading, stop := context.WithCancelCause(context.WithoutCancel(ctx))
		defer stop(nil)
		s.leading = leading
		elected := make(chan struct{})
		wg.Go(func() {
			s.elect(background, elected, func(err error) {
				stop(err)
				lost(err)
			})
		})
		select {
		case <-elected:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	working, stopWorking := context.WithCancelCause(s.leading)
	defer stopWorking(nil)
	s.working = working
	wg.Go(func() {
		select {
		case <-ctx.Done():
			_ = pause(background, grace)
			stopWorking(context.Cause(ctx))
		case <-background.Done():
		}
	})
	s.state.Store(&state{text: "scheduling", cluster: s.cluster, leads: true})
	s.config.Log.Info("scheduling", "profiles", len(s.profiles))
	s.cluster.Open(s.driver.Apply)
	close(s.started)
	if s.cluster.Devices != nil {
		releaser := claimReleaser{s: s, again: map[string]time.Time{}}
		wg.Go(func() { releaser.run(ctx) })
	}
	err = s.driver.Run(ctx, nil)
	s.state.Store(&state{text: "stopped", cluster: s.cluster})
	return err
}

// discover waits for the API server and asks what it serves.
func (s *Scheduler) discover(ctx context.Context) (feed.Served, error) {
	const version, group = "1.37", "resource.k8s.io/v1"
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		has, err := s.ask(ctx, version, group)
		if err == nil {
			return has, nil
		}
		s.state.Store(&state{text: hindrance(err) + ": " + err.Error()})
		s.config.Log.Error(hindrance(err)+"; trying again", "in", wait, "error", err)
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func (s *Scheduler) ask(ctx context.Context, version, group string) (feed.Served, error) {
	d := discovery.ToDiscoveryInterfaceWithContext(s.config.Client.Discovery())
	info, err := d.ServerVersionWithContext(ctx)
	if err != nil {
		return nil, err
	}
	if got := info.Major + "." + strings.TrimRight(info.Minor, "+"); got != version { // some clusters write 37+
		s.config.Log.Warn("the API server is of another version than this scheduler is made for", "server", info.GitVersion, "made for", version)
	}
	has := feed.Served{}
	list, err := d.ServerResourcesForGroupVersionWithContext(ctx, group)
	switch {
	case apierrors.IsNotFound(err):
		s.config.Log.Warn("the API server has no "+group+": pods with resource claims stay unschedulable", "server", info.GitVersion)
		return has, nil
	case err != nil:
		return nil, err
	}
	for _, r := range list.APIResources {
		has[r.Name] = true
	}
	return has, nil
}

// sync waits for the first lists.
func (s *Scheduler) sync(ctx context.Context) error {
	started := time.Now()
	for said := started; ; {
		waiting := s.cluster.Waiting()
		if waiting == "" {
			s.config.Log.Info("everything is listed", "took", time.Since(started))
			return nil
		}
		if now := time.Now(); now.Sub(said) >= 10*time.Second {
			said = now
			s.config.Log.Warn("waiting for the first lists", "of", waiting)
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("%w, while waiting for the first lists of %s", err, waiting)
		}
	}
}

// Apply tells the scheduler of objects that Run does not follow, such as Koordinator's
// NodeMetric: a program that follows them itself decodes them with package api.
func (s *Scheduler) Apply(events ...lifecycle.Event) { s.driver.Apply(events...) }

// Do calls look with the cluster as the scheduler sees it, between two attempts. It waits,
// for as long as ctx allows, until the scheduler schedules. See [lifecycle.Driver.Do].
func (s *Scheduler) Do(ctx context.Context, look func(*framework.Snapshot)) error {
	select {
	case <-s.started:
		return s.driver.Do(ctx, look)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Snapshot returns a fork of the cluster as the scheduler sees it, for what-ifs. It costs
// some microseconds, and belongs to the caller. Its time is that of the call; if you keep it, use
// [framework.Snapshot.SetNow]. It waits as Do does.
func (s *Scheduler) Snapshot(ctx context.Context) (fork *framework.Snapshot, err error) {
	err = s.Do(ctx, func(snap *framework.Snapshot) { fork = snap.Fork() })
	return fork, err
}

// Extender returns a handler that answers the extender protocol from a profile and the
// live cluster, for kube-schedulers that ask this process. The scheduler must run. To
// answer only, give it a profile whose name no pod has. Clients do not get the texts of
// errors unless you set ErrorText of the handler before it serves.
func (s *Scheduler) Extender(profile string) (*extender.Handler, error) {
	p, ok := s.profiles[profile]
	if !ok {
		return nil, fmt.Errorf("kube: Extender: there is no profile %q", profile)
	}
	sched, err := scheduling.New(p)
	if err != nil {
		return nil, err
	}
	return &extender.Handler{
		Scheduler: sched, Snapshot: s.Snapshot,
		Bind: func(ctx context.Context, b extender.BindingArgs) error {
			if now := s.state.Load(); now == nil || !now.leads {
				return errors.New("kube: this scheduler does not bind now")
			}
			pod := s.cluster.Pods.Get(b.PodNamespace + "/" + b.PodName)
			if pod == nil || pod.UID != b.PodUID {
				return fmt.Errorf("pod %s/%s of UID %s does not exist", b.PodNamespace, b.PodName, b.PodUID)
			}
			return s.Bind(ctx, pod, b.Node)
		},
	}, nil
}
