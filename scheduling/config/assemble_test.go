package config_test

import (
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/extender"
)

// build loads a file and builds its profiles.
func build(t *testing.T, file string, o config.LoadConfig) *config.Built {
	t.Helper()
	c, err := config.Load([]byte(file), o)
	if err != nil {
		t.Fatal(err)
	}
	built, err := c.Build(config.BuildConfig{})
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// kinds returns the types of plugins, with weights.
func kinds(p scheduling.Profile) map[string][]string {
	out := make(map[string][]string)
	for point, list := range map[string][]framework.Plugin{
		"PreEnqueue": p.PreEnqueue, "Filter": p.Filter, "PostFilter": p.PostFilter, "Reserve": p.Reserve, "Permit": p.Permit,
		"PreBind": p.PreBind, "Bind": p.Bind, "PostBind": p.PostBind,
	} {
		for _, pl := range list {
			out[point] = append(out[point], fmt.Sprintf("%T", pl))
		}
	}
	for _, w := range p.Score {
		out["Score"] = append(out["Score"], fmt.Sprintf("%T*%d", w.Plugin, w.Weight))
	}
	return out
}

var releases = []struct {
	name     string
	registry func() *scheduling.Registry
	preset   func() scheduling.Profile
	missing  []string
}{
	{"1.37", scheduling.Kubernetes137Registry, scheduling.Kubernetes137, nil},
	{"1.34", scheduling.Kubernetes134Registry, scheduling.Kubernetes134, nil},
	{"1.18", scheduling.Kubernetes118Registry, scheduling.Kubernetes118, nil},
}

// TestDefaultsEqualPresets compares the profile of an empty file with the preset of
// the release: plugin by plugin, and by their decisions on random clusters.
func TestDefaultsEqualPresets(t *testing.T) {
	for _, r := range releases {
		t.Run(r.name, func(t *testing.T) {
			built := build(t, head, config.LoadConfig{Registry: r.registry()})
			if diff := cmp.Diff(r.missing, built.Missing); diff != "" {
				t.Errorf("missing plugins (-want +got):\n%s", diff)
			}
			preset, profile := r.preset(), built.Profiles[0]
			if profile.Name != preset.Name || profile.TieRule != preset.TieRule || profile.Percentage != scheduling.Adaptive || profile.Parallelism != 16 {
				t.Errorf("name %q, ties %v, percentage %d, parallelism %d, want %q, %v, Adaptive, 16",
					profile.Name, profile.TieRule, profile.Percentage, profile.Parallelism, preset.Name, preset.TieRule)
			}
			want, got := kinds(preset), kinds(profile)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("plugins (-preset +file):\n%s\na plugin of a preset needs a line in registry_intree.go, and one there a place in the presets", diff)
			}
			sameAnswers(t, preset, profile)
		})
	}
}

// sameAnswers places the pods of random clusters by both profiles.
func sameAnswers(t *testing.T, want, got scheduling.Profile) {
	t.Helper()
	got.Parallelism = 1 // for speed; it does not change a decision
	for seed := range uint64(12) {
		a, err := scheduling.New(want)
		if err != nil {
			t.Fatal(err)
		}
		b, err := scheduling.New(got)
		if err != nil {
			t.Fatal(err)
		}
		objects := frameworktest.Cluster(seed)
		snap, pending, err := frameworktest.Snapshot(objects)
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range pending {
			if pod.Pod.Spec.NodeName != "" {
				continue // NodeName says the same in PreFilter, in other words
			}
			x, y := a.Explain(snap, pod), b.Explain(snap, pod)
			if diff := cmp.Diff(x, y); diff != "" {
				t.Fatalf("cluster %d, pod %s (-preset +file):\n%s", seed, pod.Pod.Key(), diff)
			}
			_, _ = a.Place(snap, pod) // if it fits nowhere, the explanation says so
			b.Seek(a.Position())
		}
	}
}

// TestBuildSettings checks the settings of built profiles.
func TestBuildSettings(t *testing.T) {
	built := build(t, head+`
parallelism: 3
percentageOfNodesToScore: 40
profiles:
- schedulerName: a
- schedulerName: b
  percentageOfNodesToScore: 0
- schedulerName: c
  percentageOfNodesToScore: 100
`, config.LoadConfig{})
	type settings struct {
		name                    string
		percentage, parallelism int
	}
	var got []settings
	for _, p := range built.Profiles {
		got = append(got, settings{p.Name, p.Percentage, p.Parallelism})
	}
	want := []settings{{"a", 40, 3}, {"b", scheduling.Adaptive, 3}, {"c", 100, 3}}
	if !slices.Equal(got, want) {
		t.Errorf("settings = %v, want %v", got, want)
	}
}

