package input

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/queue"
)

// Rules say how to schedule pods.
type Rules struct {
	// Title describes the rules in a few words.
	Title string
	// Profiles all have the same tie rule.
	Profiles []scheduling.Profile
	// Handle and Backoff are those of the configuration file, if there is one.
	Handle  *lifecycle.Handle
	Backoff queue.Backoff
}

// RulesOf returns the rules of a version of kube-scheduler. If there is a file, they
// have its profiles.
func RulesOf(version, file string, seed uint64) (*Rules, error) {
	preset, registry := scheduling.Kubernetes137(), scheduling.Kubernetes137Registry()
	switch version {
	case "", "1.37":
	case "1.18":
		preset, registry = scheduling.Kubernetes118(), scheduling.Kubernetes118Registry()
	case "1.34":
		preset, registry = scheduling.Kubernetes134(), scheduling.Kubernetes134Registry()
	default:
		return nil, fmt.Errorf("-profile: %q: want 1.18, 1.34 or 1.37", version)
	}
	r := &Rules{Title: "kube-scheduler " + cmp.Or(version, "1.37"), Profiles: []scheduling.Profile{preset}}
	if file != "" {
		if err := r.configure(file, registry); err != nil {
			return nil, err
		}
	}
	for i := range r.Profiles {
		r.Profiles[i].Seed = seed
		if version == "" {
			r.Profiles[i].TieRule = scheduling.Random
		}
	}
	return r, nil
}

// configure takes the profiles from a file.
func (r *Rules) configure(file string, registry *scheduling.Registry) error {
	err := registry.Register(estimator.LoadAwareName, scheduling.RegisterLoadAware(estimator.Koordinator18, estimator.KnownEstimators()))
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	c, err := config.Load(data, config.LoadConfig{Registry: registry, ReadFile: os.ReadFile})
	if err != nil {
		return err
	}
	r.Handle = lifecycle.NewHandle()
	built, err := c.Build(config.BuildConfig{Handle: r.Handle})
	if err != nil {
		return err
	}
	r.Profiles = built.Profiles
	r.Backoff.Initial, r.Backoff.Max = c.Backoff()
	r.Title += ", " + file + ": " + strings.Join(r.names(), ", ")
	return nil
}

// names returns the names of the profiles.
func (r *Rules) names() []string {
	var names []string
	for i := range r.Profiles {
		names = append(names, r.Profiles[i].Name)
	}
	return names
}
