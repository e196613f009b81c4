package page

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/examples/internal/expand"
	"github.com/berth-sched/berth/examples/internal/manifest"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

// maxText bounds each text, in bytes.
const maxText = 64 << 20

// A cluster is what the texts say. Nothing changes it: steps work on forks.
type cluster struct {
	objects  *api.Objects
	snapshot *framework.Snapshot
	waiting  []*framework.PodInfo // as a queue takes them
	leftOut  []LeftOut
	running  int
	profiles []scheduling.Profile
	warnings []string
	around   background
	peers    *peers

	sources []*manifest.Source
	made    map[string]string // the workload of a pod that stands for it, both as in errors
}

// A LeftOut is a pod that waits and is not decided about.
type LeftOut struct {
	Pod string `json:"pod"`
	Why string `json:"why"`
}

// read reads the texts. With problems there is no cluster.
func read(s *State) (*cluster, []Problem) {
	c := &cluster{made: map[string]string{}}
	var problems []Problem
	c.profiles, problems = profilesOf(s.Preset, s.Config, s.Seed)
	in := new(api.Objects)
	for _, area := range []struct{ name, text string }{{"nodes", s.Nodes}, {"pods", s.Pods}} {
		switch {
		case len(area.text) > maxText:
			problems = append(problems, Problem{Area: area.name, Text: fmt.Sprintf("the text has %d MB, more than %d", len(area.text)>>20, maxText>>20)})
		case strings.TrimSpace(area.text) != "":
			source := &manifest.Source{Name: area.name, Open: func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(area.text)), nil
			}}
			c.sources = append([]*manifest.Source{source}, c.sources...) // the pods are looked at first
			if err := source.Decode(in, strings.NewReader(area.text)); err != nil {
				problems = append(problems, problemOf(area.name, err))
			}
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	if len(in.Nodes) == 0 {
		p := Problem{Area: "nodes", Text: "there are no nodes: paste what kubectl get nodes -o yaml prints, or choose a sample"}
		if s.Nodes != "" {
			p.Line = 1 // they are missing from all of the text
		}
		return nil, []Problem{p}
	}
	c.around = backgroundOf(s.Config, in.Nodes)
	if err := c.load(in); err != nil {
		return nil, c.problems(err)
	}
	c.objects, c.warnings = in, c.doubts(in)
	for _, kind := range slices.Sorted(maps.Keys(in.Skipped)) {
		c.warnings = append(c.warnings, fmt.Sprintf("%d of the kind %s are left out, because scheduling does not read them", in.Skipped[kind], kind))
	}
	for _, m := range in.NodeMetrics {
		if at := m.Status.UpdateTime; at != nil && at.After(c.snapshot.Now()) {
			c.snapshot.SetNow(*at)
		}
	}
	for _, n := range c.snapshot.All() {
		c.running += len(n.Pods)
	}
	c.sort()
	return c, nil
}

// doubts lists what is likely a mistake, with its line.
func (c *cluster) doubts(o *api.Objects) (lines []string) {
	var faults []*manifest.FaultError
	for _, s := range slices.Backward(c.sources) {
		faults = append(faults, s.Doubts()...)
	}
	values := c.written(o).Doubts()
	rest := len(faults) + len(values) - maxProblems
	faults = faults[:min(len(faults), maxProblems)]
	values = values[:min(len(values), maxProblems-len(faults))]
	add := func(area string, line int, err error) {
		lines = append(lines, fmt.Sprintf("%s, line %d: %v", area, line, err))
	}
	for _, fault := range faults {
		add(fault.File, fault.Line, fault.Err)
	}
	for i, p := range c.locate(values) {
		add(p.Area, p.Line, values[i])
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", rest))
	}
	return lines
}

// written returns the objects without the pods that workloads stand for: these say what their templates say.
func (c *cluster) written(o *api.Objects) *api.Objects {
	in := *o
	in.Pods = nil
	for _, p := range o.Pods {
		if _, made := c.made["pod "+p.Key()]; !made {
			in.Pods = append(in.Pods, p)
		}
	}
	return &in
}

// maxPodsInAll bounds the pods that workloads stand for: a short text may ask for many.
const maxPodsInAll = 200_000

// load makes the snapshot, with the defaults that the API server sets.
func (c *cluster) load(o *api.Objects) (err error) {
	if err = o.Validate(); err != nil {
		return err
	}
	if err = checkSelectors(o); err != nil {
		return err
	}
	if err = checkStorage(o); err != nil {
		return err
	}
	if err = checkPods(o, &c.around); err != nil {
		return err
	}
	if err = expand.Workloads(o, maxPodsInAll, func(pod, workload string) error {
		c.made["pod "+pod] = workload
		return nil
	}); err != nil {
		return err
	}
	if err = o.Default(); err != nil {
		return err
	}
	if c.snapshot, c.waiting, err = framework.SnapshotOf(o, framework.ZoneInterleaved); err != nil {
		return err
	}
	pods := slices.Clone(c.waiting)
	for _, n := range c.snapshot.All() {
		pods = append(pods, n.Pods...)
	}
	c.peers = peersOf(pods)
	return c.peers.check(pods)
}

// sort orders the waiting pods as the queue does, by priority, and leaves out those that
// no scheduler here decides about.
func (c *cluster) sort() {
	names := map[string]bool{}
	for i := range c.profiles {
		names[c.profiles[i].Name] = true
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(p *framework.PodInfo) bool {
		why := ""
		switch {
		case !names[p.Pod.Spec.SchedulerName]:
			why = "it asks for the scheduler " + p.Pod.Spec.SchedulerName
		case len(p.Pod.Spec.SchedulingGates) > 0:
			why = "its scheduling gates keep it out of the queue"
		default:
			return false
		}
		c.leftOut = append(c.leftOut, LeftOut{p.Pod.Key(), why})
		return true
	})
	byPriority(c.waiting)
}

func byPriority(pods []*framework.PodInfo) {
	slices.SortStableFunc(pods, func(a, b *framework.PodInfo) int { return cmp.Compare(b.Priority, a.Priority) })
}
