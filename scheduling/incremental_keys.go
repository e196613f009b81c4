package scheduling

import (
	"encoding/binary"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// classKeys ask the plugins that are [incremental.ClassKeyer] for their parts of the class
// key.
//
// Invariant: throughout an epoch, the versions of all of them that a pod concerns are the
// same whenever the pod is asked about, so its key is, too.
type classKeys struct {
	epoch    uint64   // above 0 after the first follow
	versions []uint64 // of plugins.keyVersions
	asking   bool     // a plugin is running

	live, kept []byte // parts of the last pod, by whether the plugin is live
}

// follow begins a new epoch if the key of a pod with the parts may have changed.
func (k *classKeys) follow(s *framework.Snapshot, t *plugins, parts podParts) {
	k.begin(t)
	k.asking = true
	asked := t.keyVersions
	if t.versionParts.has(parts) == 0 {
		asked = asked[:t.alwaysAsked]
	}
	for i := range asked {
		if x := &asked[i]; x.concern.in(parts) {
			k.compare(i, x.plugin.ClassKeyVersion(s))
		}
	}
	k.asking = false
}

// followAll begins a new epoch if the key of any pod may have changed.
func (k *classKeys) followAll(s *framework.Snapshot, t *plugins) {
	k.begin(t)
	k.asking = true
	for i := range t.keyVersions {
		k.compare(i, t.keyVersions[i].plugin.ClassKeyVersion(s))
	}
	k.asking = false
}

// begin begins the first epoch.
func (k *classKeys) begin(t *plugins) {
	if k.epoch == 0 {
		k.versions = make([]uint64, len(t.keyVersions))
		k.epoch = 1
	}
}

func (k *classKeys) compare(i int, version uint64) {
	if k.versions[i] != version {
		k.versions[i] = version
		k.epoch++
	}
}

// find fills live and kept for the cycle's pod, which has the parts and which the plugins read
// like that.
func (k *classKeys) find(c *framework.Cycle, t *plugins, parts podParts, r *reading) {
	k.asking = true
	k.live = k.live[:0]
	k.kept = binary.LittleEndian.AppendUint16(k.kept[:0], uint16(t.keyParts.has(parts))) // which keyers are asked
	for i := range t.keyers {
		x := &t.keyers[i]
		if !x.concern.in(parts) {
			continue
		}
		side := &r.filters
		if x.scores {
			side = &r.scorers
		}
		k.add(c, x.ClassKeyer, side.reads[x.at])
	}
	k.asking = false
}

// add appends one plugin's part, with its length behind it: no two lists of parts are
// then equal from the end. A plugin that reads the whole cluster is asked in every
// decision, so it needs no part.
func (k *classKeys) add(c *framework.Cycle, keyer incremental.ClassKeyer, reads framework.Reads) {
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

// panicked reports whether the panic that was recovered is a plugin's. Then nothing that
// is known of keys holds. The reference path meets the plugin again, and reports it.
func (k *classKeys) panicked() bool {
	if !k.asking {
		return false
	}
	k.asking = false
	k.epoch++
	return true
}
