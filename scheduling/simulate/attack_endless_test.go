package simulate_test

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// TestAttackEndless: how long a trace of 500 bytes runs, and what it holds, until the bound.
func TestAttackEndless(t *testing.T) {
	if os.Getenv("ENDLESS") == "" {
		t.Skip()
	}
	tr, err := simulate.ReadTrace(strings.NewReader(head + nodeLine + workloadLine(os.Getenv("ENDLESS"), "apps/v1", ``, `"berth-sched.github.io/run-time":"1ns"`, "1")))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, err = simulate.Run(context.Background(), simulate.Config{Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Trace: tr})
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%v %v, sys %d MB", time.Since(began), err, m.Sys>>20)
}
