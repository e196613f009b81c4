package podgroups_test

import (
	"fmt"
	"runtime/debug"
	"testing"

	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/golden/podgroups"
)

// TestGoldenPodGroups replays every recorded case.
func TestGoldenPodGroups(t *testing.T) {
	for _, family := range golden.PodGroupFamilies() {
		cases, err := golden.LoadPodGroups(family)
		if err != nil {
			t.Fatal(err)
		}
		if len(cases) == 0 {
			t.Errorf("golden %s/%s: no cases", golden.PodGroupSystem, family)
		}
		mismatches := 0
		for _, c := range cases {
			for _, difference := range check(c) {
				if mismatches++; mismatches <= 20 {
					t.Errorf("%s: %s", c.ID, difference)
				}
			}
		}
		fmt.Printf("golden %s/%s: %d cases, %d mismatches\n", golden.PodGroupSystem, family, len(cases), mismatches)
	}
}

func check(c *golden.PodGroupCase) (differences []string) {
	defer func() {
		if r := recover(); r != nil {
			differences = append(differences, fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	return podgroups.Check(c)
}
