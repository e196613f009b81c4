package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/berth-sched/berth/examples/internal/display"
	"github.com/berth-sched/berth/examples/internal/input"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/whatif"
)

// A session answers one question: the flags that questions share, and what was read.
type session struct {
	name   string // of the program
	args   []string
	stdin  io.Reader
	stderr io.Writer

	files      list
	sample     bool
	output     string
	limit      int
	quiet      bool
	version    string
	config     string
	scheduler  string
	seed       uint64
	namespace  string
	validation string

	reporting atomic.Int32 // how many parts of the work report their progress

	cluster  *input.Cluster
	snapshot *framework.Snapshot
	pending  []*framework.PodInfo
	rules    *input.Rules
}

// A list is a flag that may be repeated.
type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set implements flag.Value.
func (l *list) Set(text string) error {
	*l = append(*l, text)
	return nil
}

// addFlags adds the flags that questions share.
func (s *session) addFlags(flags *flag.FlagSet, c *command) {
	flags.StringVar(&s.output, "o", "table", "`form` of the output: table, json or html")
	flags.IntVar(&s.limit, "limit", 20, "at most so many `rows` of each table; 0 means all. Unless it is given, -o html\nwrites as many as make a page of 2 MB")
	flags.BoolVar(&s.quiet, "q", false, "no progress and no warnings on standard error")
	flags.StringVar(&s.version, "profile", "", "rules of kube-scheduler `version` 1.18, 1.34 or 1.37, its way to break ties included;\nby default those of 1.37 with ties broken at random")
	if c.input == readsConfig {
		return
	}
	flags.StringVar(&s.config, "config", "", "`file` with a KubeSchedulerConfiguration, for the rules of -profile; as kube-scheduler does,\n1.34 and 1.37 read only kubescheduler.config.k8s.io/v1, and 1.18 reads older versions too")
	flags.Uint64Var(&s.seed, "seed", 1, "seed of all random choices")
	if c.input == readsTrace {
		return
	}
	flags.Var(&s.files, "f", "`file` with objects as kubectl prints them, YAML or JSON; - is standard input; may be repeated")
	flags.BoolVar(&s.sample, "sample", false, "take a cluster made up for trying things out")
	flags.StringVar(&s.scheduler, "scheduler", "", "`name` of the profile in the file of -config; by default the first")
	flags.StringVar(&s.validation, "validate", strict, "what to do about fields that look misspelt or are repeated, wrong values of fields that decide nothing,\nand pods on nodes that are not there, as for kubectl: strict refuses them, warn tells them, ignore does\nneither; warn and ignore leave such pods out. Wrong values of other fields are always refused")
	flags.StringVar(&s.namespace, "n", "default", "`namespace` of pods that are named without one")
}

// checkFlags refuses values that no question takes.
func (s *session) checkFlags(c *command) error {
	switch {
	case !slices.Contains([]string{"table", "json", "html"}, s.output):
		return fmt.Errorf("-o: %q: want table, json or html", s.output)
	case !input.IsVersion(s.version):
		return fmt.Errorf("-profile: %w", input.VersionError(s.version))
	case !slices.Contains([]string{"", strict, warn, ignore}, s.validation):
		return fmt.Errorf("-validate: %q: want strict, warn or ignore", s.validation)
	case s.limit < 0:
		return fmt.Errorf("-limit: %d: must not be negative", s.limit)
	case s.sample && len(s.files) > 0:
		return errors.New("-sample and -f: give one of the two")
	case s.scheduler != "" && s.config == "":
		return errors.New("-scheduler: name the file with the profile, with -config")
	case c.args == "" && len(s.args) > 0:
		return fmt.Errorf("unexpected argument %q: name files with -f", s.args[0])
	}
	return nil
}

// readRules reads the rules.
func (s *session) readRules() (err error) {
	if s.rules == nil {
		s.rules, err = input.RulesOf(s.version, s.config, s.seed)
	}
	return err
}

// profile returns the profile that answers.
func (s *session) profile() (scheduling.Profile, error) {
	if err := s.readRules(); err != nil {
		return scheduling.Profile{}, err
	}
	return named(s.rules, s.scheduler)
}

// named returns the profile of that name; the first one for "".
func named(r *input.Rules, name string) (scheduling.Profile, error) {
	var names []string
	for i := range r.Profiles {
		if name == "" || r.Profiles[i].Name == name {
			return r.Profiles[i], nil
		}
		names = append(names, r.Profiles[i].Name)
	}
	return scheduling.Profile{}, fmt.Errorf("-scheduler: %q: no such profile; there are %s", name, strings.Join(names, ", "))
}

