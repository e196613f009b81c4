package page

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/framework/api"
)

// goTest returns a Go test that makes the cluster, does again what was done, checks where
// each pod went, and checks the decision that the page shows.
func (p *Page) goTest(w *world) string {
	g := new(generator)
	g.line("// Written by the playground of berth. To run it: put it into a module that requires")
	g.line("// github.com/berth-sched/berth, as playground_test.go, and go test.")
	g.line("package playground_test")
	g.line("")
	g.imports(strings.TrimSpace(p.state.Config) != "" || p.state.Preset == LoadAware, p.state.Preset == LoadAware || strings.Contains(p.state.Config, "LoadAware"))
	g.line("func TestPlayground(t *testing.T) {")
	g.line("\tc := newCluster(t)")
	for i := range w.acts {
		g.act(&w.acts[i])
	}
	if k := p.decision(w); k != nil {
		d, _ := k.weigh(k.lane.weights)
		g.line("\tc.next(%q, %q, %d, %d, %q)", d.Pod, d.Chosen, d.Score, len(d.Tied), d.Error)
	}
	g.line("}")
	g.line("%s", helpers)
	g.profiles(&p.state)
	if now := w.cluster.snapshot.Now(); !now.IsZero() {
		now = now.UTC()
		g.line("// now is the time of the newest NodeMetric.")
		g.line("var now = time.Date(%d, %d, %d, %d, %d, %d, %d, time.UTC)", now.Year(), now.Month(), now.Day(), now.Hour(), now.Minute(), now.Second(), now.Nanosecond())
	} else {
		g.line("// now is the time of the cluster: none is known.")
		g.line("var now time.Time")
	}
	g.line("")
	g.objects(w.cluster.objects)
	return g.b.String()
}

// A generator writes source.
type generator struct{ b strings.Builder }

func (g *generator) line(text string, values ...any) {
	if len(values) > 0 {
		text = fmt.Sprintf(text, values...)
	}
	g.b.WriteString(text + "\n")
}

func (g *generator) imports(config, loadAware bool) {
	g.line("import (")
	for _, name := range []string{"slices", "testing", "time"} {
		g.line("\t%q", name)
	}
	g.line("")
	names := []string{"framework", "framework/api", "scheduling"}
	if config {
		names = append(names, "scheduling/config")
	}
	if loadAware {
		names = append([]string{"estimator"}, names...)
	}
	for _, name := range names {
		g.line("\t%q", "github.com/berth-sched/berth/"+name)
	}
	g.line(")")
	g.line("")
}

// act writes what was done.
func (g *generator) act(a *act) {
	switch a.do {
	case stepPlace:
		g.line("\tc.place(%q, %q)", a.pod, a.node)
	case stepWeigh:
		var list []string
		for _, name := range slices.Sorted(maps.Keys(a.weights)) {
			list = append(list, fmt.Sprintf("%q: %d", name, a.weights[name]))
		}
		g.line("\tc.weigh(%q, map[string]int64{%s})", a.lane, strings.Join(list, ", "))
	case stepAdd:
		g.line("\tc.add(%q, %q)", a.node, a.like)
	case "cordon":
		g.line("\tc.cordon(%q)", a.node)
	case stepEvict:
		g.line("\tc.evict(%q, %q)", a.pod, a.lane)
	}
}

