package devices

import (
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// TestStepsOfHugeAmounts: kube-scheduler 1.37 reads an amount beyond the largest int64 as 0 when
// it counts steps.
func TestStepsOfHugeAmounts(t *testing.T) {
	for _, tt := range []struct {
		amount, least, step string
		violates            bool
	}{
		{"9E", "0", "2", false},
		{"9E", "1", "2", true},
		{"20E", "1", "2", true},
		{"20E", "2", "2", false},
		{"20E", "0", "3", false},
		{"7", "1", "3", false},
		{"6500m", "1", "3", false}, // counts as 7
	} {
		least, step := resource.MustParse(tt.least), resource.MustParse(tt.step)
		c := &api.DeviceCapacity{RequestPolicy: &api.CapacityRequestPolicy{ValidRange: &api.CapacityRequestPolicyRange{Min: &least, Step: &step}}}
		if got := violates(c, resource.MustParse(tt.amount)); got != tt.violates {
			t.Errorf("%s from %s in steps of %s: violates %t, want %t", tt.amount, tt.least, tt.step, got, tt.violates)
		}
	}
}
