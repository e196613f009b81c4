package devices

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/workload"
)

// features are those of kube-scheduler 1.37 with its gates at their defaults.
var features = structured.Features{
	AdminAccess: true, PrioritizedList: true, PartitionableDevices: true, DeviceTaints: true, DeviceBindingAndStatus: true, ConsumableCapacity: true,
}

// A Count is the result of a comparison.
type Count struct {
	Cases, Questions int
	Granted, Errors  int // questions that ended so
	Turned           int // pods that PreFilter rejected
	Freed, Random    int // pods for which PostFilter gave something up, and with a choice
	Bound            int // pods whose claims were written
	Refused          int // selectors that the built-in compiler does not take
	Endless          int // searches that took too long for one side
	Differences      []string
}

// Allocations compares the allocators on random clusters.
func Allocations(seed uint64, cases int) (Count, error) {
	var n Count
	cache := cel.NewCache(1000, cel.Features{EnableConsumableCapacity: true})
	for i := range cases {
		w := newWorld(rand.New(rand.NewPCG(seed, uint64(i))))
		if err := w.compare(&n, cache, fmt.Sprintf("dynamicresources-%d-%d", seed, i)); err != nil {
			return n, err
		}
		n.Cases++
	}
	return n, nil
}

// classLister lists classes for the real allocator.
type classLister map[string]*resourceapi.DeviceClass

func (l classLister) Get(name string) (*resourceapi.DeviceClass, error) {
	if c, ok := l[name]; ok {
		return c, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "deviceclasses"}, name)
}

// List returns all classes.
func (l classLister) List() ([]*resourceapi.DeviceClass, error) {
	var list []*resourceapi.DeviceClass
	for _, c := range l {
		list = append(list, c)
	}
	return list, nil
}

