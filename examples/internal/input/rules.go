package input

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
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

// profileOf returns the preset of a version of kube-scheduler, 1.37 for "".
func profileOf(version string) (scheduling.Profile, error) {
	switch version {
	case "", "1.37":
		return scheduling.Kubernetes137(), nil
	case "1.18":
		return scheduling.Kubernetes118(), nil
	case "1.34":
		return scheduling.Kubernetes134(), nil
	}
	return scheduling.Profile{}, VersionError(version)
}

// A VersionError is a version of kube-scheduler whose rules are not here.
type VersionError string

// Error names the versions that are.
func (e VersionError) Error() string {
	return fmt.Sprintf("kube-scheduler %q: no rules for this version; want 1.18, 1.34 or 1.37", string(e))
}

// IsVersion reports whether there are rules of a version; "" is the newest.
func IsVersion(version string) bool {
	_, err := profileOf(version)
	return err == nil
}

// LoadConfigOf says how a version of kube-scheduler, 1.37 for "", reads configuration files,
// and what these may name. Koordinator's LoadAwareScheduling is known besides.
func LoadConfigOf(version string) (config.LoadConfig, error) {
	const readsOlder = "1.18" // release 1.29 removed the last version before v1
	c := config.LoadConfig{ReadFile: os.ReadFile, OnlyV1: version != readsOlder}
	switch version {
	case "", "1.37":
		c.Preset, c.Registry = config.Kubernetes137(), scheduling.Kubernetes137Registry()
	case "1.18":
		c.Preset, c.Registry = config.Kubernetes118(), scheduling.Kubernetes118Registry()
	case "1.34":
		c.Preset, c.Registry = config.Kubernetes134(), scheduling.Kubernetes134Registry()
	default:
		return c, VersionError(version)
	}
	return c, c.Registry.Register(estimator.LoadAwareName, scheduling.RegisterLoadAware(estimator.Koordinator18, estimator.KnownEstimators()))
}

// RulesOf returns the rules of a version of kube-scheduler. If there is a file, they
// have its profiles.
func RulesOf(version, file string, seed uint64) (*Rules, error) {
	preset, err := profileOf(version)
	if err != nil {
		return nil, err
	}
	r := &Rules{Title: "kube-scheduler " + cmp.Or(version, "1.37"), Profiles: []scheduling.Profile{preset}}
	if file != "" {
		load, err := LoadConfigOf(version)
		if err != nil {
			return nil, err
		}
		if err := r.configure(file, load); err != nil {
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
func (r *Rules) configure(file string, load config.LoadConfig) error {
	data, err := ReadConfigFile(file)
	if err != nil {
		return err
	}
	c, err := config.Load(data, load)
	if err != nil {
		return InConfig(file, err)
	}
	r.Handle = lifecycle.NewHandle()
	built, err := c.Build(config.BuildConfig{Handle: r.Handle})
	if err != nil {
		return InConfig(file, err)
	}
	r.Profiles = built.Profiles
	r.Backoff.Initial, r.Backoff.Max = c.Backoff()
	r.Title += ", " + file + ": " + strings.Join(r.names(), ", ")
	return nil
}

// ReadConfigFile is ReadConfig for the file of that name.
func ReadConfigFile(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadConfig(file, f)
}

// ReadConfig reads a configuration, and no more than [config.Load] takes: a file may be
// endless.
func ReadConfig(file string, in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, config.DefaultMaxBytes+1))
	if err == nil && len(data) > config.DefaultMaxBytes {
		err = fmt.Errorf("%s: the configuration has more than %d bytes", file, config.DefaultMaxBytes)
	}
	return data, err
}

// names returns the names of the profiles.
func (r *Rules) names() []string {
	var names []string
	for i := range r.Profiles {
		names = append(names, r.Profiles[i].Name)
	}
	return names
}

// A ConfigError says what is wrong with a configuration file.
type ConfigError struct {
	File string
	Err  *config.Error
}

// InConfig names the file of an error of config.Load.
func InConfig(file string, err error) error {
	var faults *config.Error
	if errors.As(err, &faults) {
		return &ConfigError{file, faults}
	}
	return fmt.Errorf("%s: %w", file, err)
}

// Error has a line for each problem, with the file and its line.
func (e *ConfigError) Error() string {
	var lines []string
	for _, p := range e.Err.Problems {
		where := e.File
		if p.Line > 0 {
			where += ":" + strconv.Itoa(p.Line)
		}
		lines = append(lines, where+": "+p.Text)
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems.
func (e *ConfigError) Unwrap() error { return e.Err }
