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
		Name: "input", Base: 8 << 20, Most: 500, Decode: func(text []byte) { _ = new(source).decode(new(api.Objects), bytes.NewReader(text)) },
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
