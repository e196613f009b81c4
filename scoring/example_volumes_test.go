package scoring_test

import (
	"fmt"

	"github.com/berth-sched/berth/scoring"
)

// This shape reverses the default: filling up storage leaves whole volumes free
// elsewhere.
func ExampleVolumeBinding() {
	s := newStorage(exampleFailer{})
	s.claim("data", "local", "40Gi").volume("tight", "local", "50Gi", "a").volume("huge", "local", "1Ti", "b")
	for _, plugin := range []scoring.VolumeBinding{{}, {Shape: scoring.Shape{{0, 0}, {100, 10}}}} {
		scores, _ := scoresOf(exampleFailer{}, s.Snapshot, plugin, podMounting("data"))
		fmt.Println(scores)
	}
	// Output:
	// [20 97]
	// [80 3]
}

func ExampleStorageUtilization() {
	fmt.Println(scoring.StorageUtilization(40, 120), scoring.StorageUtilization(130, 120))
	// Output: 33 100
}
