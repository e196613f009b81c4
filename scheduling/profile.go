package scheduling

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/internal/pick"
)

// AllNodes and Adaptive are special values of [Profile.Percentage].
const (
	// AllNodes filters and scores every node. It is the zero value.
	//
	// Differs: a percentage of 0.
	// Original: in kube-scheduler's configuration it means Adaptive.
	// Here: every node is searched.
	// Switch: [Profile.Percentage] = [Adaptive]. A configuration file with
	// percentageOfNodesToScore: 0 is read so.
	AllNodes = pick.AllNodes
	// Adaptive searches until max(5, 50 - n/125) percent of the n nodes, at least
	// 100 nodes, are found feasible: kube-scheduler's default.
	Adaptive = pick.Adaptive
)

// A Weighted is a score plugin and the factor of its normalized scores.
type Weighted struct {
	// Plugin implements [framework.ScorePlugin] or [framework.PreScorePlugin].
	Plugin framework.Plugin
	// Weight multiplies the scores; 0 means 1. It must not be negative.
	Weight int64
}

// A Profile says how pods are placed: which plugins run, in which order and with
// which weights, and how ties are broken. It is a plain value; [New] checks it and
// copies what it needs. Start from a preset such as [Kubernetes137].
type Profile struct {
	// Name is the scheduler name that pods ask for.
	Name string

	// PreFilter holds the plugins that prepare, in order; each implements
	// [framework.PreFilterPlugin]. nil means the plugins of Filter that implement
	// it.
	PreFilter []framework.Plugin
	// Filter holds the plugins that filter, in order; for each node, the first
	// rejection decides. Each implements [framework.FilterPlugin] or
	// [framework.PreFilterPlugin].
	Filter []framework.Plugin
	// PreScore holds the plugins that prepare scoring, in order; each implements
	// [framework.PreScorePlugin]. nil means the plugins of Score that implement it.
	PreScore []framework.Plugin
	// Score holds the plugins that rank feasible nodes. If it is empty, the first
	// feasible node is taken.
	Score []Weighted
	// Reserve holds the plugins that claim what a placed pod uses, in order; each
	// implements [framework.ReservePlugin].
	Reserve []framework.Plugin

	// The points below serve a whole scheduler (package lifecycle); Schedule and
	// Place run none of them. Each holds plugins in order.

	// PreEnqueue holds the plugins that may keep a pod out of the queue; each
	// implements [queueing.PreEnqueuePlugin].
	PreEnqueue []framework.Plugin
	// QueueSort orders the queue; it implements [queueing.QueueSortPlugin]. nil
	// means [PrioritySort]. All profiles of one scheduler must have the same.
	QueueSort framework.Plugin
	// PostFilter holds the plugins that try to make room if no node is feasible;
	// each implements [framework.PostFilterPlugin].
	PostFilter []framework.Plugin
	// Permit holds the plugins that may deny or delay the binding; each
	// implements [framework.PermitPlugin].
	Permit []framework.Plugin
	// PreBind holds the plugins that prepare the binding; each implements
	// [framework.PreBindPlugin].
	PreBind []framework.Plugin
	// Bind holds the plugins that bind; the first one that does not skip the pod
	// binds it. Each implements [framework.BindPlugin]. If it is empty, the code
	// that drives the scheduler must bind.
	Bind []framework.Plugin
	// PostBind holds the plugins that learn of a binding; each implements
	// [framework.PostBindPlugin].
	PostBind []framework.Plugin

	// Extenders are asked about the nodes that the plugins leave, in this order. Their own
	// answers are not kept from decision to decision.
	Extenders []Extender

	// Percentage says how many nodes are searched: [AllNodes], [Adaptive], or 1 to
	// 100 percent of the nodes, but always at least 100 of them. A sample starts
	// where the last one stopped, exactly as in kube-scheduler with one worker.
	Percentage int
	// TieRule says how one of the best nodes is chosen.
	TieRule TieRule
	// TieBreak is your own rule, for TieRule = [Custom].
	TieBreak TieBreak
	// Seed determines every random choice. Equal seeds, snapshots and sequences
	// of calls give equal decisions.
	Seed uint64

	// Parallelism is how many goroutines filter and score on the reference path; 0
	// means 1. A goroutine that would have no node is not started. Parallelism never
	// changes an answer, but bound filters and scorers are then called concurrently.
	Parallelism int
	// Cache says how answers are kept from decision to decision.
	Cache CacheConfig
}

