package estimator

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// A Load is a [LoadConfig] prepared for use: its resources are numbered, its
// thresholds merged with the thresholds of nodes, and its estimates computed once
// per pod. A nil or zero Load equals [DefaultLoad]. A Load holds no state of a
// cluster, so goroutines and snapshots may share it. filter.LoadAware and
// scoring.LoadAware share one.
//
// A snapshot keeps sums for each Load used with it, and updates them with every pod
// and metric. Loads of equal configurations share their sums; for many different
// ones, use forks.
type Load struct {
	config  LoadConfig // with defaults
	traits  traits
	key     string // equal for equal configurations, "" if that is not known
	names   []resource.Name
	weights []int64 // by resource
	reads   framework.PodFields

	whole, prod, aggregated map[resource.Name]int64 // thresholds; nil means none
	prodScored              bool
	scoreStatistic          statistic

	pods  *framework.PodDerived[PodLoad]
	nodes *framework.NodeDerived[NodeLoad]
}

// NewLoad checks and prepares a configuration. It copies the caller's maps and
// slices. It returns the errors of [LoadConfig.Check].
func NewLoad(c LoadConfig) (*Load, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	l := &Load{}
	c = c.withDefaults().clone()
	byDefault := NewDefaultEstimator(c)
	if c.Estimator == nil {
		c.Estimator = byDefault
	}
	if reflect.DeepEqual(c.Estimator, Estimator(byDefault)) {
		l.key = configKey(c) // the estimator is a function of the rest
	}
	l.config, l.traits = c, c.Rules.traits()
	l.names = resourcesOf(c)
	l.whole, l.prod, l.prodScored = c.Thresholds, c.ProdThresholds, c.ScoreProd
	if a := c.Aggregated; a != nil {
		if len(a.Thresholds) > 0 && a.Type != "" {
			l.aggregated = a.Thresholds
		}
		if a.ScoreType != "" {
			l.scoreStatistic = statistic{a.ScoreType, a.ScoreDuration}
		}
	}
	l.weights = make([]int64, len(l.names))
	for i, name := range l.names {
		l.weights[i] = c.Weights[name]
	}
	l.reads = framework.FieldLabels | framework.FieldPriority | framework.FieldLimits
	if r, ok := c.Estimator.(PodReader); ok {
		l.reads |= r.PodReads()
	} else {
		l.reads = framework.FieldsAll
	}
	l.pods = framework.NewPodDerived(l.derivePod)
	l.nodes = framework.NewNodeDerived(l.deriveNode)
	return l, nil
}

// ready returns l, or the default Load if NewLoad did not make l.
func (l *Load) ready() *Load {
	if l == nil || l.pods == nil {
		return DefaultLoad()
	}
	return l
}

// DefaultLoad returns the Load of the zero configuration, the same one at every
// call.
func DefaultLoad() *Load { return defaultLoad() }

var defaultLoad = sync.OnceValue(func() *Load {
	l, err := NewLoad(LoadConfig{})
	if err != nil {
		panic(err) // the zero configuration is valid
	}
	return l
})

// configKey returns the whole configuration except the estimator as text.
func configKey(c LoadConfig) string {
	var a Aggregated
	if c.Aggregated != nil {
		a = *c.Aggregated
	}
	aggregated := c.Aggregated != nil
	c.Aggregated, c.Estimator = nil, nil
	return fmt.Sprintf("%#v %t %#v", c, aggregated, a)
}

// resourcesOf returns the resources that a configuration names, sorted.
func resourcesOf(c LoadConfig) []resource.Name {
	set := map[resource.Name]int64{resource.CPU: 0, resource.Memory: 0}
	for _, m := range [...]map[resource.Name]int64{c.Thresholds, c.ProdThresholds, c.Weights, c.Factors} {
		maps.Copy(set, m)
	}
	if c.Aggregated != nil {
		maps.Copy(set, c.Aggregated.Thresholds)
	}
	for _, name := range c.Resources {
		set[name] = 0
	}
	return slices.Sorted(maps.Keys(set))
}

// Config returns the configuration, with defaults. Do not change its maps.
func (l *Load) Config() LoadConfig { return l.ready().config }

// Resources returns the resources with sums of use, sorted. Do not change the
// slice.
func (l *Load) Resources() []resource.Name { return l.ready().names }

// Weights returns the weight of each resource in the score, in the order of
// Resources. Do not change the slice.
func (l *Load) Weights() []int64 { return l.ready().weights }

// Reads returns the parts of a pod that determine its estimate and class.
func (l *Load) Reads(p *framework.PodInfo) framework.PodFields {
	l = l.ready()
	if l.reads != framework.FieldsAll && readsStatus(p.Pod, l.traits.podLevel) {
		return framework.FieldsAll // no smaller set covers the status
	}
	return l.reads
}
