package args

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Validate returns every violated rule. path prefixes the field paths; it may be
// empty.
//
// Differs: several bad resources.
// Original: Koordinator reports a random one.
// Here: the first by name is reported.
// Why: the answer must be the same on every run.
func (a *LoadAwareScheduling) Validate(path string) []FieldError {
	var errs []FieldError
	invalid := func(field string, v any, detail string) {
		if detail != "" {
			errs = append(errs, Invalid(child(path, field), v, detail))
		}
	}
	if s := value(a.NodeMetricExpirationSeconds); s <= 0 {
		invalid("nodeMetricExpiredSeconds", s, "nodeMetricExpiredSeconds should be a positive value")
	}
	invalid("resourceWeights", a.asMap(a.ResourceWeights), checkShares("resource Weight", a.ResourceWeights, 1))
	switch w := a.DominantResourceWeight; {
	case w < 0:
		invalid("dominantResourceWeight", w, "dominantResourceWeight should not be a negative value")
	case w > maxResourceWeight:
		invalid("dominantResourceWeight", w, "dominantResourceWeight should be less than 100")
	}
	invalid("usageThresholds", a.asMap(a.UsageThresholds), checkShares("resource Threshold", a.UsageThresholds, 0))
	invalid("estimatedScalingFactors", a.asMap(a.EstimatedScalingFactors), a.checkFactors())
	for _, name := range slices.Sorted(maps.Keys(a.ResourceWeights)) {
		if _, ok := a.EstimatedScalingFactors[name]; !ok {
			errs = append(errs, a.notFound(child(path, "estimatedScalingFactors"), name))
			break
		}
	}
	if a.Aggregated != nil && !a.before18() {
		errs = append(errs, a.Aggregated.validate(child(path, "aggregated"))...)
	}
	return errs
}

func (g *LoadAwareAggregated) validate(path string) []FieldError {
	var errs []FieldError
	if detail := checkShares("resource Threshold", g.UsageThresholds, 0); detail != "" {
		errs = append(errs, Invalid(child(path, "usageThresholds"), g.UsageThresholds, detail))
	}
	statistic := func(name string, t api.AggregationType) {
		known := []api.AggregationType{api.AVG, api.P50, api.P90, api.P95, api.P99}
		if t != "" && !slices.Contains(known, t) {
			errs = append(errs, NotSupported(child(path, name), t, known))
		}
	}
	duration := func(name string, d *api.Duration) {
		if value(d).Duration < 0 {
			errs = append(errs, Invalid(child(path, name), d, "duration must be >= 0"))
		}
	}
	statistic("usageAggregationType", g.UsageAggregationType)
	duration("usageAggregatedDuration", g.UsageAggregatedDuration)
	statistic("scoreAggregationType", g.ScoreAggregationType)
	duration("scoreAggregatedDuration", g.ScoreAggregatedDuration)
	return errs
}

// checkShares reports a share below least or above 100, or "" if there is none.
func checkShares(what string, shares map[resource.Name]int64, least int64) string {
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		switch v := shares[name]; {
		case v < least:
			return fmt.Sprintf("%s of %s should be a positive value, got %d", what, name, v)
		case v > maxResourceWeight:
			return fmt.Sprintf("%s of %s should be less than 100, got %d", what, name, v)
		}
	}
	return ""
}

func (a *LoadAwareScheduling) checkFactors() string {
	if !a.before18() {
		return checkShares("estimated resource ScalingFactor", a.EstimatedScalingFactors, 1)
	}
	for _, name := range slices.Sorted(maps.Keys(a.EstimatedScalingFactors)) {
		switch v := a.EstimatedScalingFactors[name]; {
		case v <= 0:
			return fmt.Sprintf("estimated resource Threshold of %s should be a positive value, got %d", name, v)
		case v > maxResourceWeight:
			// The second space is Koordinator's.
			return fmt.Sprintf("estimated  resource Threshold of %s should be less than 100, got %d", name, v)
		}
	}
	return ""
}

// notFound returns the error for a resource that has a weight but no factor.
func (a *LoadAwareScheduling) notFound(path string, name resource.Name) FieldError {
	text := quote(string(name))
	if a.before18() {
		text = string(name)
	}
	return FieldError{Type: FieldValueNotFound, Field: path, Value: name, Detail: "Not found: " + text}
}

// FieldValueNotFound is the type of the error for a key that is missing in another
// field.
const FieldValueNotFound ErrorType = "FieldValueNotFound"

// asMap returns a value that prints like the map in an error of that version.
func (a *LoadAwareScheduling) asMap(m map[resource.Name]int64) any {
	if a.before18() {
		return goMap(m)
	}
	return m
}

// goMap prints in Go's map syntax, as versions before 1.8 did in errors.
type goMap map[resource.Name]int64

// MarshalJSON fails, so that the value is printed by GoString.
func (goMap) MarshalJSON() ([]byte, error) { return nil, errors.New("goMap is for people") }

func (m goMap) GoString() string {
	s := "map[v1.ResourceName]int64{"
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%q:%d", string(name), m[name])
	}
	return s + "}"
}
