//go:build full

package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShared asks every question about data of others, which are not part of this module.
// BERTH_DATA names their folder; by default they lie beside the checkout. The expected
// output is in testdata/shared.
func TestShared(t *testing.T) {
	data, err := filepath.Abs(cmp.Or(os.Getenv("BERTH_DATA"), filepath.Join("..", "..", "..", "shared", "data")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(data, "openb")); err != nil {
		t.Skip("there are no data; BERTH_DATA names their folder")
	}
	file := func(names ...string) (args []string) {
		for _, n := range names {
			args = append(args, "-f", filepath.Join(data, filepath.FromSlash(n)))
		}
		return args
	}
	openb := file("openb/openb_node_list_gpu_node.csv", "openb/openb_pod_list_default.csv")
	honeycomb := file("manifests/honeycomb_nodes.json", "manifests/honeycomb_pods.json")
	boutique := file("openb/openb_node_list_gpu_node.csv", "manifests/online-boutique.yaml")
	kwok := file("manifests/kwok_virtual-gpu-node.yaml", "manifests/online-boutique.yaml")
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	tests := []struct {
		name   string
		status int
		input  []string
		args   []string
	}{
		{"openb-place", 1, openb, []string{"place"}},
		{"openb-explain", 0, openb, []string{"explain", "openb-pod-0003"}},
		{"openb-why-not", 1, openb, []string{"why-not", "openb-pod-0003", "openb-node-0000"}},
		{"openb-headroom", 0, openb, []string{"headroom", "openb-pod-0017"}},
		{"openb-drain", 0, openb, []string{"drain", "openb-node-0007"}},
		{"openb-nodes-needed", 0, openb, []string{"nodes-needed", "-like", "openb-node-0007", "openb-pod-0003", "-replicas", "3000"}},
		{"openb-consolidate", 0, openb, []string{"consolidate"}},
		{"openb-compare", 1, openb, []string{"compare", "-with", "1.18"}},
		{"openb-sweep", 1, openb, []string{"sweep", "-weight", "NodeResourcesFit=0..3", "-weight", "NodeResourcesBalancedAllocation=0,1,5"}},
		{"openb-simulate", 0, openb, []string{"simulate", "-clock", "-record", trace}},
		{"openb-simulate-still", 1, openb, []string{"simulate"}},
		{"openb-replay", 0, nil, []string{"replay", trace}},
		{"openb-replay-1.18", 1, nil, []string{"replay", trace, "-profile", "1.18"}},

		{"honeycomb-place", 0, honeycomb, []string{"place"}},
		{"honeycomb-explain", 1, honeycomb, []string{"explain", "metallb-system/speaker-cpxhz"}},
		{"honeycomb-why-not", 1, honeycomb, []string{"why-not", "metallb-system/speaker-cpxhz", "duckboat-01"}},
		{"honeycomb-headroom", 1, honeycomb, []string{"headroom", "-requests", "cpu=500m,memory=1Gi"}},
		{"honeycomb-drain", 1, honeycomb, []string{"drain", "duckboat-01"}},
		{"honeycomb-consolidate", 0, honeycomb, []string{"consolidate"}},
		{"boutique-place", 0, boutique, []string{"place"}},
		{"boutique-compare", 1, boutique, []string{"compare", "-with", "1.34"}},
		{"boutique-simulate", 0, boutique, []string{"simulate"}},
		{"boutique-nodes-needed", 0, boutique, []string{"nodes-needed", "-like", "openb-node-0007", "deployment/frontend", "-replicas", "300"}},
		{"kwok-place", 1, kwok, []string{"place"}},
		{"kwok-headroom", 1, kwok, []string{"headroom", "-requests", "cpu=1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			args := append(append(test.args, test.input...), "-q", "-limit", "5")
			status, stdout, stderr := berth(args...)
			if status != test.status || stderr != "" {
				t.Errorf("status %d, standard error %q; want %d and nothing", status, stderr, test.status)
			}
			golden(t, "shared/"+test.name+".txt", strings.ReplaceAll(stdout, data+string(filepath.Separator), ""))
			status, page, _ := berth(append(args, "-o", "html")...)
			if status != test.status || len(page) > 2<<20 {
				t.Errorf("the page: status %d, %d bytes; want %d and at most 2 MB", status, len(page), test.status)
			}
			checkHTML(t, page)
		})
	}
	// A file that is no dump: the steps of a simulated pod.
	status, _, stderr := berth(append([]string{"place"}, file("manifests/kwok_pod-create-with-init.output.yaml")...)...)
	if want := "init.output.yaml:1: pod (document 1): metadata.name: is missing\n"; status != 2 || !strings.HasSuffix(stderr, want) {
		t.Errorf("status %d, standard error %q; want 2 and %q", status, stderr, want)
	}
}
