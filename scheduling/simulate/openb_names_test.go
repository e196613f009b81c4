package simulate_test

import (
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/simulate"
)

// TestOpenBLongNames: a name in a table has a bound, as in an object.
func TestOpenBLongNames(t *testing.T) {
	for n, refused := range map[int]bool{512: false, 513: true} {
		err := simulate.DecodeOpenB(new(api.Objects), []byte("sn,cpu_milli,memory_mib,gpu,model\n"+strings.Repeat("n", n)+",32000,262144,0,\n"))
		if (err != nil) != refused || err != nil && (!strings.Contains(err.Error(), "must have at most 512 bytes") || len(err.Error()) > 2000) {
			t.Errorf("a name of %d bytes: %v, refused %t", n, err, refused)
		}
	}
}
