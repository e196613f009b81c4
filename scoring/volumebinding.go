package scoring

import (
	"fmt"
	"math"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/incremental"
	"github.com/berth-sched/berth/internal/volumes"
	"github.com/berth-sched/berth/resource"
)

// VolumeBinding scores how far the pod's unbound claims would fill the storage that
// they take: the mean over storage classes of
//
//	Shape at (100*requested/capacity)
//
// If claims would be bound to existing volumes, requested is the sum over those
// claims of the class, and capacity the sum over their volumes. If there are none,
// requested is the sum over the claims to provision for, and capacity the free space
// of the class on the node, from its CSIStorageCapacity; classes without one do not
// count. A class without capacity, or with less than is requested, counts as filled
// to 100.
//
// Scores are from 0 to 100 and are not normalized; pods without such claims
// score 0 everywhere.
//
// Source: kube-scheduler 1.37, plugin VolumeBinding, with the feature gate
// StorageCapacityScoring on. Before 1.37 the gate is off, and nothing is scored.
//
// Differs: a class whose claims and volumes exceed 8 EiB.
// Original: kube-scheduler's sums wrap around.
// Here: sums saturate, so the class is filled to 100.
// Why: a wrapped number helps nobody.
//
// Differs: a CSIStorageCapacity that holds no capacity.
// Original: kube-scheduler crashes.
// Here: the capacity is 0.
// Why: bad input must not end the program.
//
// Differs: a class that the old annotation names.
// Original: kube-scheduler crashes.
// Here: the annotation names the class.
// Why: valid input must not end the program.
type VolumeBinding struct {
	// Shape maps utilization in percent to a score from 0 to 10. Empty means 10 at 0
	// % and 0 at 100 %: the emptiest storage first.
	Shape Shape
}

// Name returns "VolumeBinding".
func (VolumeBinding) Name() string { return volumeBindingName }

const volumeBindingName = "VolumeBinding"

// Validate reports a shape that is not ascending or leaves its bounds.
func (p VolumeBinding) Validate() error {
	if len(p.Shape) == 0 {
		return nil
	}
	if err := p.Shape.check(); err != nil {
		return fmt.Errorf("%s: %w", volumeBindingName, err)
	}
	return nil
}

// Scope declares that a score reads the node, and of the pod's claims what is in the class key; for a pod
// without claims it reads nothing.
func (VolumeBinding) Scope(pod *framework.PodInfo) framework.Scope {
	if len(volumes.Of(pod).Claims) == 0 {
		return framework.Scope{}
	}
	return volumes.ScopeOf(pod)
}

// AppendClassKey implements [incremental.ClassKeyer]: it appends what the filter of the same name does.
func (VolumeBinding) AppendClassKey(b []byte, s *framework.Snapshot, pod *framework.PodInfo) []byte {
	return volumes.AppendBindingKey(b, s, pod)
}

// ClassKeyVersion implements [incremental.ClassKeyer].
func (VolumeBinding) ClassKeyVersion(s *framework.Snapshot) uint64 { return volumes.KeyVersion(s) }

// KeyConcern implements [incremental.ConcernedKeyer]: pods with volumes. All others score 0.
func (VolumeBinding) KeyConcern() framework.PodParts { return framework.PartVolumes }

// ClassKeySource implements [incremental.SharedKeyer].
func (VolumeBinding) ClassKeySource() string { return volumes.KeySource }

// ScopeVaries implements [incremental.VaryingScoper].
func (VolumeBinding) ScopeVaries() framework.PodParts { return framework.PartVolumes }

// PreScore reuses the result of PreFilter of the filter of the same name, or
// computes it. It fails for pods that this filter rejects before it sees any node,
// and for a configuration that Validate rejects.
func (p VolumeBinding) PreScore(c *framework.Cycle, _ []*framework.NodeInfo) (framework.NodeScorer, framework.Status) {
	return p.PreScoreGroups(c, nil)
}

