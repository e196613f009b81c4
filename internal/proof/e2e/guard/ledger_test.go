package guard

import (
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func testNode(name, cpu string, pods int64) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
		v1.ResourceCPU: resource.MustParse(cpu), v1.ResourcePods: *resource.NewQuantity(pods, resource.DecimalSI),
	}}}
}

func testPod(name, cpu, node string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid")},
		Spec: v1.PodSpec{NodeName: node, Containers: []v1.Container{{
			Name: "main", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{v1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
	}
}

func testClaim(name, volume string) *v1.PersistentVolumeClaim {
	return &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name + "-uid")},
		Spec:       v1.PersistentVolumeClaimSpec{VolumeName: volume},
	}
}

func testVolume(name, claim string) *v1.PersistentVolume {
	return &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1.PersistentVolumeSpec{ClaimRef: &v1.ObjectReference{Name: claim, UID: types.UID(claim + "-uid")}},
	}
}

// TestLedger plants each fault that the ledger has to see, beside histories without one.
func TestLedger(t *testing.T) {
	ended := testPod("a", "2", "n")
	ended.Status.Phase = v1.PodSucceeded
	for _, test := range []struct {
		name    string
		history func(l *Ledger)
		want    string // part of what is broken; "" for nothing
	}{
		{"bound once", func(l *Ledger) {
			l.PutPod(testPod("a", "2", ""))
			l.PutPod(testPod("a", "2", "n"))
			l.PutPod(testPod("a", "2", "n"))
		}, ""},
		{"moved", func(l *Ledger) {
			l.PutPod(testPod("a", "1", ""))
			l.PutPod(testPod("a", "1", "n"))
			l.PutPod(testPod("a", "1", "m"))
		}, `pod a (a-uid) moved from node n to "m"`},
		{"lost its node", func(l *Ledger) {
			l.PutPod(testPod("a", "1", "n"))
			l.PutPod(testPod("a", "1", ""))
		}, `pod a (a-uid) moved from node n to ""`},
		{"a node that never was", func(l *Ledger) {
			l.PutPod(testPod("a", "1", ""))
			l.PutPod(testPod("a", "1", "x"))
		}, "pod a was bound to node x, which never was there"},
		{"too much CPU", func(l *Ledger) {
			l.PutPod(testPod("a", "1500m", "n"))
			l.PutPod(testPod("b", "600m", ""))
			l.PutPod(testPod("b", "600m", "n"))
		}, "node n has 2 of cpu and gave 2100m when pod b came"},
		{"room after a pod has ended", func(l *Ledger) {
			l.PutPod(testPod("a", "2", "n"))
			l.PutPod(ended)
			l.PutPod(testPod("b", "2", ""))
			l.PutPod(testPod("b", "2", "n"))
		}, ""},
		{"room after a pod was deleted", func(l *Ledger) {
			l.PutPod(testPod("a", "2", "n"))
			l.DeletePod("a-uid")
			l.PutPod(testPod("b", "2", ""))
			l.PutPod(testPod("b", "2", "n"))
		}, ""},
		{"too many pods", func(l *Ledger) {
			for _, name := range []string{"a", "b", "c", "d"} {
				l.PutPod(testPod(name, "0", ""))
				l.PutPod(testPod(name, "0", "n"))
			}
		}, "node n takes 3 pods and has 4 since pod d came"},
		{"a claim that changes its volume", func(l *Ledger) {
			l.PutClaim(testClaim("c", ""))
			l.PutClaim(testClaim("c", "v"))
			l.PutClaim(testClaim("c", "w"))
		}, `claim c changed its volume from v to "w"`},
		{"two claims with one volume", func(l *Ledger) {
			l.PutClaim(testClaim("c", "v"))
			l.PutClaim(testClaim("d", "v"))
		}, "volume v is claimed by d and by claim c-uid"},
		{"a volume that goes to another claim", func(l *Ledger) {
			l.PutVolume(testVolume("v", "c"))
			l.PutVolume(testVolume("v", "d"))
		}, "volume v of claim c-uid went to claim d-uid (d)"},
		{"a volume after its claim is gone", func(l *Ledger) {
			l.PutVolume(testVolume("v", "c"))
			l.PutClaim(testClaim("c", "v"))
			l.DeleteClaim("c-uid")
			l.DeleteVolume("v")
			l.PutVolume(testVolume("v", "d"))
			l.PutClaim(testClaim("d", "v"))
		}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := NewLedger()
			l.PutNode(testNode("n", "2", 3))
			l.PutNode(testNode("m", "2", 3))
			test.history(l)
			got := strings.Join(l.Broken(), "\n")
			if (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
				t.Errorf("broken: %q, want %q", got, test.want)
			}
		})
	}
}

func TestLedgerCounts(t *testing.T) {
	l := NewLedger()
	l.PutNode(testNode("n", "8", 10))
	l.PutNode(testNode("m", "8", 10))
	l.PutPod(testPod("there", "1", "n"))
	l.PutPod(testPod("a", "1", ""))
	l.PutPod(testPod("b", "1", ""))
	l.PutPod(testPod("c", "1", ""))
	l.PutPod(testPod("a", "1", "n"))
	l.DeleteNode("m")
	l.PutPod(testPod("b", "1", "m"))
	l.DeletePod("there-uid")
	want := Counts{Pods: 3, Bound: 2, Nodes: 1, Created: 4, Binds: 2, Late: 1, Deleted: 1}
	if got := l.Counts(); got != want {
		t.Errorf("Counts() = %+v, want %+v", got, want)
	}
	if got := l.Placements(); got["a"] != "n" || got["b"] != "m" || got["c"] != "" || len(got) != 3 {
		t.Errorf("Placements() = %v", got)
	}
}
