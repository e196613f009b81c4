package config_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/scheduling/args"
	"github.com/berth-sched/berth/scheduling/config"
)

// A goldenCase is a file and the recorded result of kube-scheduler 1.37.1.
type goldenCase struct {
	ID         string          `json:"id"`
	YAML       string          `json:"yaml"`
	JSON       json.RawMessage `json:"json"`
	OK         bool            `json:"ok"`
	Stage      string          `json:"stage"`
	Class      string          `json:"class"`
	AnyOf      bool            `json:"anyOf"`
	Errors     []string        `json:"errors"`
	FieldError []struct {
		Type, Field, Detail string
	} `json:"fieldErrors"`
	OutOfTree        map[string][]config.Point `json:"outOfTree"`
	OutOfTreeSpecial map[string]struct {
		ReportedName string `json:"reportedName"`
		FactoryError string `json:"factoryError"`
		DecodesArgs  bool   `json:"decodesArgs"`
	} `json:"outOfTreeSpecial"`
	DefaultMultiPoint []config.Plugin `json:"defaultMultiPoint"`
	Profiles          []any           `json:"profiles"`
	Config            map[string]any  `json:"config"`
	ExtenderOrder     []string        `json:"extenderOrder"`
}

// TestGoldenConfig compares with the results recorded in testdata and in the folder
// that BERTH_VECTORS names. Listed differences: see listed.
func TestGoldenConfig(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/kube-scheduler-config/*.jsonl.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded cases: %v", err)
	}
	if dir := os.Getenv("BERTH_VECTORS"); dir != "" {
		more, err := filepath.Glob(filepath.Join(dir, "kube-scheduler-config", "*.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	cases, mismatches := make(map[string]int), make(map[string]int)
	for _, file := range files {
		for _, c := range readGolden(t, file) {
			stage := c.Stage
			if c.OK {
				stage = "ok"
			}
			cases[stage]++
			if diff := c.check(); diff != "" {
				mismatches[stage]++
				t.Errorf("%s %s:\n%s", file, c.ID, diff)
			}
		}
	}
	for _, stage := range []string{"ok", "decode", "validate", "build"} {
		fmt.Printf("golden kube-scheduler-config/%s: %d cases, %d mismatches\n", stage, cases[stage], mismatches[stage])
	}
}

func readGolden(t *testing.T, file string) []*goldenCase {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []*goldenCase
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		c := new(goldenCase)
		if err := json.Unmarshal(lines.Bytes(), c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// options returns the options under which the case was recorded.
func (c *goldenCase) options() config.LoadConfig {
	o := config.LoadConfig{Preset: config.Kubernetes137(), OnlyV1: true, ReadFile: os.ReadFile, Plugins: make(map[string]config.Known)}
	if c.DefaultMultiPoint != nil {
		o.Preset.Default = config.Plugins{MultiPoint: config.PluginSet{Enabled: c.DefaultMultiPoint}}
	}
	for name, points := range c.OutOfTree {
		special := c.OutOfTreeSpecial[name]
		known := config.Known{Points: points, Reports: special.ReportedName}
		switch {
		case special.FactoryError != "":
			known.Check = func(any) error { return errors.New(special.FactoryError) }
		case special.DecodesArgs:
			known.Check = func(decoded any) error {
				raw, _ := decoded.(json.RawMessage)
				var v struct {
					X int `json:"x"`
				}
				if err := json.Unmarshal(raw, &v); err != nil {
					return fmt.Errorf("decoding args: %w", err)
				}
				return nil
			}
		}
		o.Plugins[name] = known
	}
	return o
}

// check returns how the results differ, for the YAML and for the JSON text.
func (c *goldenCase) check() string {
	diff := c.compare([]byte(c.YAML))
	if c.JSON != nil {
		if d := c.compare(c.JSON); d != "" {
			diff += "as JSON: " + d
		}
	}
	return diff
}

func (c *goldenCase) compare(text []byte) string {
	loaded, err := config.Load(text, c.options())
	if err == nil {
		if !c.OK {
			return "loaded, want " + strings.Join(c.Errors, "\n")
		}
		return c.compareLoaded(loaded)
	}
	var e *config.Error
	if !errors.As(err, &e) {
		return fmt.Sprintf("error of type %T", err)
	}
	switch {
	case c.OK:
		return "refused: " + err.Error()
	case c.ID == "d06-internal": // listed: the internal version is not a file version
		if e.Stage != config.StageDecode || e.Problems[0].Class != config.UnknownKind {
			return "want an unknown version, got " + err.Error()
		}
		return ""
	case string(e.Stage) != c.Stage:
		return fmt.Sprintf("refused at %s, want %s: %v", e.Stage, c.Stage, err)
	case e.Stage == config.StageDecode:
		return c.compareDecode(e.Problems)
	case e.Stage == config.StageValidate:
		return c.compareValidate(e.Problems)
	default:
		return c.compareBuild(e.Problems)
	}
}

// compareLoaded compares a configuration, as plain JSON values.
func (c *goldenCase) compareLoaded(loaded *config.Configuration) string {
	var diff string
	if d := cmp.Diff(c.Profiles, profilesOf(loaded)); d != "" {
		diff += "profiles (-want +got):\n" + d
	}
	got := plain(loaded).(map[string]any)
	for _, field := range []string{"kind", "apiVersion", "profiles"} {
		delete(got, field)
	}
	if !reflect.DeepEqual(c.Config, got) { // what is equal need not be compared piece by piece
		diff += "config (-want +got):\n" + cmp.Diff(c.Config, got)
	}
	var order []string
	for _, e := range loaded.OrderedExtenders() {
		order = append(order, e.URLPrefix)
	}
	if d := cmp.Diff(c.ExtenderOrder, order); d != "" {
		diff += "extenderOrder (-want +got):\n" + d
	}
	return diff
}

// profilesOf returns the resolved profiles in the form of the recorded ones.
func profilesOf(loaded *config.Configuration) []any {
	var out []any
	for _, p := range loaded.Effective().Profiles {
		m := plain(p).(map[string]any)
		if _, ok := m["percentageOfNodesToScore"]; !ok {
			m["percentageOfNodesToScore"] = nil
		}
		configs := m["pluginConfig"].([]any)
		for i, pc := range p.PluginConfig {
			configs[i].(map[string]any)["used"] = pc.Used
		}
		out = append(out, m)
	}
	return out
}

// plain returns v as JSON values.
func plain(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return out
}

var (
	listIndex  = regexp.MustCompile(`\[\d+\]`)
	argsPrefix = regexp.MustCompile(`^profiles\[\d+\]\.pluginConfig\[\d+\]\.args`)
)

// withoutIndices drops the list indices of a path, except the index of arguments.
func withoutIndices(path string) string {
	prefix := argsPrefix.FindString(path)
	return prefix + listIndex.ReplaceAllString(path[len(prefix):], "")
}

// compareDecode compares the problems that upstream would report.
func (c *goldenCase) compareDecode(problems []config.Problem) string {
	type key struct{ class, field string }
	var got, want []key
	for _, p := range toldUpstream(problems) {
		k := key{string(p.Class), p.Field}
		switch p.Class {
		case config.DuplicateKey:
			k.field = strings.Split(p.Text, `"`)[1]
		case config.Class(args.WrongType):
			k.field = withoutIndices(k.field)
		case config.Class(args.BadValue), config.UnknownKind:
			k.field = argsPrefix.FindString(k.field) // upstream reports no more
		case config.WrongKind:
			k.field = ""
		}
		got = append(got, k)
	}
	for _, e := range c.FieldError {
		// Go names the embedded struct of a field.
		k := key{e.Type, strings.TrimPrefix(e.Field, "DebuggingConfiguration.")}
		if k.class == string(config.DuplicateKey) {
			k.field = e.Detail
		}
		want = append(want, k)
	}
	for _, list := range [][]key{got, want} {
		slices.SortFunc(list, func(a, b key) int { return strings.Compare(a.class+a.field, b.class+b.field) })
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(key{})); d != "" {
		return "decode (-want +got):\n" + d + fmt.Sprint(problems)
	}
	return ""
}

// toldUpstream returns the problems that upstream's decoder reports: all about
// unknown and duplicate fields and keys if there are no others, else one of the
// others. That is the first one in the file itself, or else in the first arguments
// that have any; a bad duration comes before everything else there.
func toldUpstream(problems []config.Problem) []config.Problem {
	var strict, hard []config.Problem
	for _, p := range problems {
		switch p.Class {
		case config.Class(args.UnknownField), config.Class(args.DuplicateField), config.DuplicateKey:
			strict = append(strict, p)
		case config.WrongKind: // found after the fields of that kind
			if len(strict) > 0 {
				continue
			}
			fallthrough
		default:
			hard = append(hard, p)
		}
	}
	if len(hard) == 0 {
		return strict
	}
	value := argsPrefix.FindString(hard[0].Field)
	for _, p := range hard {
		isDuration := strings.Contains(p.Text, ": time: ") || strings.Contains(p.Text, "want a duration")
		if isDuration && argsPrefix.FindString(p.Field) == value {
			return []config.Problem{p}
		}
	}
	return hard[:1]
}

// compareValidate compares the texts, and types, fields and details.
func (c *goldenCase) compareValidate(problems []config.Problem) string {
	type key struct{ text, class, field, detail string }
	var got, want []key
	for _, p := range problems {
		var e args.FieldError
		errors.As(p, &e)
		got = append(got, key{p.Text, string(p.Class), p.Field, e.Detail})
	}
	for i, e := range c.FieldError {
		want = append(want, key{c.Errors[i], e.Type, e.Field, e.Detail})
	}
	slices.SortFunc(got, func(a, b key) int { return strings.Compare(a.text, b.text) })
	if d := cmp.Diff(want, got, cmp.AllowUnexported(key{})); d != "" {
		return "validate (-want +got):\n" + d
	}
	return ""
}

// compareBuild compares the first problem, at which upstream stops.
func (c *goldenCase) compareBuild(problems []config.Problem) string {
	first := problems[0]
	class := c.Class
	if class == "Panic" { // listed: upstream panics over an unknown plugin
		if first.Class != config.UnknownPlugin {
			return "want an unknown plugin, got " + first.Text
		}
		return ""
	}
	if class != string(first.Class) {
		return fmt.Sprintf("class %s, want %s: %v, want %v", first.Class, class, first, c.Errors)
	}
	for _, want := range c.Errors {
		text := first.Text
		switch first.Class {
		case config.UnknownPlugin: // ours continues with the known ones
			text, _, _ = strings.Cut(text, "; known plugins: ")
		case config.WeightOverflow: // ours continues with the plugin
			text, _, _ = strings.Cut(text, "; plugin ")
		case config.InitPlugin: // constructors have their own words for missing arguments
			if strings.Contains(text, "got args of type <nil>") {
				text, _, _ = strings.Cut(text, `": `)
				want, _, _ = strings.Cut(want, `": `)
			}
			// Go's own texts name the types of the caller.
			text, _, _ = strings.Cut(text, "Go struct field")
			want, _, _ = strings.Cut(want, "Go struct field")
		}
		if text == want {
			return ""
		}
	}
	return fmt.Sprintf("build text:\n got %s\nwant %s", first.Text, strings.Join(c.Errors, "\n  or "))
}

// TestGoldenConfigOlderVersions checks the first listed difference: without OnlyV1
// the recorded files of older versions load or fail for other reasons.
func TestGoldenConfigOlderVersions(t *testing.T) {
	for _, c := range readGolden(t, "testdata/kube-scheduler-config/configs.jsonl.gz") {
		if !bytes.Contains([]byte(c.YAML), []byte("kubescheduler.config.k8s.io/v1beta")) && !strings.Contains(c.YAML, "kubescheduler.config.k8s.io/v1alpha") {
			continue
		}
		o := c.options()
		o.OnlyV1 = false
		_, err := config.Load([]byte(c.YAML), o)
		var e *config.Error
		if errors.As(err, &e) && e.Problems[0].Class == config.UnknownKind && e.Problems[0].Field == "apiVersion" {
			t.Errorf("%s: %v, want the version to be known", c.ID, err)
		}
	}
}
