package main

import (
	"encoding/json"
	"testing"
)

// crashing has a volume to be provisioned from a storage capacity that states none.
const crashing = `{"id": "crash", "family": "volumes",
	"nodes": [{"metadata": {"name": "a"}, "status": {"allocatable": {"pods": "2"}}}, {"metadata": {"name": "b"}, "status": {"allocatable": {"pods": "2"}}}],
	"pod": {"metadata": {"name": "p", "namespace": "default", "uid": "u"}, "spec": {"containers": [], "schedulerName": "default-scheduler",
		"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}},
	"pvcs": [{"metadata": {"name": "c", "namespace": "default"},
		"spec": {"storageClassName": "sc", "resources": {"requests": {"storage": "1Gi"}}}}],
	"storageClasses": [{"metadata": {"name": "sc"}, "provisioner": "csi.example.com", "volumeBindingMode": "WaitForFirstConsumer"}],
	"csiDrivers": [{"metadata": {"name": "csi.example.com"}, "spec": {"storageCapacity": true}}],
	"csiStorageCapacities": [{"metadata": {"name": "s", "namespace": "default"}, "storageClassName": "sc", "nodeTopology": {}, "maximumVolumeSize": "5Gi"}]}`

// TestCrash asks a question that makes kube-scheduler panic. berth answers it, and
// the next case is compared as usual.
func TestCrash(t *testing.T) {
	i := new(item)
	if err := json.Unmarshal([]byte(crashing), i); err != nil {
		t.Fatal(err)
	}
	a := newAsker()
	defer a.forget()
	for range 2 {
		if v := a.ask(i); !v.crash || v.err != nil || len(v.differences) > 0 {
			t.Fatalf("verdict = %+v, want a crash without differences", v)
		}
	}
	i.CSIStorageCapacities[0].Capacity = i.CSIStorageCapacities[0].MaximumVolumeSize
	if v := a.ask(i); v.crash || v.err != nil || len(v.differences) > 0 {
		t.Errorf("verdict = %+v, want no difference", v)
	}
}
