package rival

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
)

// Put lets the API server have an object that is neither a node nor a pod, in
// place of an older one.
func (s *Scheduler) Put(object runtime.Object) error { return s.known.put(object) }

// Drop lets it have an object no longer.
func (s *Scheduler) Drop(object runtime.Object) error { return s.known.of(object).drop(object) }

// Volume is a volume as VolumeBinding sees it, with what it has reserved; nil if
// there is none.
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

// Claim is a claim as VolumeBinding sees it, with the node that it has selected;
// nil if there is none.
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
