//go:build full

package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/scheduling"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func output(t *testing.T, args ...string) string {
	t.Helper()
	var out, stderr strings.Builder
	if err := run(args, &out, &stderr); err != nil {
		t.Fatalf("explain %v: %v", args, err)
	}
	return out.String()
}

// TestOutput compares the output with files in testdata.
func TestOutput(t *testing.T) {
	tests := []struct {
		file string
		args []string
	}{
		{"both.txt", nil},
		{"nowhere.json", []string{"-pod", "shop/index", "-o", "json"}},
		{"running.txt", []string{"-pod", "shop/cache"}},
		{"kubectl.txt", []string{
			"-nodes", "../../framework/api/testdata/nodes.json", "-pods", "../../framework/api/testdata/pods.json", "-pod", "metallb-system/speaker-cpxhz",
		}},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			got := output(t, test.args...)
			name := filepath.Join("testdata", test.file)
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("output differs from %s (-want +got); -update accepts it:\n%s", name, diff)
			}
		})
	}
}

// TestJSON checks that the output is a sequence of explanations.
func TestJSON(t *testing.T) {
	d := json.NewDecoder(strings.NewReader(output(t, "-o", "json")))
	var chosen []string
	for d.More() {
		var e scheduling.Explanation
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		chosen = append(chosen, e.Pod+" on "+e.Chosen)
	}
	if diff := cmp.Diff([]string{"shop/api on large-a", "shop/index on "}, chosen); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"-pod", "api"}, `-pod: "default/api": no such pod waits or runs`},
		{[]string{"-nodes", "cluster.yaml"}, "-pod: name the pod to explain"},
		{[]string{"-nodes", "none.json", "-pod", "p"}, "none.json"},
		{[]string{"-o", "xml"}, `-o: "xml": want table or json`},
	}
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			var out, stderr strings.Builder
			if err := run(test.args, &out, &stderr); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}
