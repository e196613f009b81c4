package frameworktest

import (
	"cmp"
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// Config says how a plugin is tested. The zero Options is a good choice for
// plugins that find everything they read in pods and nodes.
type Config struct {
	// Clusters is the number of clusters to test on; 0 means 24. Under go test
	// -short, Run takes a quarter of them.
	Clusters int
	// Seed is the seed of the first cluster; the others have those that
	// follow. To look at a failure on cluster 17 alone, set Seed to 17 and
	// Clusters to 1.
	Seed uint64
	// Generate makes a further cluster for each seed, to be tested beside that
	// of [Cluster]: with the labels or objects that the plugin is about. It
	// must be a function of the seed. nil makes none.
	Generate func(seed uint64) *api.Objects
	// Prepare readies each snapshot: it puts in what the plugin reads and pods
	// and nodes do not say, such as metrics in an extension. It must do the
	// same for snapshots of the same content. nil does nothing.
	Prepare func(s *framework.Snapshot) error
	// State returns what the plugin keeps in the snapshot, in a form that
	// reflect.DeepEqual compares and that later changes of the snapshot do not
	// change, such as a map from node names to sums. nil shows nothing.
	State func(s *framework.Snapshot) any
}

const defaultClusters = 24

// Run tests the plugin, each check that applies to it in a subtest of its name.
// Options may be left out; more than one panics. It takes about half a second.
func Run(t *testing.T, p framework.Plugin, options ...Config) {
	t.Helper()
	o := only(options)
	if testing.Short() {
		o.Clusters = (cmp.Or(o.Clusters, defaultClusters) + 3) / 4
	}
	list, err := checksOf(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			if f := c.run(p, o); f != nil {
				t.Error(f)
			}
		})
	}
}

// Check tests the plugin and returns all failures, joined; each is a
// [*Failure].
func Check(p framework.Plugin, options ...Config) error {
	o := only(options)
	list, err := checksOf(p)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range list {
		if f := c.run(p, o); f != nil {
			errs = append(errs, f)
		}
	}
	return errors.Join(errs...)
}

func only(options []Config) Config {
	switch len(options) {
	case 0:
		return Config{}
	case 1:
		return options[0]
	}
	panic(fmt.Sprintf("frameworktest: %d Options, want one at most", len(options)))
}

// A check looks at one side of the contract, on one cluster.
type check struct {
	name    string
	applies func(*parts) bool
	on      func(*kit) *Failure
}

var checks = []check{
	{"name", (*parts).any, (*kit).checkName},
	{"determinism", (*parts).answers, (*kit).checkDeterminism},
	{"bounds", (*parts).scores, (*kit).checkBounds},
	{"mutation", (*parts).answers, (*kit).checkMutation},
	{"codes", (*parts).answers, (*kit).checkCodes},
	{"reasons", (*parts).answers, (*kit).checkReasons},
	{"restrict", (*parts).prepares, (*kit).checkRestrict},
	{"batch", (*parts).answers, (*kit).checkBatch},
	{"concurrency", (*parts).answers, (*kit).checkConcurrency},
	{"scratch", (*parts).answers, (*kit).checkScratch},
	{"scope", (*parts).declares, (*kit).checkScope},
	{"expiry", (*parts).declares, (*kit).checkExpiry},
	{"domain", (*parts).declares, (*kit).checkDomain},
	{"updater", (*parts).filters, (*kit).checkUpdater},
	{"reserve", (*parts).reserves, (*kit).checkReserve},
}

// checksOf returns the checks that apply to the plugin.
func checksOf(p framework.Plugin) (list []check, err error) {
	if p == nil {
		return nil, errors.New("frameworktest: the plugin is nil")
	}
	defer func() {
		if v := recover(); v != nil {
			err = &Failure{Check: "name", What: "Name()", Got: fmt.Sprintf("a panic: %v", v), Want: "a name"}
		}
	}()
	t := takeApart(p)
	for _, c := range checks {
		if c.applies(&t) {
			list = append(list, c)
		}
	}
	return list, nil
}

// run makes the check on each cluster until one fails.
func (c check) run(p framework.Plugin, o Config) *Failure {
	clusters := o.Clusters
	if clusters == 0 {
		clusters = defaultClusters
	}
	for seed := o.Seed; seed < o.Seed+uint64(clusters); seed++ {
		for _, generate := range []func(uint64) *api.Objects{Cluster, o.Generate} {
			if generate == nil {
				continue
			}
			if f := c.runOn(p, o, seed, generate); f != nil {
				return f
			}
		}
	}
	return nil
}

// runOn makes the check on one cluster. A panic of the plugin is a failure.
func (c check) runOn(p framework.Plugin, o Config, seed uint64, generate func(uint64) *api.Objects) (f *Failure) {
	k := &kit{options: o, seed: seed, generate: generate, check: c.name}
	defer func() {
		if v := recover(); v != nil {
			f = k.fail("a call", fmt.Sprintf("a panic: %v", v), "no panic")
		}
	}()
	k.parts = takeApart(p)
	if err := k.load(); err != nil {
		return k.fail("the cluster to test on", err.Error(), "no error")
	}
	return c.on(k)
}
