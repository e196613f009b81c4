package browser

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The bounds of a page of berth about 5,000 nodes: its size, and the time until it is there,
// many times the part of a second that it takes where nothing else runs.
const (
	maxReport = 2_000_000 // bytes
	maxOpen   = 20_000.0  // ms
)

// TestReport opens pages of the command berth about 5,000 nodes. Each must be small, fetch
// nothing, and have nothing cut off.
func TestReport(t *testing.T) {
	dir := t.TempDir()
	berth := filepath.Join(dir, "berth")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", berth, "./examples/berth")
	cmd.Dir = filepath.Join("..", "..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	dump := filepath.Join(dir, "dump.json")
	if err := os.WriteFile(dump, dumpOf(5000), 0o600); err != nil {
		t.Fatal(err)
	}
	day := filepath.Join(dir, "day.jsonl")
	cluster := filepath.Join("..", "..", "..", "examples", "berth", "testdata", "cluster.yaml")
	type question struct {
		name string
		args []string
	}
	questions := []question{
		{"place", []string{"place"}},
		{"explain", []string{"explain", "shop/wait-3"}},
		{"why-not", []string{"why-not", "shop/wait-3", "node-7"}},
		{"compare", []string{"compare", "-with", "1.18"}},
		{"sweep", []string{"sweep", "-weight", "NodeResourcesFit=0..2"}},
		{"drain", []string{"drain", "node-7", "node-8"}},
		{"headroom", []string{"headroom", "-requests", "cpu=1,memory=1Gi"}},
		{"consolidate", []string{"consolidate"}},
		{"needed", []string{"nodes-needed", "-like", "node-3"}},
		{"simulate", []string{"simulate", "-record", day}},
		{"replay", []string{"replay", day}},
		{"replay-others", []string{"replay", day, "-profile", "1.18"}},
		{"small-drain", []string{"drain", "-f", cluster, "worker-1", "worker-2"}},
		{"small-consolidate", []string{"consolidate", "-f", cluster}},
		{"small-place", []string{"place", "-f", cluster}},
		{"small-simulate", []string{"simulate", "-f", cluster, "-controllers", "-until", "1h"}},
		{"small-sweep", []string{"sweep", "-f", cluster, "-weight", "NodeResourcesFit=0..2", "-weight", "NodeResourcesBalancedAllocation=1,5"}},
		{"small-why-not", []string{"why-not", "-f", cluster, "ml/train-0", "worker-1"}},
		{"small-config", []string{"config", filepath.Join(filepath.Dir(cluster), "scheduler.yaml")}},
	}
	for _, q := range questions {
		name, args := q.name+".html", q.args
		if !slices.Contains(args, "-f") && args[0] != "replay" && args[0] != "config" {
			args = append(args, "-f", dump)
		}
		out, err := exec.Command(berth, append(args, "-q", "-o", "html")...).Output()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
			t.Fatalf("%s: %v", name, err)
		}
		if len(out) > maxReport {
			t.Errorf("%s has %d bytes, more than %d", name, len(out), maxReport)
		}
		if err := os.WriteFile(filepath.Join(dir, name), out, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	for _, width := range []int64{400, 1280} {
		for _, dark := range []bool{false, true} {
			b := newTab(t, width, 900, dark)
			b.url = server.URL + "/"
			for _, q := range questions {
				name := q.name + ".html"
				b.report(name)
				if bare := eval[[]string](b, withoutTable); len(bare) > 0 {
					t.Errorf("%s: no table with the numbers of %q", name, bare)
				}
				if got := eval[int](b, "document.documentElement.scrollWidth"); got > int(width) {
					t.Errorf("%s is %d wide, the window %d", name, got, width)
				}
				if twice := eval[[]string](b, `[...document.querySelectorAll("[id]")].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)`); len(twice) > 0 {
					t.Errorf("%s has the ids %q twice", name, twice)
				}
				if hidden := eval[[]string](b, cutOff); len(hidden) > 0 {
					t.Errorf("%s at %d: cut off %q", name, width, hidden)
				}
				for _, pair := range eval[[]string](b, faint) {
					t.Errorf("%s: too little contrast: %s", name, pair)
				}
				b.shot(fmt.Sprintf("%s-%d-%v.png", strings.TrimSuffix(name, ".html"), width, dark))
			}
		}
	}
}

// cutOff lists texts that are wider than what they are in, and not scrolled.
const cutOff = `[...document.querySelectorAll("h1, h2, h3, p, dd, dt, .key span, .bl, .bb, .bb em, .tiles div, .tiles b, .tiles span, .lines span")]
	.filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && !e.closest(".scroll"))
	.map(e => e.className + " " + e.textContent.slice(0, 60)).slice(0, 5)`

// withoutTable lists sections that have a picture and no rows of a table.
const withoutTable = `[...document.querySelectorAll("section")]
	.filter(s => s.querySelector("figure") && !s.querySelector("table tbody tr"))
	.map(s => s.querySelector("h2").textContent)`

// report opens a page and measures from the request to the first frame with all of it.
func (b *tab) report(name string) {
	b.t.Helper()
	var times []float64
	for range 5 {
		b.mu.Lock()
		b.requests = nil
		b.mu.Unlock()
		b.run(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+name))
		times = append(times, eval[float64](b, `new Promise(r => requestAnimationFrame(() => setTimeout(() => r(Math.max(
			performance.getEntriesByType("navigation")[0].loadEventEnd, ...performance.getEntriesByType("paint").map(p => p.startTime))))))`))
		if slices.Min(times) < maxOpen {
			break
		}
	}
	best := slices.Min(times)
	b.t.Logf("%s: %.0f ms", name, best)
	if best >= maxOpen || best <= 0 {
		b.t.Errorf("%s opens in %.0f ms at best of %d tries, want less than %.0f", name, best, len(times), maxOpen)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		if url != b.url+name && url != "about:blank" && url != b.url+"favicon.ico" {
			b.t.Errorf("%s asks for %s", name, url)
		}
	}
}

// dumpOf makes a cluster of so many nodes in three zones, with two pods on each, and as many
// pods that wait.
func dumpOf(nodes int) []byte {
	type object = map[string]any
	requests := func(cpu, memory string) object {
		return object{"containers": []object{{"name": "c", "resources": object{"requests": object{"cpu": cpu, "memory": memory}}}}}
	}
	var items []object
	for i := range nodes {
		name := fmt.Sprintf("node-%d", i)
		items = append(items, object{
			"kind": "Node", "apiVersion": "v1",
			"metadata": object{"name": name, "labels": object{"topology.kubernetes.io/zone": fmt.Sprintf("zone-%d", i%3), "kubernetes.io/hostname": name}},
			"status":   object{"allocatable": object{"cpu": "8", "memory": fmt.Sprintf("%dGi", 16+16*(i%4)), "pods": "110"}},
		})
		for k := range 2 {
			spec := requests(fmt.Sprintf("%dm", 500+250*(i%13)), fmt.Sprintf("%dMi", 512+256*(i%9)))
			spec["nodeName"] = name
			items = append(items, object{"kind": "Pod", "apiVersion": "v1", "metadata": object{"name": fmt.Sprintf("run-%d-%d", i, k), "namespace": "shop"}, "spec": spec})
		}
		items = append(items, object{
			"kind": "Pod", "apiVersion": "v1", "metadata": object{"name": fmt.Sprintf("wait-%d", i), "namespace": "shop"},
			"spec": requests(fmt.Sprintf("%dm", 250*(1+i%40)), fmt.Sprintf("%dMi", 256*(1+i%25))),
		})
	}
	text, err := json.Marshal(object{"kind": "List", "apiVersion": "v1", "items": items})
	if err != nil {
		panic(err) // of maps of texts
	}
	return text
}