// compare asks both sides about all claims of a case on all nodes.
func (w *world) compare(n *Count, cache *cel.Cache, id string) error {
	s, err := w.snapshot()
	if err != nil {
		return err
	}
	classes := classLister{}
	for _, c := range w.classes {
		if classes[c.Name], err = workload.Convert[resourceapi.DeviceClass](c); err != nil {
			return err
		}
	}
	var slices []*resourceapi.ResourceSlice
	for _, x := range w.slices {
		slice, err := workload.Convert[resourceapi.ResourceSlice](x)
		if err != nil {
			return err
		}
		slices = append(slices, slice)
	}
	for step, claims := range w.claims {
		state, err := allocatedState(framework.List[api.ResourceClaim](s))
		if err != nil {
			return err
		}
		real, err := structured.NewAllocator(context.Background(), features, state, classes, slices, cache)
		if err != nil {
			return err
		}
		pod, err := podOf(s, claims, step)
		if err != nil {
			return err
		}
		var finder devices.Finder
		if status := finder.Prepare(s, pod, devices.Options{Steps: steps}); !status.IsSuccess() {
			return fmt.Errorf("%s: Prepare: %v", id, status)
		}
		var last devices.Found
		for _, object := range w.nodes {
			want, err := ask(real, object, claims)
			if err != nil {
				return err
			}
			var found devices.Found
			status := finder.Find(s.Node(object.Name), &found)
			got := textOf(found.Allocations, status)
			n.Questions++
			if want == endless || strings.Contains(got, "timed out") {
				n.Endless++
				continue
			}
			switch {
			case strings.HasPrefix(want, "["):
				n.Granted++
			case strings.HasPrefix(want, "error: "):
				n.Errors++
			}
			if got != want {
				n.Differences = append(n.Differences, fmt.Sprintf("%s, step %d, node %s:\n  got  %s\n  want %s", id, step, object.Name, got, want))
			}
			if status.IsSuccess() {
				last = found
			}
		}
		for i, c := range last.Claims {
			next := *c.Claim
			next.Status.Allocation = last.Allocations[i]
			if err := framework.Put(s, &next); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *world) snapshot() (*framework.Snapshot, error) {
	o := &api.Objects{Nodes: w.nodes, DeviceClasses: w.classes, ResourceSlices: w.slices, ResourceClaims: w.used}
	for _, list := range w.claims {
		o.ResourceClaims = append(o.ResourceClaims, list...)
	}
	s, _, err := framework.SnapshotOf(o, framework.Arrival)
	return s, err
}

func podOf(s *framework.Snapshot, claims []*api.ResourceClaim, step int) (*framework.PodInfo, error) {
	p := api.MakePod(fmt.Sprint("p", step)).Obj()
	for _, c := range claims {
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, api.PodResourceClaim{Name: c.Name, ResourceClaimName: &c.Name})
	}
	return s.NewPodInfo(p)
}

// Searches can take exponential time. They are left out if the real allocator has not
// ended after some time, or this one after some steps.
const (
	patience = 300 * time.Millisecond
	steps    = 200_000
	endless  = "endless"
)

// ask asks the real allocator.
func ask(a structured.Allocator, node *api.Node, claims []*api.ResourceClaim) (string, error) {
	n, err := workload.Convert[v1.Node](node)
	if err != nil {
		return "", err
	}
	var list []*resourceapi.ResourceClaim
	for _, c := range claims {
		claim, err := workload.Convert[resourceapi.ResourceClaim](c)
		if err != nil {
			return "", err
		}
		list = append(list, claim)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	results, err := a.Allocate(ctx, n, list)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return endless, nil
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		return "rejected: " + err.Error(), nil
	case err != nil:
		return "error: " + cut(err.Error()), nil
	case results == nil:
		return "rejected: " + string(devices.ErrAllocate), nil
	}
	var converted []*api.AllocationResult
	for i := range results {
		data, err := json.Marshal(&results[i])
		if err != nil {
			return "", err
		}
		x := new(api.AllocationResult)
		if err := json.Unmarshal(data, x); err != nil {
			return "", err
		}
		converted = append(converted, x)
	}
	return textOf(converted, framework.Status{}), nil
}

// textOf returns an answer as text, without the names of shares.
func textOf(list []*api.AllocationResult, status framework.Status) string {
	switch {
	case status.Code() == framework.Error:
		return "error: " + cut(status.Message())
	case !status.IsSuccess():
		return "rejected: " + status.Message()
	}
	var copied []api.AllocationResult
	for _, a := range list {
		b := *a
		b.AllocationTimestamp, b.Devices.Results = nil, nil
		for _, r := range a.Devices.Results {
			if r.ShareID != nil {
				r.ShareID = new(api.UID("*"))
			}
			b.Devices.Results = append(b.Devices.Results, r)
		}
		copied = append(copied, b)
	}
	text, err := json.Marshal(copied)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// cut leaves out what a compiler says.
func cut(text string) string {
	for _, mark := range []string{"CEL compile error", "CEL runtime error"} {
		if at := strings.Index(text, mark); at >= 0 {
			return text[:at+len(mark)]
		}
	}
	return text
}

// allocatedState returns what the claims use, for the real allocator.
func allocatedState(claims []*api.ResourceClaim) (structured.AllocatedState, error) {
	state := structured.AllocatedState{
		AllocatedDevices: sets.New[structured.DeviceID](), AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity: structured.NewConsumedCapacityCollection(),
	}
	for _, c := range claims {
		claim, err := workload.Convert[resourceapi.ResourceClaim](c)
		if err != nil {
			return state, err
		}
		if claim.Status.Allocation == nil {
			continue
		}
		for _, r := range claim.Status.Allocation.Devices.Results {
			if r.AdminAccess != nil && *r.AdminAccess {
				continue
			}
			id := structured.MakeDeviceID(r.Driver, r.Pool, r.Device)
			if r.ShareID == nil {
				state.AllocatedDevices.Insert(id)
				continue
			}
			share := types.UID(*r.ShareID)
			state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, &share))
			if r.ConsumedCapacity != nil {
				state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, r.ConsumedCapacity))
			}
		}
	}
	return state, nil
}