// CacheConfig says how the incremental path is used. Its zero value suits almost
// everyone, because the answers are always those of the reference path. A profile with
// weights that add up to more than 21,474,836 always takes the reference path.
type CacheConfig struct {
	// Off always takes the reference path.
	Off bool
	// Budget is how many bytes of answers are kept; 0 means 64 MiB or, for more
	// than 2,048 nodes, 32 KiB a node. If they do not suffice, the least recently used
	// classes are evicted for those that are asked for more often. A class takes up to 75
	// bytes per node, so clusters of a million nodes and more need a larger budget.
	//
	// The budget does not count what all classes share: data about the snapshot used
	// last (25 bytes per node and 32 KiB), up to 32 ways to group nodes (6
	// bytes per node each), lists of about 50 bytes per node, and the memory of the
	// last few evicted classes, which is reused. Nor does it count the two snapshots used
	// last, which stay in memory although nobody else has them any more.
	Budget int
	// Verify takes both paths for every decision and fails with a [*DifferenceError]
	// if they differ, or with a [*MutationError] if a plugin writes to what it may only
	// read. It also checks the invariants of the engine every few decisions,
	// and a failure of the engine itself is a [*FaultError]. If preemption remembers earlier findings, PostFilter plugins
	// are asked twice, the second time without them. Verify is slow and meant for
	// tests.
	Verify bool
}

// check reports every error of the profile.
func (p *Profile) check() error {
	c := profileCheck{profile: p, refused: map[string]bool{}}
	for _, l := range p.pluginLists() {
		switch l.point { // an error stands at the first point of its plugin
		case "PreScore":
			c.point("Score", scorePlugins(p.Score), "ScorePlugin or PreScorePlugin", scores)
		case "PostFilter":
			if p.QueueSort != nil {
				c.point("QueueSort", []framework.Plugin{p.QueueSort}, "QueueSortPlugin", is[queueing.QueueSortPlugin])
			}
		}
		c.point(l.point, *l.list, l.want, l.serves)
	}
	c.prepared()
	c.weights()
	c.extenders()
	c.settings()
	return errors.Join(c.errs...)
}

// profileCheck collects what is wrong with a profile.
type profileCheck struct {
	profile *Profile
	errs    []error
	refused map[string]bool // faults that plugins told; a plugin may be listed at several points
}

func (c *profileCheck) fail(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("profile %q: "+format, append([]any{c.profile.Name}, args...)...))
}

// point checks the plugins of one extension point. All must be what ok asks for, which want
// names.
func (c *profileCheck) point(point string, plugins []framework.Plugin, want string, ok func(framework.Plugin) bool) {
	seen := map[string]bool{}
	for i, pl := range plugins {
		if isNil(pl) {
			c.fail("%s[%d]: the plugin is nil", point, i)
			continue
		}
		name, err := askName(pl)
		switch {
		case err != nil:
			c.fail("%s[%d]: the plugin (%T) has no name: %w", point, i, pl, err)
		case name == "":
			c.fail("%s[%d]: the plugin (%T) has an empty name", point, i, pl)
		case seen[name]:
			c.fail("%s[%d]: plugin %q is listed twice", point, i, name)
		case !ok(pl):
			c.fail("%s[%d]: plugin %q (%T) does not implement %s", point, i, name, pl, want)
		default:
			seen[name] = true
			c.validate(point, i, name, pl)
		}
	}
}

// validate lets the plugin check itself, if it can.
func (c *profileCheck) validate(point string, i int, name string, pl framework.Plugin) {
	v, ok := framework.As[validator](pl)
	if !ok {
		return
	}
	for _, err := range apart(askValid(v)) {
		if key := name + "\n" + err.Error(); !c.refused[key] {
			c.refused[key] = true
			c.fail("%s[%d]: plugin %q: %w", point, i, name, err)
		}
	}
}

// validator is a plugin that checks itself.
type validator interface{ Validate() error }

// askValid calls Validate and returns its panic as an error.
func askValid(v validator) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("in Validate: %w", recovered(v))
		}
	}()
	return errtext.Safe(v.Validate())
}

