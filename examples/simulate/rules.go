package main

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

// rules say how to schedule pods.
type rules struct {
	title      string
	profiles   []scheduling.Profile // all with the same tie rule
	configured bool                 // by a file, so pods choose a profile by name
	handle     *lifecycle.Handle
	backoff    queue.Backoff
	seed       uint64
}

// rulesOf returns the rules of a version of kube-scheduler. If there is a file, they
// have its profiles.
func rulesOf(version, file string, seed uint64) (*rules, error) {
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
	r := &rules{title: "kube-scheduler " + cmp.Or(version, "1.37"), profiles: []scheduling.Profile{preset}, seed: seed}
	if file != "" {
		if err := r.configure(file, registry); err != nil {
			return nil, err
		}
	}
	for i := range r.profiles {
		r.profiles[i].Seed = seed
		if version == "" {
			r.profiles[i].TieRule = scheduling.Random
		}
	}
	return r, nil
}

// configure takes the profiles from a file.
func (r *rules) configure(file string, registry *scheduling.Registry) error {
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
	r.handle = lifecycle.NewHandle()
	built, err := c.Build(config.BuildConfig{Handle: r.handle})
	if err != nil {
		return err
	}
	r.profiles, r.configured = built.Profiles, true
	r.backoff.Initial, r.backoff.Max = c.Backoff()
	r.title += ", " + file + ": " + strings.Join(r.names(), ", ")
	return nil
}

// names returns the names of the profiles.
func (r *rules) names() []string {
	var names []string
	for i := range r.profiles {
		names = append(names, r.profiles[i].Name)
	}
	return names
}
