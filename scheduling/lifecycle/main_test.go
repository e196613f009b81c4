package lifecycle_test

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/effort"
	"github.com/berth-sched/berth/internal/proof/testheap"
)

func TestMain(m *testing.M) {
	if err := effort.Rapid("40"); err != nil {
		panic(err)
	}
	testheap.Main(m)
}
