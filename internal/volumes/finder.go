package volumes

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/resource"
)

// Reasons is a set of reasons why a pod's claims exclude a node.
type Reasons uint64

// The reasons, in the order of reports.
const (
	Conflict Reasons = 1 << iota // the node cannot use a bound volume
	NoVolume                     // an unbound claim has no volume there, and none can be made
	NoSpace                      // a volume could be made, but there is no free capacity
	Gone                         // a bound volume does not exist
)

// A Binding assigns a volume to a claim.
type Binding struct {
	Claim  *api.PersistentVolumeClaim
	Volume *api.PersistentVolume
}

// A Provision is a claim that needs a new volume.
type Provision struct {
	Claim *api.PersistentVolumeClaim
	// From is the capacity for the volume, or nil if capacity is not tracked.
	From *api.CSIStorageCapacity
}

// Found holds the volumes that the claims of a pod would get on a node.
type Found struct {
	Bindings   []Binding
	Provisions []Provision
}

// Room is memory for a Found with the usual number of claims. If the caller does
// not keep the Found, Room can stay on the stack.
type Room struct {
	bindings   [4]Binding
	provisions [4]Provision
}

// Empty returns an empty Found that uses the memory of r.
func (r *Room) Empty() Found { return Found{r.bindings[:0], r.provisions[:0]} }

// A Finder finds the volumes that each node has for the claims of one pod. Prepare
// fills it once per cycle. Several goroutines may then ask it about many nodes.
//
// Source: kube-scheduler 1.37, volumebinding, GetPodVolumeClaims and
// FindPodVolumes.
type Finder struct {
	snapshot *framework.Snapshot
	bound    []boundClaim // one for each volume
	waiting  []waitingClaim
	selected []int // indexes in waiting: claims with a selected node
	others   []int // indexes in waiting: the others, by size
	pools    []poolInUse
	cursors  int // how many cursors the indexes of the pools need
	// remainders has the place of a pool's remainder on a node, for pools that claims with selectors use.
	remainders map[*pool]int
}

// A boundClaim is a claim that has a volume.
type boundClaim struct {
	claim    *api.PersistentVolumeClaim
	missing  bool // the volume does not exist
	affinity Affinity

	// plugin is the in-tree plugin of the volume, or "". On nodes where a CSI
	// driver has taken over that plugin, migrated and err apply.
	plugin   string
	migrated Affinity
	err      error
}

// A waitingClaim is a claim that gets its volume together with the pod's node.
type waitingClaim struct {
	claim     *api.PersistentVolumeClaim
	first     int    // index in waiting of the first mount of this claim, which is looked up once
	node      string // the node selected for it
	provision provision

	sought   bool      // what follows has been found
	reserved []*volume // reserved for this claim, by name
	pool     int       // index of the pool where it chooses
	from     int       // rank of the first volume there that is large enough
	err      error     // the claim cannot be matched with any volume
}

// FinderKey provides the cycle's Finder after a successful Prepare.
var FinderKey = framework.NewKey[*Finder]("volumes")

const errUnbound = framework.Text("pod has unbound immediate PersistentVolumeClaims")

// Prepare reads the claims of a pod. The status is Skip for a pod without claims.
// It rejects the pod if a claim is missing, is being deleted, or should have a
// volume by now. It is Error for an incomplete class.
func (f *Finder) Prepare(s *framework.Snapshot, pod *framework.PodInfo) framework.Status {
	f.snapshot, f.bound, f.waiting = s, f.bound[:0], f.waiting[:0]
	f.selected, f.others = f.selected[:0], f.others[:0]
	refs := Of(pod).Claims
	if len(refs) == 0 {
		return framework.SkipStatus()
	}
	claims := make([]*api.PersistentVolumeClaim, len(refs))
	for i, ref := range refs {
		var err error
		if claims[i], err = usableClaim(s, pod.Pod, ref); err != nil {
			return framework.UnresolvableStatus(framework.Text(err.Error()))
		}
	}
	immediate := false
	var names [4]string
	volumes := distinct[string]{list: names[:0]}
	var room [4]*api.PersistentVolumeClaim
	others := distinct[*api.PersistentVolumeClaim]{list: room[:0]}
	var places [4]int
	firsts := places[:0] // indexes in waiting of others
	for _, claim := range claims {
		switch waits, err := waits(s, claim); {
		case err != nil:
			return framework.AsStatus(err)
		case IsBound(claim):
			if name := claim.Spec.VolumeName; !volumes.has(name) {
				volumes = volumes.with(name)
				f.bound = append(f.bound, boundClaimOf(s, claim))
			}
		case waits:
			at := others.at(claim)
			if at < 0 {
				at = len(firsts)
				others, firsts = others.with(claim), append(firsts, len(f.waiting))
			}
			f.waiting = append(f.waiting, waitingClaim{claim: claim, first: firsts[at]})
		default:
			immediate = true
		}
	}
	if immediate {
		return framework.UnresolvableStatus(errUnbound)
	}
	f.prepareWaiting()
	return framework.Status{}
}

