package estimator

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// LoadConfig configures load-aware scheduling: the settings shared by
// filter.LoadAware, scoring.LoadAware and the ledger. It is a plain value; the zero
// value has Koordinator's defaults. To use it, call [NewLoad].
//
// All thresholds, weights and factors are percentages or shares by resource; cpu
// counts in thousandths and everything else in whole units.
//
// Source: Koordinator 1.8, LoadAwareSchedulingArgs.
type LoadConfig struct {
	// Rules is the version of Koordinator to follow.
	Rules Rules

	// Expiration is the age at which a metric expires; 0 means 180 s. A metric
	// from the future does not expire.
	Expiration time.Duration
	// Expired selects the filter's treatment of nodes whose metric has expired.
	// Their score is always 0.
	Expired ExpiredPolicy

	// Thresholds are percentages of a node's resources. If the usage is above a
	// threshold (up to 1.5: at or above), the filter rejects the node. Empty means
	// 65 for cpu and 95 for memory; a threshold of 0 disables a resource.
	Thresholds map[resource.Name]int64
	// ProdThresholds are the thresholds for the usage of prod pods alone. If set,
	// they replace all other thresholds for prod pods.
	ProdThresholds map[resource.Name]int64
	// Aggregated uses statistics over a period instead of the last average; nil
	// disables this.
	Aggregated *Aggregated

	// Weights are the shares of resources in the score. Empty means 1 each for cpu
	// and memory, unless DominantWeight is set.
	Weights map[resource.Name]int64
	// DominantWeight is the share of the scarcest resource in the score. Before
	// 1.8 it is ignored.
	DominantWeight int64
	// ScoreProd scores prod pods by the usage of prod pods alone.
	ScoreProd bool
	// ProdIncludesSystem adds the system's usage to the usage of prod pods. Before
	// 1.8 it is ignored.
	ProdIncludesSystem bool

	// Factors are the percentages of their requests that pods are expected to use.
	// The defaults are 85 for cpu and 70 for memory.
	Factors map[resource.Name]int64
	// EstimateScheduled and EstimateInitialized are minimum times of estimation,
	// however fresh the metric: since the pod was scheduled, and since it was
	// initialized. An initialized pod uses only the latter, if set. 0 disables
	// either. Before 1.8 they are ignored.
	EstimateScheduled, EstimateInitialized time.Duration
	// PodAnnotations lets a pod's annotations set its factors and times. Before
	// 1.8 it is ignored. They have no bound, as in Koordinator: set it only where you
	// trust all who create pods: they can make a node look full or empty to others.
	PodAnnotations bool
	// Resources are further resources for thresholds in node annotations. Before
	// 1.8 these may name any resource.
	Resources []resource.Name

	// Arithmetic selects the handling of results beyond int64.
	Arithmetic Arithmetic

	// Estimator predicts usage; nil means [DefaultEstimator]. To choose one by
	// name, see [Estimators].
	Estimator Estimator
}

// Aggregated chooses statistics over a period. A duration of 0 means the
// longest period that has the statistic.
type Aggregated struct {
	// Thresholds replace LoadConfig.Thresholds if they are not empty and Type is
	// set.
	Thresholds map[resource.Name]int64
	// Type and Duration are the filter's statistic.
	Type     api.AggregationType
	Duration time.Duration
	// ScoreType and ScoreDuration are the score's statistic; "" means the last
	// average.
	ScoreType     api.AggregationType
	ScoreDuration time.Duration
}

// ExpiredPolicy selects a filter's treatment of an expired metric.
type ExpiredPolicy uint8

// The policies for expired metrics.
const (
	// RejectExpired rejects the node: "node(s) nodeMetric expired". Koordinator
	// 1.4 lets it pass instead.
	RejectExpired ExpiredPolicy = iota
	// PassExpired lets the node pass, whatever the metric says
	// (enableScheduleWhenNodeMetricsExpired).
	PassExpired
	// UseExpired treats the metric as fresh (filterExpiredNodeMetrics: false).
	UseExpired
)

// The defaults of LoadConfig.
const (
	defaultExpiration            = 180 * time.Second
	defaultReportInterval        = 60 * time.Second
	defaultCPUThreshold          = 65
	defaultMemoryThreshold       = 95
	defaultCPUFactor             = 85
	defaultMemoryFactor          = 70
	maxPercent                   = 100
	cpuAndMemory                 = 2
	unboundedTime                = time.Duration(math.MaxInt64)
	loadAwareObject              = "load-aware configuration"
	maxSeconds             int64 = int64(unboundedTime / time.Second)
)