// shared is a plugin for many points; it counts its constructions.
type shared struct {
	reserver
	made int
}

func (*shared) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}
func (*shared) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 1 }

// TestBuildOncePerProfile checks that a plugin is one value within a profile, and
// another one in the next.
func TestBuildOncePerProfile(t *testing.T) {
	made := 0
	r := scheduling.Kubernetes137Registry()
	err := r.Register("Shared", scheduling.RegisterTyped(func(*struct{}, framework.Handle) (*shared, error) {
		made++
		return &shared{reserver{called("Shared")}, made}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	profile := "plugins: {multiPoint: {enabled: [{name: Shared, weight: 5}]}}"
	built := build(t, head+"profiles: [{schedulerName: a, "+profile+"}, {schedulerName: b, "+profile+"}, {schedulerName: c}]", config.LoadConfig{Registry: r})
	for i, p := range built.Profiles[:2] {
		filter := p.Filter[len(p.Filter)-1]
		score := p.Score[len(p.Score)-1]
		reserve := p.Reserve[len(p.Reserve)-1]
		if filter != score.Plugin || filter != reserve || filter.(*shared).made != i+1 || score.Weight != 5 {
			t.Errorf("profile %d: filter %v, score %v, reserve %v, want one plugin, the one made as number %d, with weight 5", i, filter, score, reserve, i+1)
		}
	}
	if made != 2 {
		t.Errorf("made %d plugins, want 2", made)
	}
}

// handle is identified by its seed.
type handle struct{ framework.Handle }

func (handle) Seed() uint64 { return 42 }

func TestBuildHandsOverHandle(t *testing.T) {
	var got uint64
	r := scheduling.Kubernetes137Registry()
	err := r.Register("Curious", scheduling.RegisterTyped(func(_ *struct{}, h framework.Handle) (scorer, error) {
		got = h.Seed()
		return scorer{called("Curious")}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Load([]byte(head+"profiles: [{plugins: {score: {enabled: [{name: Curious}]}}}]"), config.LoadConfig{Registry: r})
	if err != nil {
		t.Fatal(err)
	}
	built, err := c.Build(config.BuildConfig{Handle: handle{}})
	if err != nil || got != 42 {
		t.Fatalf("Build: %v; the factory saw seed %d, want 42", err, got)
	}
	// With a handle DefaultBinder can bind; without one the driver does.
	if list := built.Profiles[0].Bind; len(list) != 1 || list[0].Name() != "DefaultBinder" {
		t.Errorf("Bind = %v, want DefaultBinder", list)
	}
}

// TestBuildExtenders checks the extenders built from the section extenders.
func TestBuildExtenders(t *testing.T) {
	var asked []string
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked = append(asked, r.URL.Path)
		if strings.HasSuffix(r.URL.Path, "score") {
			_, err = io.WriteString(w, `[{"Host": "b", "Score": 10}]`)
		} else if !strings.Contains(string(body), `"NodeNames":["a","b"]`) {
			t.Errorf("%s was asked %s", r.URL.Path, body)
		} else {
			_, err = io.WriteString(w, `{"NodeNames": ["a", "b"]}`)
		}
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	file := head + `
extenders:
- {urlPrefix: SERVER/soft, filterVerb: keep, ignorable: true, nodeCacheCapable: true, enableHTTPS: true}
- {urlPrefix: SERVER/hard/, filterVerb: keep, prioritizeVerb: score, weight: 5, nodeCacheCapable: true, enableHTTPS: true, tlsConfig: {caFile: ca.pem}}
- {urlPrefix: SERVER/gpu, filterVerb: keep, enableHTTPS: true, managedResources: [{name: example.com/gpu, ignoredByScheduler: true}]}
`
	file = strings.ReplaceAll(file, "SERVER", server.URL)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	o := config.LoadConfig{ReadFile: func(name string) ([]byte, error) {
		if name != "ca.pem" {
			return nil, fs.ErrNotExist
		}
		return ca, nil
	}}
	built := build(t, file, o)
	s, err := scheduling.New(built.Profiles[0])
	if err != nil {
		t.Fatal(err)
	}
	snap := framework.NewSnapshot(framework.Arrival)
	for _, name := range []string{"a", "b"} {
		if err := snap.AddNode(api.MakeNode(name, "4", "16Gi").Obj()); err != nil {
			t.Fatal(err)
		}
	}
	pod, err := snap.NewPodInfo(api.MakePod("web").Obj())
	if err != nil {
		t.Fatal(err)
	}
	if d, err := s.Place(snap, pod); err != nil || d.Node != "b" {
		t.Errorf("placed on %q: %v, want b", d.Node, err)
	}
	if want := []string{"/hard/keep", "/soft/keep", "/hard/score"}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v: ignorable ones last, one not interested", asked, want)
	}
	fit := scheduling.PluginFor(built.Profiles[0].Filter[5], func(framework.Plugin) bool { return true })
	if f, ok := fit.(filter.NodeResourcesFit); !ok || !slices.Equal(f.IgnoredResources, []resource.Name{"example.com/gpu"}) {
		t.Errorf("%+v does not ignore what the extender manages", fit)
	}

	// A certificate that Load could not read yet fails now.
	o.ReadFile = nil
	c, err := config.Load([]byte(file), o)
	if err != nil {
		t.Fatal(err)
	}
	want := "couldn't build extenders: " + server.URL + "/hard/: ca.pem: certificate file not read"
	if _, err := c.Build(config.BuildConfig{}); err == nil || err.Error() != want || !errors.Is(err, config.ErrUnreadFile) {
		t.Errorf("Build: %v, want %s", err, want)
	}
	if _, err := c.Build(config.BuildConfig{Extender: func(e *extender.Config) { e.HTTP = server.Client() }}); err != nil {
		t.Errorf("Build with a client that is given: %v", err)
	}
}

// TestBuildPrepares checks which PreFilter and PreScore plugins a profile gets.
func TestBuildPrepares(t *testing.T) {
	names := func(list []framework.Plugin) string {
		if list == nil {
			return "nil"
		}
		var out []string
		for _, p := range list {
			out = append(out, p.Name())
		}
		return strings.Join(out, " ")
	}
	tests := []struct {
		name, plugins       string
		preFilter, preScore string
	}{
		{"default", "", "nil", "nil"},
		{
			"without preFilter, what cannot do without is prepared all the same",
			"{multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, {name: NodePorts}, {name: DefaultBinder}]}, preFilter: {disabled: [{name: '*'}]}}",
			"NodeResourcesFit", "nil",
		},
		{
			"another order at preFilter",
			"{multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, {name: NodePorts}, {name: DefaultBinder}]}, preFilter: {enabled: [{name: NodePorts}]}}",
			"NodePorts NodeResourcesFit", "nil",
		},
		{
			"prepared for nothing",
			"{multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: NodeResourcesFit}, {name: NodePorts}, {name: DefaultBinder}]}, filter: {disabled: [{name: NodePorts}]}, score: {disabled: [{name: '*'}]}}",
			"NodeResourcesFit NodePorts", "NodeResourcesFit",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := head
			if tt.plugins != "" {
				file += "profiles: [{plugins: " + tt.plugins + "}]"
			}
			p := build(t, file, config.LoadConfig{}).Profiles[0]
			if got := names(p.PreFilter); got != tt.preFilter {
				t.Errorf("PreFilter = %s, want %s", got, tt.preFilter)
			}
			if got := names(p.PreScore); got != tt.preScore {
				t.Errorf("PreScore = %s, want %s", got, tt.preScore)
			}
			if _, err := scheduling.New(p); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBuildErrors(t *testing.T) {
	broken := errors.New("broken")
	r := scheduling.Kubernetes137Registry()
	for name, reg := range map[string]scheduling.Registration{
		"Bad": scheduling.RegisterTyped(func(*struct{}, framework.Handle) (scorer, error) { return scorer{}, broken }),
		"Fickle": {Like: scorer{"Fickle"}, New: func(any, framework.Handle) (framework.Plugin, error) {
			return filterer{called("Fickle")}, nil
		}},
		"Plain": scheduling.RegisterValue(scorer{"Plain"}),
	} {
		if err := r.Register(name, reg); err != nil {
			t.Fatal(err)
		}
	}
	const prefix = "initializing profiles: creating profile for scheduler name default-scheduler: "
	tests := []struct {
		name, plugin string
		class        config.Class
		want         string // its beginning
	}{
		{"a factory that fails", "Bad", config.InitPlugin, `initializing plugin "Bad": broken`},
		{"unlike what was promised", "Fickle", config.NotExtending, `plugin "Fickle" does not extend ScorePlugin plugin, though it is registered like one that does`},
		{"known by its points only", "Stub", config.UnknownPlugin, `plugin "Stub" does not exist; known plugins: Bad, DefaultBinder, DefaultPreemption, DynamicResources, Fickle, `},
		{"in-tree, not here, not by default", "DeferredPodScheduling", config.UnknownPlugin, `plugin "DeferredPodScheduling" does not exist; known plugins: Bad, `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			point := "score"
			if tt.plugin == "DeferredPodScheduling" {
				point = "filter"
			}
			c, err := config.Load([]byte(head+"profiles: [{plugins: {"+point+": {enabled: [{name: "+tt.plugin+"}]}}}]"),
				config.LoadConfig{Registry: r, Plugins: plugins("Stub:score")})
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Build(config.BuildConfig{})
			var e *config.Error
			if !errors.As(err, &e) || len(e.Problems) != 1 {
				t.Fatalf("Build: %v, want one problem", err)
			}
			if p := e.Problems[0]; e.Stage != config.StageBuild || p.Class != tt.class || p.Plugin != tt.plugin || !strings.HasPrefix(p.Text, prefix+tt.want) {
				t.Errorf("got %s %s: %s\nwant %s: %s", p.Class, p.Plugin, p.Text, tt.class, prefix+tt.want)
			}
			if tt.plugin == "Bad" && !errors.Is(err, broken) {
				t.Errorf("%v does not lead to what the factory returned", err)
			}
		})
	}
	_, err := config.Load([]byte(head+"profiles: [{plugins: {score: {enabled: [{name: Nope}]}}}]"), config.LoadConfig{Registry: r})
	if err == nil || !strings.Contains(err.Error(), `ScorePlugin "Nope" does not exist; known plugins: Bad, DefaultBinder, DefaultPreemption, `) {
		t.Errorf("a plugin that nobody knows: %v", err)
	}
	if _, err := config.Load([]byte(head+"profiles: [{pluginConfig: [{name: Plain, args: {a: 1}}], plugins: {score: {enabled: [{name: Plain}]}}}]"), config.LoadConfig{Registry: r}); err != nil {
		t.Errorf("arguments are looked at by the factory only: %v", err)
	}
}

// TestGoldenFilesBuild builds every recorded file that kube-scheduler accepted, with
// stand-ins for plugins that are not in-tree. Listed differences: negative weights
// are rejected when a scheduler is made, and plugins whose own name differs from
// their registered name cannot be built.
func TestGoldenFilesBuild(t *testing.T) {
	files, err := filepath.Glob("testdata/kube-scheduler-config/*.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		for _, c := range readGolden(t, file) {
			misnamed := false
			for _, special := range c.OutOfTreeSpecial {
				misnamed = misnamed || special.ReportedName != ""
			}
			if !c.OK || misnamed {
				continue
			}
			o := c.options()
			o.Registry = scheduling.Kubernetes137Registry()
			register(t, o.Registry, o.Plugins)
			loaded, err := config.Load([]byte(c.YAML), o)
			if err != nil {
				t.Fatal(err)
			}
			built, err := loaded.Build(config.BuildConfig{})
			if err != nil {
				if !notHere(err) {
					t.Errorf("%s: %v", c.ID, err)
				}
				continue
			}
			n++
			for _, p := range built.Profiles {
				if _, err := scheduling.New(p); err != nil && !strings.HasSuffix(err.Error(), ": must not be negative") {
					t.Errorf("%s: %v", c.ID, err)
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("built %d files, want more", n)
	}
}

// notHere reports whether the only missing plugins are ones that this module does
// not have.
func notHere(err error) bool {
	var e *config.Error
	if !errors.As(err, &e) {
		return false
	}
	return !slices.ContainsFunc(e.Problems, func(p config.Problem) bool {
		return p.Class != config.UnknownPlugin ||
			!slices.Contains([]string{"GangScheduling", "DeferredPodScheduling"}, p.Plugin)
	})
}