// usableClaim returns the claim that a pod refers to, or an error if the pod cannot
// use it.
func usableClaim(s *framework.Snapshot, pod *api.Pod, ref ClaimRef) (*api.PersistentVolumeClaim, error) {
	claim, err := Claim(s, pod.Namespace, ref.Name)
	switch {
	case err != nil && ref.Ephemeral:
		return nil, fmt.Errorf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", errtext.Cut(ref.Name, maxText))
	case err != nil:
		return nil, err
	case claim.Status.Phase == api.ClaimLost:
		return nil, fmt.Errorf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", claim.Name, claim.Spec.VolumeName)
	case claim.DeletionTimestamp != nil:
		return nil, fmt.Errorf("persistentvolumeclaim %q is being deleted", claim.Name)
	case ref.Ephemeral:
		return claim, CheckOwner(pod, claim)
	}
	return claim, nil
}

// IsBound reports whether a claim is finally bound to a volume.
func IsBound(c *api.PersistentVolumeClaim) bool {
	_, completed := c.Annotations[api.AnnBindCompleted]
	return completed && c.Spec.VolumeName != ""
}

// waits reports whether an unbound claim waits for its first pod.
func waits(s *framework.Snapshot, c *api.PersistentVolumeClaim) (bool, error) {
	name := ClassOfClaim(c)
	if IsBound(c) || name == "" {
		return false, nil
	}
	class := framework.Lookup[api.StorageClass](s, name)
	switch {
	case class == nil:
		return false, nil
	case class.VolumeBindingMode == nil:
		return false, fmt.Errorf("VolumeBindingMode not set for StorageClass %q", name)
	}
	return *class.VolumeBindingMode == api.VolumeBindingWaitForFirstConsumer && c.Spec.VolumeName == "", nil
}

func boundClaimOf(s *framework.Snapshot, c *api.PersistentVolumeClaim) (b boundClaim) {
	v, err := Volume(s, c.Spec.VolumeName)
	if err != nil {
		return boundClaim{claim: c, missing: true}
	}
	b = boundVolume(v)
	b.claim = c
	return b
}

// boundVolume is a boundClaim without its claim.
func boundVolume(v *api.PersistentVolume) (b boundClaim) {
	b.affinity = AffinityOf(v.Spec.NodeAffinity)
	plugin := inTreeOfVolume(&v.Spec.PersistentVolumeSource)
	if plugin == nil || !plugin.countable {
		return b
	}
	b.plugin = plugin.name
	if _, err := handleOfVolume(v); err != nil {
		b.err = fmt.Errorf("could not translate pv: %w", err)
		return b
	}
	b.migrated = AffinityOf(migratedAffinity(v, plugin))
	return b
}

func (f *Finder) prepareWaiting() {
	for i := range f.waiting {
		w := &f.waiting[i]
		if w.first == i {
			w.provision = f.provisionFor(w.claim)
		} else {
			w.provision = f.waiting[w.first].provision
		}
		if node, ok := w.claim.Annotations[api.AnnSelectedNode]; ok {
			w.node = node
			f.selected = append(f.selected, i)
			continue
		}
		f.others = append(f.others, i)
	}
	// Smaller claims choose first. The order of equal sizes follows Go's unstable
	// sorting algorithm; kube-scheduler uses the same.
	slices.SortFunc(f.others, func(a, b int) int { return f.waiting[a].request().Cmp(f.waiting[b].request()) })
	if len(f.others) > 0 {
		f.findCandidates()
	}
}

func (w *waitingClaim) request() resource.Quantity {
	return w.claim.Spec.Resources.Requests[resource.Storage]
}

// Version is [incremental.DomainTracker.Version] for a filter that asks Find: the drivers that take over in-tree
// volumes, if the pod has any. Everything else is in the class key.
func (f *Finder) Version() uint64 {
	if !f.readsDrivers() {
		return 0
	}
	return AttachedTo(f.snapshot).Version()
}

