//go:build full

package work

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/scheduling/config"
)

// anchorsInOneBracket has n anchors that no comma ends, and n aliases of them: it is no YAML, which
// only the library finds.
func anchorsInOneBracket(t *testing.T, n int) {
	text := "x: [" + strings.Repeat("&a ", n) + strings.Repeat("*a ", n) + "]\n"
	if _, err := config.YAMLToJSON([]byte(text)); err == nil && n > 1 {
		t.Error("no error")
	}
}

// aliasesInOpenNodes has n nodes with anchors, each the only value of the one before, and n aliases.
func aliasesInOpenNodes(t *testing.T, n int) {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: &n%d\n- &m%d [1]\n", i, i, i)
	}
	for i := range n {
		fmt.Fprintf(&b, "b%d: [*n%d, *m%d]\n", i, i, i)
	}
	if _, err := config.YAMLToJSON([]byte(b.String())); err != nil {
		t.Error(err)
	}
}
