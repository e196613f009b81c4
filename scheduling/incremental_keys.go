package scheduling

import (
	"encoding/binary"

	"github.com/berth-sched/berth/framework"
)

// classKeys ask the plugins that are [framework.ClassKeyer] for their parts of the class
// key.
//
// Invariant: the versions of all of them are the same throughout an epoch, so the keys of
// pods are, too.
type classKeys struct {
	epoch    uint64 // above 0 after the first follow
	versions []uint64

	live, kept []byte // parts of the last pod, by whether the plugin is live
}

// follow begins a new epoch if the keys of pods may have changed. It returns false if a
// plugin panicked.
func (k *classKeys) follow(s *framework.Snapshot, t *plugins) (ok bool) {
	if len(t.keyers) == 0 {
		k.epoch = 1
		return true
	}
	defer k.contain(&ok)
	if k.epoch == 0 {
		k.versions = make([]uint64, len(t.keyers))
		k.epoch = 1
	}
	for i := range t.keyers {
		if v := t.keyers[i].ClassKeyVersion(s); v != k.versions[i] {
			k.versions[i] = v
			k.epoch++
		}
	}
	return true
}

// find fills live and kept for the cycle's pod, which the plugins read like that. It
// returns false if a plugin panicked.
func (k *classKeys) find(c *framework.Cycle, t *plugins, r *reading) (ok bool) {
	defer k.contain(&ok)
	k.live, k.kept = k.live[:0], k.kept[:0]
	for i := range t.keyers {
		x := &t.keyers[i]
		side := &r.filters
		if x.scores {
			side = &r.scorers
		}
		k.add(c, x.ClassKeyer, side.reads[x.at])
	}
	return true
}

// add appends one plugin's part, with its length behind it: no two lists of parts are
// then equal from the end. A plugin that reads the whole cluster is asked in every
// decision, so it needs no part.
func (k *classKeys) add(c *framework.Cycle, keyer framework.ClassKeyer, reads framework.Reads) {
	if reads&framework.ReadsCluster != 0 {
		return
	}
	to := &k.kept
	if reads&outside != 0 {
		to = &k.live
	}
	before := len(*to)
	*to = keyer.AppendClassKey(*to, c.Snapshot, c.Pod)
	*to = binary.BigEndian.AppendUint32(*to, uint32(len(*to)-before))
}

// contain turns a panic of a plugin into ok = false; deferred. The reference path meets
// the plugin again, and reports what it does there.
func (k *classKeys) contain(ok *bool) {
	if recover() != nil {
		*ok = false
		k.epoch++
	}
}