// Changed is [incremental.DomainTracker.Changed].
func (f *Finder) Changed(since uint64, dirty func(slot int)) bool {
	return !f.readsDrivers() || AttachedTo(f.snapshot).Changed(since, dirty)
}

func (f *Finder) readsDrivers() bool {
	return slices.ContainsFunc(f.bound, func(b boundClaim) bool { return b.plugin != "" })
}

// AllBound reports whether all claims have their volumes.
func (f *Finder) AllBound() bool { return len(f.waiting) == 0 }

// Find appends the volumes that the claims would get on the node to found. Pass an
// empty found; Find uses its memory. The result is meaningful only if there are no
// reasons against the node.
func (f *Finder) Find(n *framework.NodeInfo, found Found) (Found, Reasons, error) {
	reasons, err := f.checkBound(n)
	if err != nil || len(f.waiting) == 0 {
		return found, reasons, err
	}
	found, more, err := f.findWaiting(n.Node, found)
	return found, reasons | more, err
}

// checkBound stops at the first claim that excludes the node.
func (f *Finder) checkBound(n *framework.NodeInfo) (Reasons, error) {
	for i := range f.bound {
		b := &f.bound[i]
		affinity, err := b.affinityOn(f.snapshot, n)
		switch {
		case err != nil:
			return 0, err
		case b.missing:
			return Gone, nil
		case !affinity.Allows(n.Node):
			return Conflict, nil
		}
	}
	return 0, nil
}

// affinityOn returns where the volume can be used, as far as the node is concerned.
func (b *boundClaim) affinityOn(s *framework.Snapshot, n *framework.NodeInfo) (*Affinity, error) {
	if b.plugin == "" {
		return &b.affinity, nil
	}
	return b.affinityWith(CSINode(s, n.Name()))
}

// affinityWith is affinityOn for a node with the drivers, or nil if they are not known.
func (b *boundClaim) affinityWith(drivers *api.CSINode) (*Affinity, error) {
	if !Migrated(drivers, b.plugin) {
		return &b.affinity, nil
	}
	return &b.migrated, b.err
}

// UsableOn reports whether a node with the drivers, or nil if they are not known, can use the volume.
func UsableOn(v *api.PersistentVolume, node *api.Node, drivers *api.CSINode) (bool, error) {
	b := boundVolume(v)
	affinity, err := b.affinityWith(drivers)
	if err != nil {
		return false, err
	}
	return affinity.Allows(node), nil
}

// findWaiting binds claims to existing volumes where possible and provisions the
// rest. A claim without a matching volume is no reason by itself: provisioning
// decides.
func (f *Finder) findWaiting(n *api.Node, found Found) (Found, Reasons, error) {
	for _, i := range f.selected {
		if f.waiting[i].node != n.Name {
			return found, NoVolume, nil
		}
	}
	var buffer [8]int
	bindings, unmatched, err := f.match(n, found.Bindings, buffer[:0])
	if found.Bindings = bindings; err != nil {
		return found, 0, err
	}
	found.Provisions = slices.Grow(found.Provisions, len(f.selected)+len(unmatched))
	var last provision // its answer is that of the next claim, if that asks for the same
	var from *api.CSIStorageCapacity
	for _, list := range [...][]int{f.selected, unmatched} {
		for _, i := range list {
			w := &f.waiting[i]
			if w.provision != last {
				var reason Reasons
				if reason, from, err = w.provision.on(n); reason != 0 || err != nil {
					return found, reason, err
				}
				last = w.provision
			}
			found.Provisions = append(found.Provisions, Provision{w.claim, from})
		}
	}
	return found, 0, nil
}

// match gives existing volumes to claims, where that is possible. It appends to bindings,
// and the indexes in waiting of the other claims to unmatched.
func (f *Finder) match(n *api.Node, bindings []Binding, unmatched []int) ([]Binding, []int, error) {
	var buffer [8]int
	cursors := buffer[:]
	if f.cursors > len(buffer) {
		cursors = make([]int, f.cursors)
	}
	var taken takenVolumes
	var rest []remainder
	for _, i := range f.others {
		w := &f.waiting[i]
		if w.err != nil {
			return bindings, unmatched, w.err
		}
		if v := f.volumeFor(w, n, taken, bindings, cursors, &rest); v != nil {
			bindings = append(bindings, Binding{w.claim, v.object})
			taken.add(bindings)
		} else {
			unmatched = append(unmatched, i)
		}
	}
	return bindings, unmatched, nil
}

// ErrNotPrepared is a scorer's error for a pod whose claims PreFilter rejected.
var ErrNotPrepared = errors.New("not found")
