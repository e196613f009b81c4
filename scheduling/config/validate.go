package config

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/berth-sched/berth/scheduling/args"
)

// validate applies the rules for values. The order is upstream's, which sorts
// nothing; where upstream iterates over a map, points come in their usual order.
func (l *loader) validate(c *Configuration) error {
	p := &problems{stage: StageValidate}
	p.fields("clientConnection", c.ClientConnection.validate())
	p.fields("leaderElection", c.LeaderElection.validate())
	if c.Parallelism <= 0 {
		p.fields("", []args.FieldError{args.Invalid("parallelism", c.Parallelism, "should be an integer value greater than zero")})
	}
	last := make(map[string]int)
	for i := range c.Profiles {
		if p.full() {
			break
		}
		profile := &c.Profiles[i]
		p.fields(profilePath(i), profile.validate())
		l.validatePlugins(i, profile, p)
		if _, twice := last[profile.SchedulerName]; twice {
			// The value is the path of the earlier name, which upstream fails to print.
			p.fields(profilePath(i), []args.FieldError{args.Duplicate("schedulerName", struct{}{})})
		}
		last[profile.SchedulerName] = i
	}
	p.fields("", validateQueueSort(c.Profiles))
	p.fields("", validatePercentage(&c.PercentageOfNodesToScore))
	if c.PodInitialBackoffSeconds <= 0 {
		p.fields("", []args.FieldError{args.Invalid("podInitialBackoffSeconds", c.PodInitialBackoffSeconds, "must be greater than 0")})
	}
	if c.PodMaxBackoffSeconds < c.PodInitialBackoffSeconds {
		e := args.Invalid("podMaxBackoffSeconds", c.PodMaxBackoffSeconds, "must be greater than or equal to PodInitialBackoffSeconds")
		p.add(Problem{Class: Class(e.Type), Field: e.Field, Text: e.Error(), other: "podInitialBackoffSeconds", err: e})
	}
	p.fields("", validateExtenders(c.Extenders))
	return p.located(l.lines)
}

func (c *ClientConnection) validate() []args.FieldError {
	if c.Burst < 0 {
		return []args.FieldError{args.Invalid("burst", c.Burst, "must be non-negative")}
	}
	return nil
}

func (e *LeaderElection) validate() []args.FieldError {
	if !e.LeaderElect {
		return nil
	}
	var errs []args.FieldError
	if e.LeaseDuration.Duration <= 0 {
		errs = append(errs, args.Invalid("leaseDuration", e.LeaseDuration, "must be greater than zero"))
	}
	if e.RenewDeadline.Duration <= 0 {
		errs = append(errs, args.Invalid("renewDeadline", e.RenewDeadline, "must be greater than zero"))
	}
	if e.RetryPeriod.Duration <= 0 {
		errs = append(errs, args.Invalid("retryPeriod", e.RetryPeriod, "must be greater than zero"))
	}
	if e.LeaseDuration.Duration <= e.RenewDeadline.Duration {
		// Upstream shows the other field's value.
		errs = append(errs, args.Invalid("leaseDuration", e.RenewDeadline, "must be greater than `RenewDeadline`"))
	}
	if e.ResourceLock != "leases" {
		errs = append(errs, args.Invalid("resourceLock", e.ResourceLock, `resourceLock value must be "leases"`))
	}
	return errs
}

func (p *Profile) validate() []args.FieldError {
	var errs []args.FieldError
	if p.SchedulerName == "" {
		errs = append(errs, args.Required("schedulerName", ""))
	}
	return append(errs, validatePercentage(p.PercentageOfNodesToScore)...)
}

func validatePercentage(percentage *int32) []args.FieldError {
	if percentage == nil || *percentage >= 0 && *percentage <= 100 {
		return nil
	}
	return []args.FieldError{args.Invalid("percentageOfNodesToScore", *percentage, "not in valid range [0-100]")}
}

// validatePlugins checks the names of plugins and the arguments of a profile.
func (l *loader) validatePlugins(i int, profile *Profile, p *problems) {
	removed := func(name string) bool { return l.version.name == "v1" && slices.Contains(l.preset.Removed, name) }
	reject := func(path, name string) {
		text := fmt.Sprintf(`was invalid in version "v1" (KubeSchedulerConfiguration is version %q)`, args.APIVersion)
		p.fields("", []args.FieldError{args.Invalid(path, name, text)})
	}
	for _, point := range Points() {
		if point == PlacementGenerate || point == PlacementScore {
			continue // upstream does not check it, nor multiPoint
		}
		for j, plugin := range profile.Plugins.At(point).Enabled {
			if removed(plugin.Name) {
				reject(fmt.Sprintf("%s.plugins.%s.enabled[%d]", profilePath(i), point, j), plugin.Name)
			}
		}
	}
	seen := make(map[string]bool)
	for j, pc := range profile.PluginConfig {
		if p.full() {
			return
		}
		path := profilePath(i) + ".pluginConfig[" + strconv.Itoa(j) + "]"
		if seen[pc.Name] {
			p.fields("", []args.FieldError{args.Duplicate(path, pc.Name)})
		}
		seen[pc.Name] = true
		if removed(pc.Name) {
			reject(path, pc.Name)
			continue
		}
		if l.preset.Plugins[pc.Name].LateArgs {
			continue
		}
		if v, ok := pc.Args.(args.Validator); ok {
			p.fields("", v.Validate(path+".args"))
		} else if pc.Name == "NodeResourcesFitArgs" {
			// The name is compared with a kind. Upstream's table of rules has the
			// same mistake, so it rejects every such entry.
			p.fields("", []args.FieldError{args.Invalid(path+".args", pc.Args, "has to match plugin args")})
		}
	}
}
