package devices

import (
	"maps"
	"sync/atomic"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// classes knows which class stands behind an extended resource.
type classes struct {
	version uint64
	names   map[resource.Name]*api.DeviceClass
}

// classesKey holds the classes of a snapshot. They touch all nodes when a class changes,
// so that a plugin whose answer depends on a class need not read all objects.
var classesKey = framework.NewTouchingExtensionKey(func(s *framework.Snapshot) *Classes {
	x := new(Classes)
	x.renew(s)
	return x
})

// Classes finds the device classes behind extended resources.
type Classes struct {
	now atomic.Pointer[classes]

	// The last answer of backSome, which is asked several times about each pod.
	pod  *framework.PodInfo
	some bool

	backed backed
}

// backed knows of the resources of a schema, by index and as far as asked, whether a class
// stands behind them in a snapshot with these objects.
type backed struct {
	objects uint64
	schema  *resource.Schema
	by      *classes
	list    []bool
}

// ClassesOf returns the classes of a snapshot.
func ClassesOf(s *framework.Snapshot) *Classes { return classesKey.Of(s) }

// Fork implements [framework.Extension].
func (x *Classes) Fork(*framework.Snapshot) framework.Extension {
	y := new(Classes)
	y.now.Store(x.now.Load())
	return y
}

// ObjectChanged implements [framework.ObjectWatcher].
func (x *Classes) ObjectChanged(s *framework.Snapshot, _ string, obj any) {
	if _, ok := obj.(*api.DeviceClass); ok {
		x.renew(s)
		touchAll(s)
	}
}

func touchAll(s *framework.Snapshot) {
	for _, n := range s.All() {
		s.Touch(n)
	}
}

func (x *Classes) renew(s *framework.Snapshot) *classes {
	c := &classes{framework.ObjectsVersion[api.DeviceClass](s), extendedNames(framework.List[api.DeviceClass](s))}
	x.now.Store(c)
	return c
}

// Behind returns the class behind an extended resource, nil if there is none. It may be
// called by several goroutines.
func (x *Classes) Behind(s *framework.Snapshot, name resource.Name) *api.DeviceClass {
	return x.current(s).names[name]
}

func (x *Classes) current(s *framework.Snapshot) *classes {
	c := x.now.Load()
	if c.version != framework.ObjectsVersion[api.DeviceClass](s) { // after a rollback
		c = x.renew(s)
	}
	return c
}

// backSome reports whether there is a class behind a resource that the pod requests. It
// belongs to the goroutine of the snapshot.
func (x *Classes) backSome(s *framework.Snapshot, pod *framework.PodInfo) bool {
	if b := &x.backed; b.objects != s.Objects() || b.schema != pod.Schema() || len(b.list) < len(pod.Requests) {
		b.follow(x.current(s), s.Objects(), pod)
	} else if x.pod == pod {
		return x.some
	}
	x.pod, x.some = pod, false
	for i := resource.IndexEphemeralStorage + 1; i < len(pod.Requests); i++ {
		if pod.Requests[i] != 0 && x.backed.list[i] {
			x.some = true
			break
		}
	}
	return x.some
}

// follow makes the list one for the classes and objects, and for the resources of the pod.
func (b *backed) follow(c *classes, objects uint64, pod *framework.PodInfo) {
	if b.objects = objects; b.by != c || b.schema != pod.Schema() {
		b.by, b.schema, b.list = c, pod.Schema(), b.list[:0]
	}
	for i := len(b.list); i < len(pod.Requests); i++ {
		b.list = append(b.list, c.names[b.schema.Name(i)] != nil)
	}
}

// Any reports whether there is a class behind any resource.
func (x *Classes) Any(s *framework.Snapshot) bool {
	return framework.Any[api.DeviceClass](s)
}

// extendedNames returns the class behind each extended resource. The classes come in the
// order of their names, as they reach a scheduler that starts.
func extendedNames(list []*api.DeviceClass) map[resource.Name]*api.DeviceClass {
	names := make(map[resource.Name]*api.DeviceClass, len(list))
	for _, c := range list {
		if e := c.Spec.ExtendedResourceName; e != nil && *e != "" {
			name := resource.Name(*e)
			if p := names[name]; p != nil && (c.CreationTimestamp.Before(p.CreationTimestamp) ||
				c.CreationTimestamp.Equal(p.CreationTimestamp) && c.Name >= p.Name) {
				continue // c does not even get its implicit name
			}
			names[name] = c
		}
		names[resource.Name(api.PrefixDeviceClass+c.Name)] = c
	}
	maps.DeleteFunc(names, func(name resource.Name, _ *api.DeviceClass) bool { return !IsCandidate(name) })
	return names
}

// IsCandidate reports whether a class may stand behind a resource of that name.
func IsCandidate(name resource.Name) bool {
	return name.IsExtended() || len(name) > len(api.PrefixDeviceClass) && name[:len(api.PrefixDeviceClass)] == api.PrefixDeviceClass
}
