package frameworktest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
)

// Run tests the plugin, each check that applies to it in a subtest of its name.
// The config may be left out; more than one panics. Run takes a few tenths of a
// second.
func Run(t *testing.T, p framework.Plugin, config ...Config) {
	t.Helper()
	s, err := newSession(p, only(config))
	if err != nil {
		t.Fatal(err)
	}
	s.short = testing.Short() || s.config.Quick
	for _, c := range s.checks {
		t.Run(c.name, func(t *testing.T) {
			f, known := s.run(c)
			switch {
			case known:
				t.Skip("not finished, because of a panic that another check reports: " + f.Error())
			case f != nil:
				t.Error(f)
			}
			for _, line := range s.takeNotes() {
				t.Log(line)
			}
		})
	}
}

// Check tests the plugin and returns all failures, joined; each is a
// [*Failure].
func Check(p framework.Plugin, config ...Config) error {
	s, err := newSession(p, only(config))
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range s.checks {
		if f, known := s.run(c); f != nil && !known {
			errs = append(errs, f)
		}
	}
	return errors.Join(errs...)
}

// A check looks at one side of the contract, on one cluster.
type check struct {
	name    string
	applies func(*parts) bool
	on      func(*kit) *Failure
	end     func(*session) *Failure // after the last cluster; may be nil
}

// checks lists all checks, in the order in which they run. See session.clean for
// why mutation comes first and reserve after all that ask about fresh clusters.
var checks = []check{
	{"mutation", (*parts).answers, (*kit).checkMutation, (*session).endMutation},
	{"name", (*parts).any, (*kit).checkName, nil},
	{"determinism", (*parts).answers, (*kit).checkDeterminism, nil},
	{"bounds", (*parts).scores, (*kit).checkBounds, nil},
	{"codes", (*parts).answers, (*kit).checkCodes, nil},
	{"reasons", (*parts).answers, (*kit).checkReasons, nil},
	{"details", (*parts).filters, (*kit).checkDetails, nil},
	{"restrict", (*parts).prepares, (*kit).checkRestrict, nil},
	{"batch", (*parts).answers, (*kit).checkBatch, nil},
	{"nodekey", (*parts).scores, (*kit).checkNodeKey, nil},
	{"concurrency", (*parts).answers, (*kit).checkConcurrency, nil},
	{"scratch", (*parts).answers, (*kit).checkScratch, nil},
	{"scope", (*parts).declares, (*kit).checkScope, nil},
	{"classkey", (*parts).keys, (*kit).checkClassKey, nil},
	{"expiry", (*parts).declares, (*kit).checkExpiry, nil},
	{"domain", (*parts).declares, (*kit).checkDomain, nil},
	{"idle", (*parts).idles, (*kit).checkIdle, nil},
	{"concern", (*parts).concerns, (*kit).checkConcern, nil},
	{"varying scope", (*parts).varying, (*kit).checkVarying, nil},
	{"gate", (*parts).selects, (*kit).checkGate, nil},
	{"kept", (*parts).declares, (*kit).checkKept, nil},
	{"hints", (*parts).hints, (*kit).checkHints, nil},
	{"updater", (*parts).filters, (*kit).checkUpdater, nil},
	{"reserve", (*parts).reserves, (*kit).checkReserve, nil},
	{"exercise", (*parts).acts, (*kit).checkExercise, (*session).endExercise},
}

// session is the test of one plugin: what its checks share.
type session struct {
	parts
	config Config
	short  bool    // a quarter of the clusters will do
	checks []check // those that apply

	// clean is set once the mutation check has passed on all clusters. From then
	// on checks share the clusters; before, each check makes its own, because a
	// plugin that changes what it is given would spoil them for the next check.
	clean    bool
	clusters map[place]*cluster

	panics map[string]*Failure // by the method that panicked, the first of each
	tally
	notes []string // for the log of the check that runs
}

// place names a cluster of a session.
type place struct {
	seed uint64
	own  bool // made by Config.Generate
}

func newSession(p framework.Plugin, config Config) (s *session, err error) {
	if p == nil {
		return nil, errors.New("frameworktest: the plugin is nil")
	}
	defer func() {
		if v := recover(); v != nil {
			err = &Failure{Check: "name", What: "Name()", Got: fmt.Sprintf("a panic: %v", v), Want: "a name"}
		}
	}()
	s = &session{parts: resolve(p), config: config, clusters: map[place]*cluster{}, panics: map[string]*Failure{}}
	known := config.Only == ""
	for _, c := range checks {
		named := config.Only == "" || c.name == config.Only
		if known = known || named; named && c.applies(&s.parts) {
			s.checks = append(s.checks, c)
		}
	}
	if !known {
		return nil, fmt.Errorf("frameworktest: Config.Only: there is no check %q", config.Only)
	}
	return s, nil
}

// Checks lists the names of all checks, in the order in which they are made.
func Checks() []string {
	names := make([]string, len(checks))
	for i, c := range checks {
		names[i] = c.name
	}
	return names
}

// run makes the check on each cluster until one fails. known is set if the
// failure is a panic of a method that an earlier check has reported.
func (s *session) run(c check) (f *Failure, known bool) {
	s.notes = nil
	clusters := s.config.clusters()
	if s.short && c.name != "exercise" { // which costs little, and needs all
		clusters = (clusters + 3) / 4
	}
	for seed := s.config.Seed; seed < s.config.Seed+clusters; seed++ {
		for _, own := range []bool{false, true} {
			if own && s.config.Generate == nil {
				continue
			}
			f, panicked := s.runOn(c, place{seed, own})
			if panicked != "" {
				if first := s.panics[panicked]; first != nil {
					return first, true
				}
				s.panics[panicked] = f
			}
			if f != nil {
				return f, false
			}
		}
	}
	if c.end == nil {
		return nil, false
	}
	return c.end(s), false
}

// runOn makes the check on one cluster. A panic of the plugin is a failure;
// panicked is the method.
func (s *session) runOn(c check, at place) (f *Failure, panicked string) {
	k := &kit{session: s, seed: at.seed, check: c.name}
	defer func() {
		if v := recover(); v != nil {
			f, panicked = k.panicked(v, ""), k.calling
		}
	}()
	if err := k.load(at); err != nil {
		return k.fail("the cluster to test on", err.Error(), "no error"), ""
	}
	return c.on(k), ""
}

func (s *session) endMutation() *Failure {
	s.clean = true
	return nil
}

// fail returns a failure that concerns all clusters.
func (s *session) fail(check, what, got, want string) *Failure {
	return &Failure{
		Plugin: s.name, Check: check, Cluster: s.config.Seed, Clusters: int(s.config.clusters()),
		What: what, Got: got, Want: want,
	}
}

func (s *session) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

func (s *session) takeNotes() []string {
	notes := s.notes
	s.notes = nil
	return notes
}
