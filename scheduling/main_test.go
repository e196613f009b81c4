package scheduling_test

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/internal/proof/testheap"
)

func TestMain(m *testing.M) {
	effort.Rapid()
	testheap.Main(m)
}