// read reads the cluster, and makes the pods that workloads stand for.
func (s *session) read() error {
	if err := s.readObjects(); err != nil {
		return err
	}
	var err error
	if s.snapshot, s.pending, err = s.cluster.Snapshot(); err != nil {
		return err
	}
	if s.snapshot.Len() == 0 {
		return fmt.Errorf("%s: there are no nodes in it; add them: kubectl get nodes -o yaml", s.cluster.Title)
	}
	// Reports of use are as old as they were when the youngest was made.
	var now time.Time
	for _, m := range s.cluster.Objects.NodeMetrics {
		if t := m.Status.UpdateTime; t != nil && t.After(now) {
			now = *t
		}
	}
	if !now.IsZero() {
		s.snapshot.SetNow(now)
	}
	return nil
}

// readObjects reads files, or standard input, or takes the sample.
func (s *session) readObjects() error {
	if s.sample {
		s.cluster = input.Sample()
		return nil
	}
	files := []string(s.files)
	if len(files) == 0 {
		if f, ok := s.stdin.(*os.File); ok {
			if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
				return fmt.Errorf("no input; for example: kubectl get nodes,pods -A -o yaml | %s ..., or -f FILE, or -sample", s.name)
			}
		}
		files = []string{"-"}
	}
	s.cluster = &input.Cluster{Strict: s.validation != ignore, Title: strings.ReplaceAll(strings.Join(files, ", "), "-", "standard input")}
	if len(files) > 1 || files[0] != "-" {
		s.cluster.Title = strings.Join(files, ", ")
	}
	for _, file := range files {
		step, done := s.progress(sizeOf(file))
		s.cluster.Progress = func(n int64) { step(int(n>>10), "%s: %d MB read", file, n>>20) }
		err := s.readFile(file)
		done()
		if err != nil {
			return err
		}
	}
	return s.validate()
}

// The values of -validate, those of kubectl.
const (
	strict = "strict"
	warn   = "warn"
	ignore = "ignore"
)

// maxDoubts bounds the doubts that are told.
const maxDoubts = 20

// validate refuses what is likely a mistake, or warns about it.
func (s *session) validate() error {
	s.cluster.SkipStrays = s.validation == warn || s.validation == ignore
	if s.validation == ignore {
		return nil
	}
	doubts, rest := s.cluster.Doubts(maxDoubts)
	if rest > 0 {
		doubts = append(doubts, fmt.Errorf("and %d more", rest))
	}
	if s.validation == strict && len(doubts) > 0 {
		if err := s.cluster.Objects.Validate(); err != nil {
			doubts = append(doubts, s.cluster.Explain(err))
		}
		return errors.Join(append(doubts, errors.New("this is likely a mistake; -validate=warn goes on"))...)
	}
	for _, d := range doubts {
		if !s.quiet {
			fmt.Fprintln(s.stderr, "warning:", errtext.Visible(d.Error()))
		}
	}
	return nil
}

func (s *session) readFile(file string) error {
	if file == "-" {
		return s.cluster.Read("standard input", s.stdin)
	}
	return s.cluster.ReadFile(file)
}

// progress shows how far some work is, until done is called. total is 0 if it is not known.
func (s *session) progress(total int) (step func(n int, format string, args ...any), done func()) {
	w := s.stderr
	if s.quiet {
		w = io.Discard
	}
	s.reporting.Add(1)
	p := display.NewProgress(w, total)
	return p.Step, func() {
		p.Done()
		s.reporting.Add(-1)
	}
}

// sizeOf returns the size of a file in KiB, 0 if it is not known.
func sizeOf(file string) int {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return int(info.Size() >> 10)
}

// planner returns what answers questions about the cluster.
func (s *session) planner() (*whatif.Planner, error) {
	profile, err := s.profile()
	if err != nil {
		return nil, err
	}
	if s.snapshot == nil {
		if err := s.read(); err != nil {
			return nil, err
		}
	}
	return whatif.New(profile, s.snapshot)
}

// watch says every few seconds that the work goes on, unless a part of it reports its
// progress. Call the result at its end.
func (s *session) watch(what string) (stop func()) {
	const every = 10 * time.Second
	if s.quiet {
		return func() {}
	}
	begin, ticker, done, ended := time.Now(), time.NewTicker(every), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ticker.C:
				if s.reporting.Load() > 0 {
					continue
				}
				fmt.Fprintf(s.stderr, "%s %s: working, %v\n", s.name, what, time.Since(begin).Round(time.Second))
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
		<-ended
	}
}

// title names the rules for people.
func (s *session) title(p *scheduling.Profile) string {
	text := fmt.Sprintf("%s, ties %s", s.rules.Title, p.TieRule)
	if s.config != "" {
		text += ", profile " + cmp.Or(p.Name, scheduling.DefaultName)
	}
	return text
}
