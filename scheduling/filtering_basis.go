package scheduling

import (
	"slices"
	"time"

	"github.com/berth-sched/berth/framework"
)

// A basis is what the PreFilter plugins of a [Filtering] read when they ran, as far as it
// may change while the filters are in use. The filters themselves read the snapshot as it
// is.
type basis struct {
	found   bool            // the plugins ran without an error
	reads   framework.Reads // what they declare, together
	version uint64          // of the nodes and pods
	objects uint64          // of all other objects
	nodeSet uint64          // of the node objects
	keys    classKeys       // versions of what the class keys read: affinity terms of pods, for one
	wide    bool            // another pod may change what some plugin found
	now     time.Time       // of the snapshot
	held    []holder        // filters whose Dropped has to be asked
}

// A holder is a bound filter that reads something the snapshot keeps only while it is asked
// for, or that no class key tells. Dropped reports whether it has been given up, or is another now.
type holder interface{ Dropped() bool }

// begin makes the versions those of now. It comes before the plugins run, so that what changes while they run counts
// as a change since.
func (b *basis) begin(r *referencePath) {
	b.found = false
	snap := r.cycle.Snapshot
	b.version, b.objects, b.nodeSet, b.now = snap.Version(), snap.Objects(), snap.NodeSet(), snap.Now()
	b.keysChanged(snap, r.plugins, r.cycle.Pod)
}

// set notes what the plugins have bound, once they ran.
func (b *basis) set(r *referencePath, some *choice) {
	b.found = true
	b.wide = slices.ContainsFunc(some.pre, func(i int) bool { return r.readsPods(&r.plugins.preFilters[i]) })
	b.reads = 0
	for _, i := range some.pre {
		b.reads |= r.plugins.preFilters[i].scope.of(r.cycle.Pod).Reads
	}
	b.held = b.held[:0]
	b.hold(r.bound.filters)
}

// hold notes which of these filters are holders.
func (b *basis) hold(filters []boundFilter) {
	for _, f := range filters {
		if h, ok := f.Filter.(holder); ok {
			b.held = append(b.held, h)
		}
	}
}

// readsPods reports whether a pod that comes or goes may change what a PreFilter plugin
// found. What a plugin with a class key has bound reads the pods of a domain as they are; but one that had nothing
// to do may have something to do, unless it is idle as long as the class keys stand.
func (r *referencePath) readsPods(p *preFilter) (reads bool) {
	defer func() {
		if recover() != nil {
			reads = true
		}
	}()
	switch scope := p.scope.of(r.cycle.Pod).Reads; {
	case scope&framework.ReadsCluster != 0:
		return true
	case !p.scope.looksBeyond(r.cycle.Pod):
		return false
	case p.keyer == nil:
		return true
	case p.filter >= 0 && r.bound.perFilter[p.filter] != nil:
		return false
	default:
		return p.idler == nil || !p.idler.Idle(&r.cycle)
	}
}

// stands reports whether the PreFilter plugins would find what they found.
func (b *basis) stands(r *referencePath) bool {
	if !b.found {
		return false
	}
	for _, h := range b.held {
		if h.Dropped() {
			return false
		}
	}
	snap := r.cycle.Snapshot
	switch {
	case b.objects != snap.Objects():
		return false
	case b.nodeSet != snap.NodeSet() && b.reads&framework.ReadsNodeSet != 0:
		return false
	case !b.now.Equal(snap.Now()) && b.reads&(framework.ReadsTime|framework.ReadsCluster) != 0:
		return false
	}
	if b.version == snap.Version() {
		return true
	}
	b.version = snap.Version()
	return !b.wide && !b.keysChanged(snap, r.plugins, r.cycle.Pod)
}

// keysChanged reports whether versions of class keys that concern the pod have changed since it was called last.
// A plugin that panics counts as changed.
func (b *basis) keysChanged(snap *framework.Snapshot, t *plugins, pod *framework.PodInfo) (changed bool) {
	defer func() {
		if recover() != nil {
			changed = true
		}
	}()
	was := b.keys.epoch
	b.keys.follow(snap, t, allOf(pod))
	return b.keys.epoch != was
}

// follow runs the PreFilter plugins again if what they read may have changed. A broken snapshot is an error.
func (f *Filtering) follow() error {
	if err := f.path.cycle.Snapshot.Broken(); err != nil {
		return err
	}
	if f.basis.stands(f.path) {
		return nil
	}
	return f.Rebind()
}