// helpers is the same in every test.
const helpers = `
// A cluster is a snapshot with its schedulers, by the names of their profiles.
type cluster struct {
	t        *testing.T
	snapshot *framework.Snapshot
	pods     map[string]*framework.PodInfo // that wait
	profiles map[string]scheduling.Profile
	scheds   map[string]*scheduling.Scheduler
	last     *scheduling.Scheduler // schedulers count their decisions together
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	read, err := api.Decode([]byte(objects))
	if err != nil {
		t.Fatal(err)
	}
	snapshot, waiting, err := framework.SnapshotOf(read, framework.ZoneInterleaved)
	if err != nil {
		t.Fatal(err)
	}
	snapshot.SetNow(now)
	c := &cluster{t: t, snapshot: snapshot, pods: map[string]*framework.PodInfo{}, profiles: map[string]scheduling.Profile{}, scheds: map[string]*scheduling.Scheduler{}}
	for _, pod := range waiting {
		c.pods[pod.Pod.Key()] = pod
	}
	for _, profile := range profiles(t) {
		profile.Seed = seed
		c.profiles[profile.Name] = profile
		c.set(profile)
	}
	return c
}

// set makes the scheduler of a profile; it goes on counting.
func (c *cluster) set(profile scheduling.Profile) {
	c.t.Helper()
	sched, err := scheduling.New(profile)
	if err != nil {
		c.t.Fatal(err)
	}
	if c.last != nil {
		sched.Seek(c.last.Position())
	}
	c.last, c.scheds[profile.Name] = sched, sched
}

// of returns the scheduler that the pod asks for.
func (c *cluster) of(pod *framework.PodInfo) *scheduling.Scheduler {
	sched := c.scheds[pod.Pod.Spec.SchedulerName]
	sched.Seek(c.last.Position())
	c.last = sched
	return sched
}

// waiting returns a pod that waits.
func (c *cluster) waiting(key string) *framework.PodInfo {
	c.t.Helper()
	if c.pods[key] == nil {
		c.t.Fatalf("pod %s does not wait", key)
	}
	return c.pods[key]
}

// place places a pod; node is where it has to go, "" for nowhere.
func (c *cluster) place(key, node string) {
	c.t.Helper()
	pod := c.waiting(key)
	d, err := c.of(pod).Place(c.snapshot, pod)
	if err != nil && node != "" || err == nil && d.Node != node {
		c.t.Fatalf("pod %s goes to %q, error %v; want node %q", key, d.Node, err, node)
	}
}

// next checks the next decision without placing the pod.
func (c *cluster) next(key, node string, score int64, tied int, message string) {
	c.t.Helper()
	pod := c.waiting(key)
	d, err := c.of(pod).Schedule(c.snapshot, pod)
	if message != "" {
		if err == nil || err.Error() != message {
			c.t.Errorf("pod %s: error %v, want %s", key, err, message)
		}
		return
	}
	if err != nil {
		c.t.Fatal(err)
	}
	if d.Node != node || d.Score != score || tied > 0 && d.TiedNodes != tied {
		c.t.Errorf("pod %s goes to %s with %d points, one of %d; want %s, %d, %d", key, d.Node, d.Score, d.TiedNodes, node, score, tied)
	}
}

// weigh gives a profile other weights; a scorer with the weight 0 is left out.
func (c *cluster) weigh(name string, weights map[string]int64) {
	c.t.Helper()
	profile := c.profiles[name]
	profile.Score = slices.Clone(profile.Score)
	for i := range profile.Score {
		s := &profile.Score[i]
		if w, ok := weights[s.Plugin.Name()]; ok {
			s.Weight = w
		} else if s.Weight == 0 {
			s.Weight = 1
		}
	}
	profile.Score = slices.DeleteFunc(profile.Score, func(s scheduling.Weighted) bool { return s.Weight == 0 })
	c.set(profile)
}

// add adds a node like another one.
func (c *cluster) add(name, like string) {
	c.t.Helper()
	n := api.Clone(c.snapshot.Node(like).Node)
	n.Name, n.UID, n.Spec.Unschedulable = name, "", false
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[api.LabelHostname] = name
	n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t api.Taint) bool { return t.Key == api.TaintNodeUnschedulable })
	if err := c.snapshot.AddNode(n); err != nil {
		c.t.Fatal(err)
	}
}

// cordon keeps new pods off a node.
func (c *cluster) cordon(name string) {
	c.t.Helper()
	n := api.Clone(c.snapshot.Node(name).Node)
	n.Spec.Unschedulable = true
	if !slices.ContainsFunc(n.Spec.Taints, func(t api.Taint) bool { return t.Key == api.TaintNodeUnschedulable }) {
		n.Spec.Taints = append(n.Spec.Taints, api.Taint{Key: api.TaintNodeUnschedulable, Effect: api.TaintEffectNoSchedule})
	}
	if err := c.snapshot.UpdateNode(n); err != nil {
		c.t.Fatal(err)
	}
}

// evict takes a pod off its node; it waits again. profile is the one that placed it, "" if
// it ran from the beginning.
func (c *cluster) evict(key, profile string) {
	c.t.Helper()
	pod, n := c.snapshot.Pod(key)
	if pod == nil {
		c.t.Fatalf("pod %s runs on no node", key)
	}
	err := error(nil)
	if sched := c.scheds[profile]; sched != nil {
		err = sched.Release(c.snapshot, pod, n.Name())
	} else {
		err = c.snapshot.RemovePod(pod, n.Name())
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.pods[key] = pod.Pending()
}
`

// profiles writes the function that makes the profiles.
func (g *generator) profiles(s *State) {
	g.line("// seed determines ties that are drawn.")
	g.line("const seed = %d", s.Seed)
	g.line("")
	g.line("// profiles returns the rules: %s.", s.Preset)
	g.line("func profiles(t *testing.T) []scheduling.Profile {")
	g.line("\tt.Helper()")
	release := strings.ReplaceAll(s.Preset, ".", "")
	if s.Preset == LoadAware {
		release = "137"
	}
	text := s.Config
	if strings.TrimSpace(text) == "" {
		if s.Preset != LoadAware {
			g.line("\treturn []scheduling.Profile{scheduling.Kubernetes%s()}", release)
			g.line("}")
			g.line("")
			return
		}
		text = loadAwareConfig
	}
	g.line("\tregistry := scheduling.Kubernetes%sRegistry()", release)
	if s.Preset == LoadAware || strings.Contains(s.Config, "LoadAware") {
		g.line("\tif err := registry.Register(estimator.LoadAwareName, scheduling.RegisterLoadAware(estimator.Koordinator18, estimator.KnownEstimators())); err != nil {")
		g.line("\t\tt.Fatal(err)")
		g.line("\t}")
	}
	g.line("\tc, err := config.Load([]byte(configuration), config.LoadConfig{Registry: registry})")
	g.line("\tif err != nil {")
	g.line("\t\tt.Fatal(err)")
	g.line("\t}")
	g.line("\tbuilt, err := c.Build(config.BuildConfig{})")
	g.line("\tif err != nil {")
	g.line("\t\tt.Fatal(err)")
	g.line("\t}")
	g.line("\treturn built.Profiles")
	g.line("}")
	g.line("")
	g.line("const configuration = %s", literal(text))
	g.line("")
}

// objects writes the objects of the cluster as JSON, one a line.
func (g *generator) objects(o *api.Objects) {
	g.line("// objects are what scheduling reads of the cluster, one object a line. Pods of workloads")
	g.line("// are written out.")
	var b strings.Builder
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		if v.Field(i).Kind() != reflect.Slice {
			continue
		}
		for k := range v.Field(i).Len() {
			text, err := json.Marshal(v.Field(i).Index(k).Interface())
			if err != nil {
				continue // objects come from JSON, so they have one
			}
			b.Write(text)
			b.WriteByte('\n')
		}
	}
	g.line("const objects = %s", literal(b.String()))
}

// literal writes a text as Go, with its lines if that can be.
func literal(text string) string {
	if strconv.CanBackquote(strings.ReplaceAll(text, "\n", "")) {
		return "`" + text + "`"
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strconv.Quote(line))
	}
	return strings.Join(lines, " +\n\t")
}
