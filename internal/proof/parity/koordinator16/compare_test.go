package koordinator16_test

import (
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/klog/v2"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/internal/proof/parity/koordinator16"
)

var (
	seed  = flag.Uint64("seed", 3, "what the cases are made from")
	cases = flag.Int("cases", 500, "how many cases to make")
)

func TestCompare(t *testing.T) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		played, n := koordinator16.Compare(estimator.Koordinator16, []string{"v1", "v1beta3"}, *seed, *cases, &out)
		fmt.Printf("%d cases, %d mismatches\n", played, n)
		if played < *cases/3 || n != 0 {
			t.Errorf("%d of %d cases played, %d mismatches:\n%s", played, *cases, n, &out)
		}
	})
}
