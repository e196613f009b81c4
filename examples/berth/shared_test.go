//go:build full

package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxPage bounds the page of an answer, in bytes.
const maxPage = 2_000_000

// TestShared asks every question about data of others, which are not part of this module.
// BERTH_DATA names their folder; by default they lie beside the checkout. The expected
// output is in testdata/shared.
func TestShared(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes under the race detector; other tests run the same commands on less")
	}
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
	dir := t.TempDir()
	trace := func(dump string) string { return filepath.Join(dir, dump+".jsonl") }
	config := func(name string) []string {
		return []string{"config", filepath.Join(data, filepath.FromSlash(name))}
	}
	dumps := map[string][]string{"openb": openb, "honeycomb": honeycomb, "boutique": boutique, "kwok": kwok}
	tests := []struct {
		dump, name string // the name is added to that of the question
		status     int
		args       []string
	}{
		{"openb", "", 1, []string{"place"}},
		{"openb", "", 0, []string{"explain", "openb-pod-0003"}},
		{"openb", "", 1, []string{"why-not", "openb-pod-0003", "openb-node-0000"}},
		{"openb", "", 0, []string{"headroom", "openb-pod-0017"}},
		{"openb", "", 0, []string{"drain", "openb-node-0007"}},
		{"openb", "", 0, []string{"nodes-needed", "-like", "openb-node-0007", "openb-pod-0003", "-replicas", "3000"}},
		{"openb", "", 0, []string{"consolidate"}},
		{"openb", "", 1, []string{"compare", "-with", "1.18"}},
		{"openb", "", 1, []string{"sweep", "-weight", "NodeResourcesFit=0..3", "-weight", "NodeResourcesBalancedAllocation=0,1,5"}},
		{"openb", "", 0, []string{"simulate", "-clock", "-record", trace("openb")}},
		{"openb", "-still", 1, []string{"simulate"}},
		{"openb", "", 0, []string{"replay", trace("openb")}},
		{"openb", "-1.18", 1, []string{"replay", trace("openb"), "-profile", "1.18"}},
		{"openb", "", 2, config("openb/openb_pod_list_default.csv")},

		{"honeycomb", "", 0, []string{"place"}},
		{"honeycomb", "", 1, []string{"explain", "metallb-system/speaker-cpxhz"}},
		{"honeycomb", "", 1, []string{"why-not", "metallb-system/speaker-cpxhz", "duckboat-01"}},
		{"honeycomb", "", 1, []string{"headroom", "-requests", "cpu=500m,memory=1Gi"}},
		{"honeycomb", "", 1, []string{"drain", "duckboat-01"}},
		{"honeycomb", "", 1, []string{"nodes-needed", "-like", "duckboat-01", "-requests", "cpu=500m,memory=1Gi", "-replicas", "20"}},
		{"honeycomb", "", 0, []string{"consolidate"}},
		{"honeycomb", "", 0, []string{"compare", "-with", "1.18"}},
		{"honeycomb", "", 0, []string{"sweep", "-weight", "ImageLocality=0..3", "-requests", "cpu=1", "-replicas", "9"}},
		{"honeycomb", "", 0, []string{"simulate", "-record", trace("honeycomb")}},
		{"honeycomb", "", 2, []string{"replay", trace("honeycomb")}},
		{"honeycomb", "", 2, config("manifests/honeycomb_nodes.json")},

		{"boutique", "", 0, []string{"place"}},
		{"boutique", "", 0, []string{"explain", "deployment/frontend"}},
		{"boutique", "", 1, []string{"why-not", "deployment/frontend", "openb-node-0007"}},
		{"boutique", "", 0, []string{"headroom", "deployment/frontend"}},
		{"boutique", "", 0, []string{"drain", "openb-node-0007"}},
		{"boutique", "", 0, []string{"nodes-needed", "-like", "openb-node-0007", "deployment/frontend", "-replicas", "300"}},
		{"boutique", "", 0, []string{"consolidate"}},
		{"boutique", "", 1, []string{"compare", "-with", "1.34"}},
		{"boutique", "", 1, []string{"sweep", "-weight", "NodeResourcesFit=0..3"}},
		{"boutique", "", 0, []string{"simulate", "-record", trace("boutique")}},
		{"boutique", "", 0, []string{"replay", trace("boutique")}},
		{"boutique", "", 2, config("manifests/online-boutique.yaml")},

		{"kwok", "", 1, []string{"place"}},
		{"kwok", "", 1, []string{"explain", "deployment/frontend"}},
		{"kwok", "", 1, []string{"why-not", "deployment/frontend", "virtual-gpu-node"}},
		{"kwok", "", 1, []string{"headroom", "-requests", "cpu=1"}},
		{"kwok", "", 0, []string{"drain", "virtual-gpu-node"}},
		{"kwok", "", 1, []string{"nodes-needed", "-like", "virtual-gpu-node"}},
		{"kwok", "", 0, []string{"consolidate"}},
		{"kwok", "", 0, []string{"compare", "-with", "1.34"}},
		{"kwok", "", 0, []string{"sweep", "-weight", "NodeResourcesFit=0..3"}},
		{"kwok", "", 1, []string{"simulate", "-record", trace("kwok")}},
		{"kwok", "", 0, []string{"replay", trace("kwok")}},
		{"kwok", "", 2, config("manifests/kwok_virtual-gpu-node.yaml")},
	}
	asked := map[string]bool{}
	for _, test := range tests {
		name := test.dump + "-" + test.args[0] + test.name
		asked[test.dump+" "+test.args[0]] = true
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name == "boutique-headroom" {
				t.Skip("places 1,000,000 pods")
			}
			args := append(test.args, "-q", "-limit", "5")
			if find(test.args[0]).input == readsCluster {
				args = append(args, dumps[test.dump]...)
			}
			status, stdout, stderr := berth(args...)
			if status != test.status || (stderr == "") != (status != statusUnknown) {
				t.Errorf("status %d, standard error %q; want %d", status, stderr, test.status)
			}
			golden(t, "shared/"+name+".txt", strings.NewReplacer(data+string(filepath.Separator), "", dir+string(filepath.Separator), "").Replace(stdout+stderr))
			if status == statusUnknown {
				return
			}
			status, page, _ := berth(append(args, "-o", "html")...)
			if status != test.status || len(page) > maxPage {
				t.Errorf("the page: status %d, %d bytes; want %d and at most %d", status, len(page), test.status, maxPage)
			}
			checkHTML(t, page)
		})
	}
	for dump := range dumps {
		for _, c := range commands() {
			if !asked[dump+" "+c.name] {
				t.Errorf("%s is not asked about %s", c.name, dump)
			}
		}
	}
	// A file that is no dump: the steps of a simulated pod.
	status, _, stderr := berth(append([]string{"place"}, file("manifests/kwok_pod-create-with-init.output.yaml")...)...)
	if want := "init.output.yaml:1: pod (document 1): metadata.name: is missing\n"; status != 2 || !strings.HasSuffix(stderr, want) {
		t.Errorf("status %d, standard error %q; want 2 and %q", status, stderr, want)
	}
}
