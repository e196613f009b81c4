package rival

import (
	"reflect"
	"unsafe"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// field gives access to a field that kube-scheduler does not export. There is no
// other way to reach a single plugin of a profile, or the place where the next
// search begins.
func field[T any](object any, name string) *T {
	v := reflect.ValueOf(object).Elem().FieldByName(name)
	return (*T)(unsafe.Pointer(v.UnsafeAddr()))
}

// plugins returns the plugins of a profile by name.
func plugins(profile framework.Framework) map[string]fwk.Plugin {
	return *field[map[string]fwk.Plugin](profile, "pluginsMap")
}

// setStart sets the place where the next search begins.
func (s *Scheduler) setStart(place int) { *field[int](s.sched, "nextStartNodeIndex") = place }
