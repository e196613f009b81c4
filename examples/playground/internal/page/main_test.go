//go:build full

package page

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/effort"
)

func TestMain(m *testing.M) {
	effort.Rapid()
	m.Run()
}
