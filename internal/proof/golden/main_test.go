package golden_test

import (
	"testing"

	"github.com/berth-sched/berth/internal/proof/testheap"
)

func TestMain(m *testing.M) { testheap.Main(m) }