// PreScoreGroups implements [incremental.GroupPreScorePlugin]: the set does not matter.
func (p VolumeBinding) PreScoreGroups(c *framework.Cycle, _ incremental.FeasibleNodes) (framework.NodeScorer, framework.Status) {
	if err := p.Validate(); err != nil {
		return nil, framework.AsStatus(err)
	}
	if len(volumes.Of(c.Pod).Claims) == 0 {
		return noClaims{}, framework.Status{}
	}
	f := framework.Scratch[volumeBinding](c)
	shape := p.Shape
	if len(shape) == 0 {
		shape = defaultVolumeShape[:]
	}
	f.shape.follow(shape)
	if shared, ok := volumes.FinderKey.Get(c); ok {
		f.finder = shared
		return f, framework.Status{}
	}
	if status := f.own.Prepare(c.Snapshot, c.Pod); !status.IsSuccess() {
		return nil, framework.AsStatus(volumes.ErrNotPrepared)
	}
	f.finder = &f.own
	return f, framework.Status{}
}

var defaultVolumeShape = [...]ShapePoint{{Utilization: 0, Score: maxShapeScore}, {Utilization: 100, Score: 0}}

// noClaims scores pods that have no claims.
type noClaims struct{}

func (noClaims) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }

// ScoreNodes scores all nodes 0.
func (noClaims) ScoreNodes(_ *framework.PodInfo, _ []*framework.NodeInfo, scores []int64) {
	clear(scores)
}

// volumeBinding is the bound scorer.
type volumeBinding struct {
	shape  shapeTable
	finder *volumes.Finder
	own    volumes.Finder
}

// Version implements [incremental.DomainTracker].
func (f *volumeBinding) Version() uint64 { return f.finder.Version() }

// Changed implements [incremental.DomainTracker].
func (f *volumeBinding) Changed(since uint64, dirty func(slot int)) bool {
	return f.finder.Changed(since, dirty)
}

func (f *volumeBinding) Score(_ *framework.PodInfo, node *framework.NodeInfo) int64 {
	if f.finder.AllBound() {
		return 0
	}
	var room volumes.Room
	found, reasons, err := f.finder.Find(node, room.Empty())
	if reasons != 0 || err != nil {
		return 0
	}
	var buffer [4]classStorage
	classes := classStorages{list: buffer[:0]}
	for _, b := range found.Bindings {
		class := classes.of(b.Volume.Spec.StorageClassName)
		class.add(b.Claim)
		size := b.Volume.Spec.Capacity[resource.Storage]
		class.capacity = resource.SatAdd(class.capacity, size.Value())
	}
	if len(found.Bindings) == 0 {
		for _, p := range found.Provisions {
			if p.From == nil {
				continue
			}
			class := classes.of(volumes.ClassOfClaim(p.Claim))
			class.add(p.Claim)
			class.capacity = 0
			if p.From.Capacity != nil {
				class.capacity = p.From.Capacity.Value()
			}
		}
	}
	return classes.score(&f.shape)
}

// classStorage is the storage of one class that claims would use.
type classStorage struct {
	name                string
	requested, capacity int64
}

func (s *classStorage) add(c *api.PersistentVolumeClaim) {
	request := c.Spec.Resources.Requests[resource.Storage]
	s.requested = resource.SatAdd(s.requested, request.Value())
}

type classStorages struct{ list []classStorage }

func (s *classStorages) of(name string) *classStorage {
	for i := range s.list {
		if s.list[i].name == name {
			return &s.list[i]
		}
	}
	s.list = append(s.list, classStorage{name: name})
	return &s.list[len(s.list)-1]
}

// score is the mean over the classes, rounded.
func (s *classStorages) score(shape *shapeTable) int64 {
	if len(s.list) == 0 {
		return 0
	}
	var sum int64
	for i := range s.list {
		sum += shape.scaled.At(StorageUtilization(s.list[i].requested, s.list[i].capacity))
	}
	return int64(math.Round(float64(sum) / float64(len(s.list))))
}

// StorageUtilization returns the requested percentage of a capacity, truncated:
// 100*requested/capacity, and 100 if there is no capacity or not enough. Invalid
// input such as a negative capacity gives the formula's result.
//
// Source: kube-scheduler 1.37, volumebinding, buildScorerFunction.
//
// Differs: more than 92 quadrillion bytes.
// Original: the product wraps around.
// Here: the result is exact for all int64.
// Why: a wrapped number helps nobody.
func StorageUtilization(requested, capacity int64) int64 {
	if capacity == 0 || requested > capacity {
		return framework.MaxNodeScore
	}
	percent := resource.MulDiv(resource.Magnitude(requested), uint64(framework.MaxNodeScore), 0, resource.Magnitude(capacity))
	if (requested < 0) != (capacity < 0) {
		return -int64(min(percent, 1<<63)) // -1<<63 is its own negative
	}
	return int64(min(percent, math.MaxInt64))
}
