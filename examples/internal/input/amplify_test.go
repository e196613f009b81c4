//go:build full

package input

import (
	"bytes"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/amplify"
)

// TestDecodeAmplifies measures the memory for hostile files: tables, and objects as JSON
// and YAML. A row of a table may be short, and becomes a whole node.
func TestDecodeAmplifies(t *testing.T) {
	const nodes, pods = "sn,cpu_milli,memory_mib,gpu,model\n", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
	amplify.Run(t, amplify.Decoder{
		Name: "input", Base: 8 << 20, Most: 500, Held: 200, Decode: func(text []byte) { _ = new(source).decode(new(api.Objects), bytes.NewReader(text)) },
		Texts: append(amplify.JSON("%s", "a: %s", `{"kind":"Pod","metadata":{"name":"p"},"spec":{"containers":%s}}`),
			amplify.Repeat("nodes", nodes, "n,1,1,0,m\n", ""),
			amplify.Repeat("pods", pods, "p,1,1,0,0\n", ""),
			amplify.Repeat("GPU pods", pods, "p,1,1,1,1\n", ""),
			amplify.Repeat("commas", pods, ",", ""),
			amplify.Repeat("empty rows", pods, ",,,,\n", ""),
			amplify.Repeat("line ends", pods, "\n", ""),
			amplify.Repeat("quotes", pods, `"`, ""),
			amplify.Repeat("quoted quotes", pods+`"`, `""`, `"`),
			amplify.Repeat("columns", "name,", "a,", "cpu_milli\n"),
		),
	})
}

// TestDoubtsAmplify measures the memory to find the lines of doubts. A text may have a doubt
// for every few bytes. What reads the text for each of them takes far more.
func TestDoubtsAmplify(t *testing.T) {
	amplify.Run(t, amplify.Decoder{
		Name: "doubts", Base: 8 << 20, Most: 1200, Decode: func(text []byte) {
			var c Cluster
			if err := c.Read("f", bytes.NewReader(text)); err != nil {
				t.Fatal(err)
			}
			if list, _ := c.Doubts(20); len(list) != 20 {
				t.Fatalf("%d doubts, want 20", len(list))
			}
		},
		Texts: []amplify.Shape{
			amplify.Repeat("pods", "", "---\nkind: Pod\nmetadata: {name: p}\nspec: {restartPolicy: X}\n", ""),
			amplify.Repeat("pods in JSON", "", "{\"kind\": \"Pod\", \"metadata\": {\"name\": \"p\"}, \"spec\": {\"restartPolicy\": \"X\"}}\n", ""),
			amplify.Repeat("volumes", "kind: Pod\nmetadata: {name: p}\nspec:\n  volumes:\n", "  - image: {pullPolicy: X}\n", ""),
		},
	})
}
