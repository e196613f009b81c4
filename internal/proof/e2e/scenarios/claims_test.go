package scenarios

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestClaims binds pods with volume claims of three sorts, beside the real controller of
// volumes: local volumes that are there and wait for a pod, volumes that are provisioned
// for the node of a pod, and volumes that are provisioned at once. Every claim gets a
// volume of its own, and pods of local volumes run where these are.
func TestClaims(t *testing.T) {
	s := begin(t)
	const each, nodes = 8, 12
	s.nodes(nodes)
	s.class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer)
	s.class("later", "kubernetes.io/host-path", storagev1.VolumeBindingWaitForFirstConsumer)
	s.class("atonce", "kubernetes.io/host-path", storagev1.VolumeBindingImmediate)
	for i := range each {
		s.localVolume(i, objects.NodeName(1+i))
	}
	controller, err := cluster.StartVolumeController(s.ctx)
	s.ok(err)
	t.Cleanup(func() { s.end(controller) })
	t.Cleanup(s.removeHostPaths)
	p := s.start()
	classes := []string{"local", "later", "atonce"}
	s.pods(each*len(classes), func(i int) *v1.Pod {
		class := classes[i%len(classes)]
		name := fmt.Sprintf("%s-%02d", class, i)
		s.claim(name, class)
		return claiming(name)
	})
	s.bound(each * len(classes))

	volumes := map[string]string{}
	s.eventually("all claims are bound", func() bool {
		list, err := s.client.CoreV1().PersistentVolumeClaims(objects.Namespace).List(s.ctx, metav1.ListOptions{})
		s.ok(err)
		clear(volumes)
		for i := range list.Items {
			if c := &list.Items[i]; c.Status.Phase == v1.ClaimBound {
				volumes[c.Name] = c.Spec.VolumeName
			}
		}
		return len(volumes) == each*len(classes)
	})
	owners := map[string]string{}
	placements := s.guard.Placements()
	for claim, name := range volumes {
		if other, ok := owners[name]; ok {
			t.Errorf("volume %s belongs to %s and to %s", name, claim, other)
		}
		owners[name] = claim
		volume, err := s.client.CoreV1().PersistentVolumes().Get(s.ctx, name, metav1.GetOptions{})
		s.ok(err)
		if volume.Spec.Local != nil && volume.Labels["node"] != placements[claim] {
			t.Errorf("pod %s runs on %s and its volume is on %s", claim, placements[claim], volume.Labels["node"])
		}
		// Writing a cut-down object would have taken these away.
		if volume.Spec.Local != nil && volume.Annotations["e2e/keep"] != "this" {
			t.Errorf("volume %s lost its annotation: %v", name, volume.Annotations)
		}
		if volume.Spec.Capacity == nil || volume.Spec.PersistentVolumeReclaimPolicy == "" {
			t.Errorf("volume %s lost fields: %+v", name, volume.Spec)
		}
	}
	for claim := range volumes {
		c, err := s.client.CoreV1().PersistentVolumeClaims(objects.Namespace).Get(s.ctx, claim, metav1.GetOptions{})
		s.ok(err)
		if c.Labels["e2e"] != "keep" || c.Spec.Resources.Requests == nil {
			t.Errorf("claim %s lost fields: %v %+v", claim, c.Labels, c.Spec)
		}
	}
	s.stop(p)
}

// TestClaimsAndAPIServerKilled has pods compete for local volumes and kills the API server
// meanwhile. After that, objects come again that have not changed; nothing that was
// reserved before is given to another.
func TestClaimsAndAPIServerKilled(t *testing.T) {
	s := begin(t)
	const pods, nodes = 24, 4
	s.ok(objects.CreateNodesOf(s.ctx, s.client, []int{1, 2, 3, 4}))
	s.class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer)
	for i := range pods {
		s.localVolume(i, objects.NodeName(1+i%nodes))
	}
	controller, err := cluster.StartVolumeController(s.ctx)
	s.ok(err)
	t.Cleanup(func() { s.end(controller) })
	s.start()
	s.pods(pods, func(i int) *v1.Pod {
		name := fmt.Sprintf("local-%02d", i)
		s.claim(name, "local")
		return claiming(name)
	})
	s.someBound(pods / 4)
	cluster.KillAPIServer()
	s.ok(cluster.StartAPIServer(s.ctx))
	s.bound(pods)
}

// claiming is a pod with the claim of its name.
func claiming(name string) *v1.Pod {
	pod := objects.Pod(name, "100m", "100Mi")
	pod.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{
		PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name},
	}}}
	return pod
}

// class makes a storage class.
func (s *scenario) class(name, provisioner string, mode storagev1.VolumeBindingMode) {
	s.Helper()
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: provisioner, VolumeBindingMode: &mode}
	_, err := s.client.StorageV1().StorageClasses().Create(s.ctx, class, metav1.CreateOptions{})
	s.ok(err)
}

// localVolume makes local volume i, on a node.
func (s *scenario) localVolume(i int, node string) {
	s.Helper()
	volume := &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("local-%02d", i), Labels: map[string]string{"node": node}, Annotations: map[string]string{"e2e/keep": "this"},
		},
		Spec: v1.PersistentVolumeSpec{
			Capacity: v1.ResourceList{v1.ResourceStorage: resource.MustParse("10Gi")}, StorageClassName: "local",
			AccessModes:                   []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource:        v1.PersistentVolumeSource{Local: &v1.LocalVolumeSource{Path: "/mnt/disk"}},
			NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
				{MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{node}}}},
			}}},
		},
	}
	_, err := s.client.CoreV1().PersistentVolumes().Create(s.ctx, volume, metav1.CreateOptions{})
	s.ok(err)
}

// claim makes a claim of a class.
func (s *scenario) claim(name, class string) {
	claim := &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: objects.Namespace, Labels: map[string]string{"e2e": "keep"}},
		Spec: v1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	if _, err := s.client.CoreV1().PersistentVolumeClaims(objects.Namespace).Create(s.ctx, claim, metav1.CreateOptions{}); err != nil {
		s.Errorf("create claim %s: %v", name, err)
	}
}

// removeHostPaths removes the folders that the controller made for its volumes. They are
// empty.
func (s *scenario) removeHostPaths() {
	list, err := s.client.CoreV1().PersistentVolumes().List(context.Background(), metav1.ListOptions{})
	if err != nil {
		return // the scenario has failed before
	}
	for i := range list.Items {
		if h := list.Items[i].Spec.HostPath; h != nil {
			_ = os.Remove(h.Path)
			_ = os.Remove(filepath.Dir(h.Path)) // fails while others are there
		}
	}
}
