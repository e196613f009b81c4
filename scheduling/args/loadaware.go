package args

import (
	"maps"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// LoadAwareScheduling holds the arguments of Koordinator's plugin of that name.
// [estimator.LoadConfig] documents their meaning; [LoadAwareScheduling.Config]
// converts to it.
//
// Source: LoadAwareSchedulingArgs, kubescheduler.config.k8s.io/v1, of Koordinator
// 1.8, and v1beta2 and v1beta3 of its predecessors.
type LoadAwareScheduling struct {
	api.TypeMeta `json:",inline"`

	// FilterExpiredNodeMetrics set to false makes the filter use expired metrics.
	// nil becomes true. Under the rules 1.4 and 1.5, false becomes true, too, because a
	// conversion in Koordinator loses it. Under the rules 1.6 that happens to arguments of
	// version v1beta2 or v1beta3; those of version v1 keep false. The rules 1.8 have no
	// such conversion: false stays, whatever the version says.
	FilterExpiredNodeMetrics *bool `json:"filterExpiredNodeMetrics,omitempty"`
	// NodeMetricExpirationSeconds is the age at which a metric expires. nil
	// becomes 180.
	NodeMetricExpirationSeconds *int64 `json:"nodeMetricExpirationSeconds,omitempty"`
	// EnableScheduleWhenNodeMetricsExpired lets nodes with an expired metric pass.
	// nil becomes false; before 1.5 the argument does not exist.
	EnableScheduleWhenNodeMetricsExpired *bool `json:"enableScheduleWhenNodeMetricsExpired,omitempty"`
	// ResourceWeights are from 1 to 100. Empty becomes 1 for cpu and memory,
	// unless there is a DominantResourceWeight.
	ResourceWeights map[resource.Name]int64 `json:"resourceWeights,omitempty"`
	// DominantResourceWeight is from 0 to 100; it does not exist before 1.8.
	DominantResourceWeight int64 `json:"dominantResourceWeight,omitempty"`
	// UsageThresholds are from 0 to 100. Empty becomes 65 for cpu and 95 for
	// memory.
	UsageThresholds map[resource.Name]int64 `json:"usageThresholds,omitempty"`
	// ProdUsageThresholds are not checked.
	ProdUsageThresholds map[resource.Name]int64 `json:"prodUsageThresholds,omitempty"`
	// ProdUsageIncludeSys does not exist before 1.8.
	ProdUsageIncludeSys bool `json:"prodUsageIncludeSys,omitempty"`
	// ScoreAccordingProdUsage nil is false.
	ScoreAccordingProdUsage *bool `json:"scoreAccordingProdUsage,omitempty"`
	// Estimator is a name; see [estimator.Estimators].
	Estimator string `json:"estimator,omitempty"`
	// EstimatedScalingFactors are from 1 to 100. Missing factors of cpu and memory
	// become 85 and 70; every resource with a weight needs one.
	EstimatedScalingFactors map[resource.Name]int64 `json:"estimatedScalingFactors,omitempty"`
	// EstimatedSecondsAfterPodScheduled and EstimatedSecondsAfterInitialized nil
	// are 0; before 1.8 they do not exist.
	EstimatedSecondsAfterPodScheduled *int64 `json:"estimatedSecondsAfterPodScheduled,omitempty"`
	EstimatedSecondsAfterInitialized  *int64 `json:"estimatedSecondsAfterInitialized,omitempty"`
	// AllowCustomizeEstimation does not exist before 1.8.
	AllowCustomizeEstimation bool `json:"allowCustomizeEstimation,omitempty"`
	// Aggregated selects statistics over a period.
	Aggregated *LoadAwareAggregated `json:"aggregated,omitempty"`
	// SupportedResources does not exist before 1.8.
	SupportedResources []resource.Name `json:"supportedResources,omitempty"`

	rules estimator.Rules
}

// LoadAwareAggregated selects the statistics of LoadAwareScheduling. nil durations
// are 0.
type LoadAwareAggregated struct {
	UsageThresholds         map[resource.Name]int64 `json:"usageThresholds,omitempty"` // from 0 to 100
	UsageAggregationType    api.AggregationType     `json:"usageAggregationType,omitempty"`
	UsageAggregatedDuration *api.Duration           `json:"usageAggregatedDuration,omitempty"`
	ScoreAggregationType    api.AggregationType     `json:"scoreAggregationType,omitempty"`
	ScoreAggregatedDuration *api.Duration           `json:"scoreAggregatedDuration,omitempty"`
}

// LoadAware returns the decoder of LoadAwareScheduling for a version of Koordinator;
// "" means [estimator.Koordinator18]. It returns pointers to that type. Arguments
// without apiVersion count as v1, unless GivenIn receives another version.
//
// Differs: arguments that the version does not have yet.
// Original: an older Koordinator rejects them as unknown fields.
// Here: they are accepted, and dropped.
// Why: one file can serve several versions.
func LoadAware(rules estimator.Rules) Decoder {
	return decode(func() *LoadAwareScheduling { return &LoadAwareScheduling{rules: rules} })
}

// NewLoadAwareScheduling returns the default arguments for a version of
// Koordinator.
func NewLoadAwareScheduling(rules estimator.Rules) *LoadAwareScheduling {
	a := &LoadAwareScheduling{rules: rules}
	a.complete()
	return a
}

// before18 reports whether the version is an older one.
func (a *LoadAwareScheduling) before18() bool {
	return a.rules != "" && a.rules != estimator.Koordinator18
}

func (a *LoadAwareScheduling) complete() {
	const (
		expirationSeconds = 180
		cpuThreshold      = 65
		memoryThreshold   = 95
		cpuFactor         = 85
		memoryFactor      = 70
	)
	if a.before18() {
		a.dropUnknown()
	}
	if a.APIVersion != "" {
		a.GivenIn(a.APIVersion)
	}
	a.TypeMeta = meta("LoadAwareScheduling")
	if a.FilterExpiredNodeMetrics == nil {
		a.FilterExpiredNodeMetrics = new(true)
	}
	if a.EnableScheduleWhenNodeMetricsExpired == nil && a.rules != estimator.Koordinator14 {
		a.EnableScheduleWhenNodeMetricsExpired = new(false)
	}
	if a.NodeMetricExpirationSeconds == nil {
		a.NodeMetricExpirationSeconds = new(int64(expirationSeconds))
	}
	if len(a.ResourceWeights) == 0 && a.DominantResourceWeight == 0 {
		a.ResourceWeights = map[resource.Name]int64{resource.CPU: 1, resource.Memory: 1}
	}
	if len(a.UsageThresholds) == 0 {
		a.UsageThresholds = map[resource.Name]int64{resource.CPU: cpuThreshold, resource.Memory: memoryThreshold}
	}
	factors := map[resource.Name]int64{resource.CPU: cpuFactor, resource.Memory: memoryFactor}
	maps.Copy(factors, a.EstimatedScalingFactors)
	a.EstimatedScalingFactors = factors
}

// dropUnknown clears the arguments that versions before 1.8 do not have, or lose.
func (a *LoadAwareScheduling) dropUnknown() {
	if a.rules != estimator.Koordinator16 {
		a.FilterExpiredNodeMetrics = nil
	}
	if a.rules == estimator.Koordinator14 {
		a.EnableScheduleWhenNodeMetricsExpired = nil
	}
	a.DominantResourceWeight, a.ProdUsageIncludeSys, a.AllowCustomizeEstimation = 0, false, false
	a.EstimatedSecondsAfterPodScheduled, a.EstimatedSecondsAfterInitialized, a.SupportedResources = nil, nil, nil
}

// GivenIn adapts the arguments to the version of their configuration: see
// FilterExpiredNodeMetrics.
func (a *LoadAwareScheduling) GivenIn(apiVersion string) {
	if a.rules == estimator.Koordinator16 && apiVersion != APIVersion {
		a.FilterExpiredNodeMetrics = new(true)
	}
}

// Config returns the configuration that the arguments describe, except the
// estimator's name.
func (a *LoadAwareScheduling) Config() estimator.LoadConfig {
	c := estimator.LoadConfig{
		Rules:               a.rules,
		Expiration:          estimator.Seconds(value(a.NodeMetricExpirationSeconds)),
		Thresholds:          a.UsageThresholds,
		ProdThresholds:      a.ProdUsageThresholds,
		Weights:             a.ResourceWeights,
		DominantWeight:      a.DominantResourceWeight,
		ScoreProd:           value(a.ScoreAccordingProdUsage),
		ProdIncludesSystem:  a.ProdUsageIncludeSys,
		Factors:             a.EstimatedScalingFactors,
		EstimateScheduled:   estimator.Seconds(value(a.EstimatedSecondsAfterPodScheduled)),
		EstimateInitialized: estimator.Seconds(value(a.EstimatedSecondsAfterInitialized)),
		PodAnnotations:      a.AllowCustomizeEstimation,
		Resources:           a.SupportedResources,
	}
	switch {
	case !value(a.FilterExpiredNodeMetrics):
		c.Expired = estimator.UseExpired
	case value(a.EnableScheduleWhenNodeMetricsExpired):
		c.Expired = estimator.PassExpired
	}
	if g := a.Aggregated; g != nil {
		c.Aggregated = &estimator.Aggregated{
			Thresholds: g.UsageThresholds,
			Type:       g.UsageAggregationType, Duration: value(g.UsageAggregatedDuration).Duration,
			ScoreType: g.ScoreAggregationType, ScoreDuration: value(g.ScoreAggregatedDuration).Duration,
		}
	}
	return c
}

// Load returns the configuration that filter.LoadAware and scoring.LoadAware share,
// with the estimator from [estimator.Estimators.New].
func (a *LoadAwareScheduling) Load(known estimator.Estimators) (*estimator.Load, error) {
	c := a.Config()
	e, err := known.New(a.Estimator, c)
	if err != nil {
		return nil, err
	}
	c.Estimator = e
	return estimator.NewLoad(c)
}

// value returns *p, or the zero value if p is nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
