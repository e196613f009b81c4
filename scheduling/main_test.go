package scheduling_test

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/internal/proof/testheap"
	"github.com/berth-sched/berth/scheduling"
)

func TestMain(m *testing.M) {
	scheduling.KeepFromTheFirst()
	effort.Rapid()
	testheap.Main(m)
}