// askName asks a plugin for its name and returns its panic as an error.
func askName(p framework.Plugin) (name string, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("Name: %w", recovered(v))
		}
	}()
	return p.Name(), nil
}

// nameOf returns the name of a plugin, its type if the method Name panics, and "" for nil.
func nameOf(p framework.Plugin) string {
	if p == nil {
		return ""
	}
	name, err := askName(p)
	if err != nil {
		return fmt.Sprintf("%T", p)
	}
	return name
}

// prepared checks that plugins which need their PreFilter or PreScore have it.
func (c *profileCheck) prepared() {
	p := c.profile
	if p.PreFilter != nil {
		for i, pl := range p.Filter {
			if !isNil(pl) && !is[framework.FilterPlugin](pl) && !names(p.PreFilter)[nameOf(pl)] {
				c.fail("Filter[%d]: plugin %q filters only after its PreFilter, which PreFilter does not list", i, nameOf(pl))
			}
		}
	}
	if p.PreScore != nil {
		for i, w := range p.Score {
			if !isNil(w.Plugin) && !is[framework.ScorePlugin](w.Plugin) && !names(p.PreScore)[nameOf(w.Plugin)] {
				c.fail("Score[%d]: plugin %q scores only after its PreScore, which PreScore does not list", i, nameOf(w.Plugin))
			}
		}
	}
}

// weights checks that total scores have room in an int64.
func (c *profileCheck) weights() {
	room := math.MaxInt64 / framework.MaxNodeScore
	for i, w := range c.profile.Score {
		if w.Weight < 0 {
			c.fail("Score[%d].Weight: %d: must not be negative", i, w.Weight)
			continue
		}
		if room -= weight(w); room < 0 {
			c.fail("Score[%d].Weight: %d: the total score could overflow", i, w.Weight)
			break
		}
	}
}

func (c *profileCheck) extenders() {
	binders := 0
	for i, e := range c.profile.Extenders {
		if e.Name == "" {
			c.fail("Extenders[%d].Name: must not be empty", i)
		}
		if e.Prioritize != nil && e.Weight <= 0 {
			c.fail("Extenders[%d].Weight: %d: must be positive", i, e.Weight)
		}
		if e.Bind != nil {
			binders++
		}
	}
	if binders > 1 {
		c.fail("Extenders: found %d extenders implementing bind: only one extender can implement bind", binders)
	}
}

// settings checks the fields that are no plugins.
func (c *profileCheck) settings() {
	p := c.profile
	if p.Percentage < Adaptive || p.Percentage > 100 {
		c.fail("Percentage: %d: not in valid range [0-100], nor Adaptive", p.Percentage)
	}
	if p.TieRule > Custom {
		c.fail("TieRule: %d: no such rule", p.TieRule)
	}
	if (p.TieRule == Custom) != (p.TieBreak != nil) {
		c.fail("TieRule and TieBreak: TieBreak must be set if, and only if, TieRule is Custom")
	}
	if p.Parallelism < 0 {
		c.fail("Parallelism: %d: must not be negative", p.Parallelism)
	}
	if p.Cache.Budget < 0 {
		c.fail("Cache.Budget: %d: must not be negative", p.Cache.Budget)
	}
}

// apart returns the parts of an error made by [errors.Join], any other error alone,
// and nothing for nil.
func apart(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		if list := joined.Unwrap(); errors.Join(list...).Error() == err.Error() {
			return list
		}
	}
	return []error{err}
}

// isNil reports whether there is no plugin: nil, or a nil pointer.
func isNil(p framework.Plugin) bool {
	if p == nil {
		return true
	}
	v := reflect.ValueOf(p)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

func is[T any](p framework.Plugin) bool {
	_, ok := framework.As[T](p)
	return ok
}

func names(plugins []framework.Plugin) map[string]bool {
	set := map[string]bool{}
	for _, p := range plugins {
		if !isNil(p) {
			set[nameOf(p)] = true
		}
	}
	return set
}

func scorePlugins(list []Weighted) []framework.Plugin {
	plugins := make([]framework.Plugin, len(list))
	for i, w := range list {
		plugins[i] = w.Plugin
	}
	return plugins
}

func weight(w Weighted) int64 {
	if w.Weight == 0 {
		return 1
	}
	return w.Weight
}