// Seconds returns n seconds, or the nearest Duration if that is out of range.
func Seconds(n int64) time.Duration {
	switch {
	case n > maxSeconds:
		return unboundedTime
	case n < -maxSeconds:
		return -unboundedTime
	}
	return time.Duration(n) * time.Second
}

// withDefaults returns c with every default filled in. It keeps unknown rules.
func (c LoadConfig) withDefaults() LoadConfig {
	if c.Rules == "" {
		c.Rules = Koordinator18
	}
	t := c.Rules.traits()
	if c.Expiration == 0 {
		c.Expiration = defaultExpiration
	}
	if len(c.Thresholds) == 0 {
		c.Thresholds = map[resource.Name]int64{resource.CPU: defaultCPUThreshold, resource.Memory: defaultMemoryThreshold}
	}
	if !t.vectors {
		c.DominantWeight, c.ProdIncludesSystem, c.PodAnnotations = 0, false, false
		c.EstimateScheduled, c.EstimateInitialized = 0, 0
	}
	if len(c.Weights) == 0 && c.DominantWeight == 0 {
		c.Weights = map[resource.Name]int64{resource.CPU: 1, resource.Memory: 1}
	}
	factors := make(map[resource.Name]int64, len(c.Factors)+cpuAndMemory)
	factors[resource.CPU], factors[resource.Memory] = defaultCPUFactor, defaultMemoryFactor
	maps.Copy(factors, c.Factors)
	c.Factors = factors
	return c
}

// clone returns c with its own maps and slices.
func (c LoadConfig) clone() LoadConfig {
	for _, m := range [...]*map[resource.Name]int64{&c.Thresholds, &c.ProdThresholds, &c.Weights, &c.Factors} {
		*m = maps.Clone(*m)
	}
	c.Resources = slices.Clone(c.Resources)
	if c.Aggregated != nil {
		a := *c.Aggregated
		a.Thresholds = maps.Clone(a.Thresholds)
		c.Aggregated = &a
	}
	return c
}

// Check reports every unusable value, as joined [*api.InvalidError]s: unknown
// rules, percentages and weights outside [0,100], a weight for a resource without a
// factor, negative durations. Like Koordinator it does not check ProdThresholds,
// and treats negative EstimateScheduled and EstimateInitialized as 0. Before 1.8 it
// does not check Aggregated either.
func (c LoadConfig) Check() error {
	var errs []error
	fail := func(field, value string, format string, args ...any) {
		errs = append(errs, &api.InvalidError{Object: loadAwareObject, Field: field, Value: value, Err: fmt.Errorf(format, args...)})
	}
	if _, err := c.Rules.known(); err != nil {
		fail("rules", string(c.Rules), "%w", err)
	}
	percentages := func(field string, m map[resource.Name]int64) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if v := m[name]; v < 0 || v > maxPercent {
				fail(fmt.Sprintf("%s[%s]", field, name), strconv.FormatInt(v, 10), "must be from 0 to %d", maxPercent)
			}
		}
	}
	durations := func(field string, d time.Duration) {
		if d < 0 {
			fail(field, d.String(), "must not be negative")
		}
	}
	if c.Expired > UseExpired {
		fail("expired", strconv.Itoa(int(c.Expired)), "unknown policy")
	}
	durations("expiration", c.Expiration)
	percentages("thresholds", c.Thresholds)
	percentages("weights", c.Weights)
	percentages("factors", c.Factors)
	for _, name := range slices.Sorted(maps.Keys(c.Weights)) {
		if _, ok := c.Factors[name]; !ok && name != resource.CPU && name != resource.Memory {
			fail("factors", string(name), "no factor for a resource that has a weight")
		}
	}
	if c.DominantWeight < 0 || c.DominantWeight > maxPercent {
		fail("dominantWeight", strconv.FormatInt(c.DominantWeight, 10), "must be from 0 to %d", maxPercent)
	}
	if a := c.Aggregated; a != nil && c.Rules.traits().vectors {
		percentages("aggregated.thresholds", a.Thresholds)
		durations("aggregated.duration", a.Duration)
		durations("aggregated.scoreDuration", a.ScoreDuration)
	}
	return errors.Join(errs...)
}

var errNil = errors.New("is nil")
