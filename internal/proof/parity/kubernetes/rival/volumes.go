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

func (s *Scheduler) binder() (volumebinding.SchedulerVolumeBinder, error) {
	for _, profile := range s.sched.Profiles {
		if p, ok := plugins(profile)["VolumeBinding"].(*volumebinding.VolumeBinding); ok {
			return p.Binder, nil
		}
	}
	return nil, fmt.Errorf("no profile has VolumeBinding")
}
