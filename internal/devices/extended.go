package devices

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// ExtendedClaimName is the name of the claim of a pod's extended resources until it is
// made.
const ExtendedClaimName = "<extended-resources>"

// A Mapping says which request of the claim gives a container its extended resource.
type Mapping struct {
	Container string
	Resource  resource.Name
	Request   string
}

// An extendedResource is an extended resource that a pod requests.
type extendedResource struct {
	name  resource.Name
	index int              // in the schema
	class *api.DeviceClass // nil if there is none behind it
}

// extendedResources returns the extended resources that a pod requests by name, nil if
// no class stands behind any.
func extendedResources(s *framework.Snapshot, pod *framework.PodInfo) []extendedResource {
	if !Backed(s, pod) {
		return nil
	}
	var list []extendedResource
	for i := resource.IndexEphemeralStorage + 1; i < len(pod.Requests); i++ {
		name := pod.Schema().Name(i)
		if pod.Requests[i] == 0 || !IsCandidate(name) {
			continue
		}
		list = append(list, extendedResource{name, i, ClassesOf(s).Behind(s, name)})
	}
	slices.SortFunc(list, func(a, b extendedResource) int { return strings.Compare(string(a.name), string(b.name)) })
	return list
}

// A user is a container that requests an extended resource.
type user struct {
	container *api.Container
	position  int // among the init containers and then the containers
	short     bool
	count     int64
	request   string // name for a request of its own
}

// usersOf lists the containers that request each of the resources. It sorts the names of a
// container once, because all of its resources may be extended.
func usersOf(pod *api.Pod, resources []extendedResource) map[resource.Name][]user {
	lists := make(map[resource.Name][]user, len(resources))
	for _, e := range resources {
		lists[e.name] = nil
	}
	position := 0
	for k, containers := range [2][]api.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			for index, name := range slices.Sorted(maps.Keys(c.Resources.Requests)) {
				list, ok := lists[name]
				if !ok {
					continue
				}
				q := c.Resources.Requests[name]
				if n := q.Value(); n > 0 && q.Equal(resource.New(n, resource.DecimalSI)) {
					lists[name] = append(list, user{c, position, k == 0 && !c.IsSidecar(), n, fmt.Sprintf("container-%d-request-%d", position, index)})
				}
			}
			position++
		}
	}
	return lists
}

// grantFor returns the requests for the resources, and which containers they are for. It costs O(n log n) for n containers. It leaves out mappings of short
// containers if the requests of the others alone are more than a claim may have devices:
// then no node gives the claim its devices, and nobody reads a mapping.
func grantFor(resources []extendedResource, usersOf map[resource.Name][]user) extendedGrant {
	var requests []api.DeviceRequest
	var mappings []Mapping
	for _, r := range resources {
		list := usersOf[r.name]
		grant := func(u *user, count int64) {
			requests = append(requests, api.DeviceRequest{Name: u.request, Exactly: &api.ExactDeviceRequest{
				DeviceClassName: r.class.Name, AllocationMode: api.DeviceAllocationModeExactCount, Count: count,
			}})
		}
		var long []*user
		for i := range list {
			if u := &list[i]; !u.short {
				grant(u, u.count)
				mappings = append(mappings, Mapping{u.container.Name, r.name, u.request})
				long = append(long, u)
			}
		}
		sums := make([]int64, len(long)+1) // of the counts from an entry of long on
		for k := len(long) - 1; k >= 0; k-- {
			sums[k] = resource.SatAdd(sums[k+1], long[k].count)
		}
		mayFit := len(requests) <= maxDevices
		var short []Mapping
		var own []int // entries of short that name a request of the container's own
		var largest *user
		most, from := int64(0), 0
		for i := range list {
			u := &list[i]
			if !u.short {
				continue
			}
			for from < len(long) && long[from].position < u.position {
				from++
			}
			for k, rest := from, u.count; mayFit && k < len(long) && rest > 0; k++ {
				short = append(short, Mapping{u.container.Name, r.name, long[k].request})
				rest -= min(rest, long[k].count)
			}
			if u.count > sums[from] {
				own = append(own, len(short))
				short = append(short, Mapping{u.container.Name, r.name, ""})
				if rest := u.count - sums[from]; rest > most {
					most, largest = rest, u
				}
			}
		}
		if largest != nil {
			grant(largest, most)
			for _, k := range own {
				short[k].Request = largest.request
			}
		}
		mappings = append(mappings, short...)
	}
	slices.SortFunc(requests, func(a, b api.DeviceRequest) int { return cmp.Compare(a.Name, b.Name) })
	return extendedGrant{resources, requests, mappings}
}

// Backed reports whether a class stands behind a resource that the pod requests.
func Backed(s *framework.Snapshot, pod *framework.PodInfo) bool {
	return pod.HasExtended() && s.Objects() != 0 && ClassesOf(s).backSome(s, pod)
}

// extendedClaim returns the claim for a pod's extended resources. One that has not been
// made has no requests, and the name [ExtendedClaimName].
func (x *State) extendedClaim(s *framework.Snapshot, pod *api.Pod) PodClaim {
	if c := x.madeExtendedClaim(s, pod); c != nil {
		return PodClaim{Claim: c, Extended: true}
	}
	c := new(api.ResourceClaim)
	c.Name, c.Namespace = ExtendedClaimName, pod.Namespace
	c.Annotations = map[string]string{api.AnnExtendedResourceClaim: "true"}
	c.OwnerReferences = []api.OwnerReference{ownerOf(pod)}
	return PodClaim{Claim: c, Extended: true, Entry: ExtendedClaimName}
}
