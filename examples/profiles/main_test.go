//go:build full

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

func TestOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.json")
	text := `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [
		{"plugins": {"multiPoint": {"enabled": [{"name": "Mine", "weight": 3}]}}, "pluginConfig": [{"name": "Mine", "args": {"b": 1, "a": "<"}}, {"name": "Other"}]}]}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		golden string
		args   []string
	}{
		{"sample.txt", nil},
		{"sample.json", []string{"-o", "json"}},
		{"mine.txt", []string{"-config", file, "-plugin", "Mine=filter,score"}},
		{"mine-1.18.json", []string{"-config", file, "-plugin", "Mine=filter,score", "-release", "1.18", "-o", "json"}},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		if err := run(tt.args, &out, os.Stderr); err != nil {
			t.Errorf("%s: %v", tt.golden, err)
			continue
		}
		golden := filepath.Join("testdata", tt.golden)
		if *update {
			if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.golden, diff)
		}
		if strings.HasSuffix(tt.golden, ".json") && !json.Valid(out.Bytes()) {
			t.Errorf("%s is no JSON", tt.golden)
		}
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		args []string
		want string
	}{
		{
			[]string{"-config", write("two", "parallelism: -1\nprofiles: [{percentageOfNodesToScore: 101}]\n")},
			"line 3: parallelism: Invalid value: -1: should be an integer value greater than zero\n" +
				"line 4: profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]",
		},
		{[]string{"-config", filepath.Join(dir, "none")}, "open " + filepath.Join(dir, "none") + ": no such file or directory"},
		{[]string{"-o", "xml"}, `-o: got "xml", want table or json`},
		{[]string{"-release", "2"}, `-release: got "2", want 1.18, 1.34 or 1.37`},
		{[]string{"x"}, `unexpected argument "x"`},
	}
	for _, tt := range tests {
		if err := run(tt.args, new(bytes.Buffer), new(bytes.Buffer)); err == nil || err.Error() != tt.want {
			t.Errorf("%v: %v, want %s", tt.args, err, tt.want)
		}
	}
	for _, plugin := range []string{"Mine", "=score", "Mine=scores", "Mine=", "Mine=,", "NodeResourcesFit=score", "LoadAwareScheduling=score"} {
		if err := run([]string{"-plugin", plugin}, new(bytes.Buffer), new(bytes.Buffer)); err == nil {
			t.Errorf("-plugin %s is accepted", plugin)
		}
	}
}

// TestLoadAware checks that the plugin that the simulation knows is known here too.
func TestLoadAware(t *testing.T) {
	file := filepath.Join(t.TempDir(), "load.yaml")
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{plugins: {score: {enabled: [{name: LoadAwareScheduling, weight: 7}]}}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, release := range []string{"1.18", "1.34", "1.37"} {
		var out bytes.Buffer
		if err := run([]string{"-config", file, "-release", release}, &out, os.Stderr); err != nil {
			t.Errorf("-release %s: %v", release, err)
		}
		if !strings.Contains(out.String(), "LoadAwareScheduling (7)") {
			t.Errorf("-release %s: no LoadAwareScheduling in\n%s", release, out.String())
		}
	}
}
