package convert_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/berth-sched/berth/framework/api"
)

// TestNoFieldLooksMisspelt decodes objects of Kubernetes' own types one field at a time: no
// field that Kubernetes has may look misspelt, whether scheduling reads it or not.
func TestNoFieldLooksMisspelt(t *testing.T) {
	tried := 0
	for kind, typ := range map[string]struct {
		version string
		object  any
	}{
		"Pod": {"v1", corev1.Pod{}}, "Node": {"v1", corev1.Node{}}, "PersistentVolume": {"v1", corev1.PersistentVolume{}},
		"PersistentVolumeClaim": {"v1", corev1.PersistentVolumeClaim{}}, "Namespace": {"v1", corev1.Namespace{}}, "Service": {"v1", corev1.Service{}},
		"ReplicationController": {"v1", corev1.ReplicationController{}}, "ResourceQuota": {"v1", corev1.ResourceQuota{}},
		"Deployment": {"apps/v1", appsv1.Deployment{}}, "ReplicaSet": {"apps/v1", appsv1.ReplicaSet{}}, "StatefulSet": {"apps/v1", appsv1.StatefulSet{}},
		"DaemonSet": {"apps/v1", appsv1.DaemonSet{}}, "Job": {"batch/v1", batchv1.Job{}}, "PodDisruptionBudget": {"policy/v1", policyv1.PodDisruptionBudget{}},
		"PriorityClass": {"scheduling.k8s.io/v1", schedulingv1.PriorityClass{}}, "StorageClass": {"storage.k8s.io/v1", storagev1.StorageClass{}},
		"CSINode": {"storage.k8s.io/v1", storagev1.CSINode{}}, "ResourceSlice": {"resource.k8s.io/v1", resourcev1.ResourceSlice{}},
		"ResourceClaim": {"resource.k8s.io/v1", resourcev1.ResourceClaim{}}, "DeviceClass": {"resource.k8s.io/v1", resourcev1.DeviceClass{}},
	} {
		fields(reflect.TypeOf(typ.object), nil, func(path []step) {
			object := map[string]any{"kind": kind, "apiVersion": typ.version, "metadata": map[string]any{"name": "x"}}
			if !put(object, path) {
				return
			}
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			o, err := api.Decode(text)
			if err != nil { // the value does not suit the field, so that this knows it
				return
			}
			tried++
			for _, line := range o.Warnings() {
				if strings.Contains(line, "did you mean") {
					t.Errorf("%s: %s", text, line)
				}
			}
		})
	}
	if tried < 1000 {
		t.Errorf("%d fields were tried, want at least 1,000", tried)
	}
}

// A step is a field, and whether it has a list.
type step struct {
	name string
	list bool
}

// fields calls f for each field below a type.
func fields(t reflect.Type, path []step, f func(path []step)) {
	const deepest = 12
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || len(path) > deepest {
		return
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		inner := field.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case name == "-" || !field.IsExported():
		case name == "":
			fields(inner, path, f)
		default:
			next := append(path[:len(path):len(path)], step{name, inner.Kind() == reflect.Slice})
			f(next)
			fields(inner, next, f)
		}
	}
}

// put sets the field at the end of a path to an object or a list. It returns false for the
// fields that say what the object is.
func put(object map[string]any, path []step) bool {
	for i, s := range path {
		if i == 0 && (s.name == "kind" || s.name == "apiVersion") {
			return false
		}
		inner, ok := object[s.name].(map[string]any)
		if !ok {
			inner = map[string]any{}
		}
		if object[s.name] = inner; s.list {
			object[s.name] = []any{inner}
		}
		object = inner
	}
	return true
}
