package workload

import (
	"encoding/json"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/gen/workload"
)

// If Kubernetes writes an object, berth reads back the same object.
func TestRoundTrip(t *testing.T) {
	t.Run("node", func(t *testing.T) {
		n, err := Node(42)
		if err != nil {
			t.Fatal(err)
		}
		back(t, n, workload.Node(42))
	})
	t.Run("init", func(t *testing.T) {
		p, err := InitPod(42, 10)
		if err != nil {
			t.Fatal(err)
		}
		back(t, p, workload.InitPod(42, 10))
	})
	for _, k := range workload.Kinds() {
		t.Run(string(k), func(t *testing.T) {
			for i := range 7 {
				p, err := Pod(k, i)
				if err != nil {
					t.Fatal(err)
				}
				back(t, p, workload.Pod(k, i))
			}
		})
	}
}

// back compares the JSON of want with the JSON of the object that berth reads from
// got's JSON.
func back[T api.Object](t *testing.T, got any, want *T) {
	t.Helper()
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	again, err := api.DecodeObject[T](data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text(t, want), text(t, again)); diff != "" {
		t.Errorf("after a round trip (-want +got):\n%s", diff)
	}
}

// text returns the JSON of an object.
func text(t *testing.T, object any) string {
	t.Helper()
	data, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestDecodeIsStrict(t *testing.T) {
	if _, err := Decode[v1.Pod]([]byte(`{"spec": {"nodeNames": "n"}}`)); err == nil {
		t.Error("Decode took a field that pods do not have")
	}
}
