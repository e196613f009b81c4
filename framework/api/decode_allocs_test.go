//go:build full

package api_test

import (
	"encoding/json"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// TestDecodeObjectAllocs bounds the allocations for one pod of a cluster. Most of
// them are the pod itself; tables of types that are built anew would be hundreds.
func TestDecodeObjectAllocs(t *testing.T) {
	data := onePod(t)
	got := testing.AllocsPerRun(100, func() {
		if _, err := api.DecodeObject[api.Pod](data); err != nil {
			t.Fatal(err)
		}
	})
	std := testing.AllocsPerRun(100, func() {
		if err := json.Unmarshal(data, new(api.Pod)); err != nil {
			t.Fatal(err)
		}
	})
	if got > 110 || got > std {
		t.Errorf("%v allocations, want at most 110 and at most the %v of encoding/json", got, std)
	}
}
