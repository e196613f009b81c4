package devices

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/digest"
	"github.com/berth-sched/berth/internal/runner"
	"github.com/berth-sched/berth/resource"
)

// replicas is what pods that differ in their names only have in common: how their
// containers use extended resources. So a pod with thousands of containers costs no more
// for each replica than a small one.
type replicas struct {
	first     *runner.Pod // see [runner.Pod.First]
	resources []extendedResource
	users     func() map[resource.Name][]user
	key       func() []byte // tells pods apart whose containers request something else

	mu     sync.Mutex
	grants []*extendedGrant
}

// An extendedGrant is what a claim requests for some extended resources, and for which
// containers. It does not change.
type extendedGrant struct {
	resources []extendedResource
	requests  []api.DeviceRequest
	mappings  []Mapping
}

// replicasOf returns what replicas of the pod have in common, given its extended resources.
// The state keeps the last. It belongs to the goroutine of the snapshot.
func (x *State) replicasOf(pod *framework.PodInfo, resources []extendedResource) *replicas {
	first := pod.Runner().Original()
	if r := x.copies; r != nil && r.first == first && slices.Equal(r.resources, resources) {
		return r
	}
	r := &replicas{first: first, resources: resources}
	r.users = sync.OnceValue(func() map[resource.Name][]user { return usersOf(pod.Pod, resources) })
	r.key = sync.OnceValue(r.makeKey)
	x.copies = r
	return r
}

// longKey is how long a key is before its digest takes its place: the key of each replica
// is compared with that of its class.
const longKey = 256

func (r *replicas) makeKey() []byte {
	b := appendCount(nil, len(r.resources))
	for _, e := range r.resources {
		list := r.users()[e.name]
		b = appendCount(appendText(b, string(e.name)), len(list))
		for i := range list {
			u := &list[i]
			b = appendFlag(appendCount(appendText(b, u.request), u.position), u.short)
			b = binary.AppendVarint(b, u.count)
		}
	}
	if len(b) <= longKey {
		return append([]byte{0}, b...)
	}
	sum := digest.Sum(b)
	return append([]byte{1}, sum[:]...)
}

// grant returns what a claim requests for some of the resources. Several goroutines may
// call it.
func (r *replicas) grant(resources []extendedResource) *extendedGrant {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.grants {
		if slices.Equal(g.resources, resources) {
			return g
		}
	}
	g := grantFor(resources, r.users())
	r.grants = append(r.grants, &g)
	return &g
}
