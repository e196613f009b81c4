package frameworktest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/frameworktest"
	"github.com/berth-sched/berth/internal/proof/effort"
)

// Whatever part of a pod a plugin reads without saying so, it is found out.
func TestEveryPodFieldIsFoundOut(t *testing.T) {
	t.Parallel()
	for field := framework.PodFields(1); field < framework.FieldSpec; field <<= 1 {
		t.Run(fmt.Sprintf("bit %b", field), func(t *testing.T) {
			reads := filterFunc(func(p *framework.PodInfo, _ *framework.NodeInfo) framework.Status {
				return framework.UnschedulableStatus(framework.Text(fmt.Sprintf("%x", p.ClassKey(field))))
			})
			others := framework.FieldsAll &^ (field | framework.FieldSpec)
			f := checkOnly(t, "scope", declare(reads, others, 0), frameworktest.Config{})
			if f == nil {
				t.Fatal("the scope passes")
			}
			if !strings.Contains(f.What, "for a pod that differs in ") {
				t.Errorf("it reports %q", f.What)
			}
			if f := checkOnly(t, "scope", declare(reads, field, 0), frameworktest.Config{Clusters: effort.Of(1, 4)}); f != nil {
				t.Errorf("the true scope fails: %v", f)
			}
		})
	}
}
