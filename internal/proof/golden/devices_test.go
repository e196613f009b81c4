package golden_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/berth-sched/berth/internal/proof/golden"
)

// TestGoldenDevices replays every case with devices.
func TestGoldenDevices(t *testing.T) {
	families, err := golden.LoadDevices()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) < 25 {
		t.Errorf("%d families, want 25", len(families))
	}
	for _, family := range slices.Sorted(maps.Keys(families)) {
		mismatches := 0
		for _, c := range families[family] {
			for _, difference := range golden.CheckDevices(c) {
				if mismatches++; mismatches <= 20 {
					t.Errorf("%s: %s", c.ID, difference)
				}
			}
		}
		fmt.Printf("golden %s/%s: %d cases, %d mismatches\n", golden.DeviceSystem, family, len(families[family]), mismatches)
	}
}

// TestGoldenSelectors evaluates every selector.
func TestGoldenSelectors(t *testing.T) {
	list, err := golden.LoadSelectors()
	if err != nil {
		t.Fatal(err)
	}
	refused, mismatches := 0, 0
	for i := range list {
		difference, what := golden.CheckSelector(&list[i])
		if what != "" {
			refused++
		}
		if difference != "" {
			mismatches++
			t.Error(difference)
		}
	}
	fmt.Printf("golden %s/selectors: %d cases, %d mismatches, %d refused\n", golden.DeviceSystem, len(list), mismatches, refused)
	if refused > len(list)/5 {
		t.Errorf("%d of %d selectors are refused", refused, len(list))
	}
}
