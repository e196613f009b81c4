//go:build full

package page

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/amplify"
)

// TestReadAmplifies measures the memory to read texts with many problems and doubts. The page
// shows a few of them with their lines. What reads a text for each takes far more.
func TestReadAmplifies(t *testing.T) {
	const node = "kind: Node\nmetadata: {name: one}\n"
	amplify.Run(t, amplify.Decoder{
		Name: "page", Base: 8 << 20, Most: 1000, Decode: func(text []byte) {
			c, problems := read(&State{Preset: "1.37", Texts: Texts{Nodes: node, Pods: string(text)}})
			if found := len(problems); found != maxProblems && (c == nil || len(c.warnings) != maxProblems+1) {
				t.Fatalf("%d problems %v, want %d, or as many warnings and their number", found, problems, maxProblems)
			}
		},
		Texts: []amplify.Shape{
			amplify.Numbered("doubts", "", "\n---\nkind: Pod\nmetadata: {name: p%d}\nspec: {restartPolicy: X}\n#", ""),
			amplify.Numbered("problems", "", "\n---\nkind: Pod\nmetadata: {name: p%d}\nspec: {tolerations: [{operator: X}]}\n#", ""),
		},
	})
}
