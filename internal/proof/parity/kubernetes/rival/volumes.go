package rival

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
)

// Put puts an object that is neither a node nor a pod into the simulated API server,
// in place of an older version.
func (s *Scheduler) Put(object runtime.Object) error { return s.known.put(object) }

// Drop removes an object from it.
func (s *Scheduler) Drop(object runtime.Object) error { return s.known.of(object).drop(object) }

// Volume returns a volume as VolumeBinding sees it, with its reservations; nil if it
// does not exist.
func (s *Scheduler) Volume(name string) (*v1.PersistentVolume, error) {
	b, err := s.binder()
	if err != nil {
		return nil, err
	}
	v, err := field[volumebinding.PVAssumeCache](b, "pvCache").Get(name)
	if err != nil {
		return nil, nil
	}
	return v, nil
}

// Claim returns a claim as VolumeBinding sees it, with its selected node; nil if it
// does not exist.
func (s *Scheduler) Claim(key string) (*v1.PersistentVolumeClaim, error) {
	b, err := s.binder()
	if err != nil {
		return nil, err
	}
	c, err := field[volumebinding.PVCAssumeCache](b, "pvcCache").Get(key)
	if err != nil {
		return nil, nil
	}
	return c, nil
}

// Reservations are the volumes and claims that VolumeBinding holds in a form that it has not
// written yet.
type Reservations struct {
	volumes []*v1.PersistentVolume
	claims  []*v1.PersistentVolumeClaim
}

// Reservations returns what is reserved among the volumes of these names and the claims of
// these keys.
func (s *Scheduler) Reservations(volumes, claims []string) (r Reservations, err error) {
	b, err := s.binder()
	if err != nil {
		return r, err
	}
	r.volumes = reserved(*field[volumebinding.PVAssumeCache](b, "pvCache"), volumes)
	r.claims = reserved(*field[volumebinding.PVCAssumeCache](b, "pvcCache"), claims)
	return r, nil
}

// Reinstate reserves again what has been reverted since. It returns the number of these
// reservations.
func (s *Scheduler) Reinstate(r Reservations) (int, error) {
	b, err := s.binder()
	if err != nil {
		return 0, err
	}
	volumes, err := reinstate(*field[volumebinding.PVAssumeCache](b, "pvCache"), r.volumes)
	if err != nil {
		return volumes, err
	}
	claims, err := reinstate(*field[volumebinding.PVCAssumeCache](b, "pvcCache"), r.claims)
	return volumes + claims, err
}

// assumeCache is VolumeBinding's cache of volumes or claims.
type assumeCache[T any] interface {
	Get(key string) (T, error)
	GetAPIObj(key string) (T, error)
	Assume(object T) error
}

// object is a pointer to a volume or claim.
type object interface {
	comparable
	GetNamespace() string
	GetName() string
}

// reserved returns the objects that differ in the cache from what the API server holds.
func reserved[T object](c assumeCache[T], keys []string) (list []T) {
	for _, key := range keys {
		held, err := c.Get(key)
		if err != nil {
			continue // there is no such object
		}
		if written, err := c.GetAPIObj(key); err == nil && held != written {
			list = append(list, held)
		}
	}
	return list
}

// reinstate assumes those objects again that are in the cache as the API server holds them.
func reinstate[T object](c assumeCache[T], list []T) (n int, err error) {
	for _, o := range list {
		key := o.GetName()
		if o.GetNamespace() != "" {
			key = o.GetNamespace() + "/" + key
		}
		held, err := c.Get(key)
		if err != nil {
			return n, err
		}
		if written, err := c.GetAPIObj(key); err != nil || held != written {
			continue
		}
		if err := c.Assume(o); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (s *Scheduler) binder() (volumebinding.SchedulerVolumeBinder, error) {
	for _, profile := range s.sched.Profiles {
		if p, ok := plugins(profile)["VolumeBinding"].(*volumebinding.VolumeBinding); ok {
			return p.Binder, nil
		}
	}
	return nil, fmt.Errorf("no profile has VolumeBinding")
}
