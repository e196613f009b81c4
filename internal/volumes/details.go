package volumes

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
)

// Details returns, for people, why Find excludes the node: the claim at which it stops,
// and what that claim lacks there. It returns nothing for a node that Find accepts, and
// for one about which it fails.
func (f *Finder) Details(n *framework.NodeInfo) []framework.Detail {
	if reasons, err := f.checkBound(n); reasons != 0 || err != nil {
		return f.boundDetails(n)
	}
	if _, reasons, err := f.findWaiting(n.Node, Found{}); reasons == 0 || err != nil {
		return nil
	}
	return f.waitingDetails(n.Node)
}

// boundDetails is about the first claim whose volume excludes the node.
func (f *Finder) boundDetails(n *framework.NodeInfo) (list []framework.Detail) {
	for i := range f.bound {
		b := &f.bound[i]
		affinity, err := b.affinityOn(f.snapshot, n)
		subject := fmt.Sprintf("claim %s: volume %s", b.claim.Key(), b.claim.Spec.VolumeName)
		switch {
		case err != nil:
			return nil
		case b.missing:
			return []framework.Detail{{Subject: subject + " does not exist"}}
		case !affinity.Allows(n.Node):
			for _, text := range affinity.unmet(n.Node) {
				list = append(list, framework.Detail{Subject: subject + ": " + text})
			}
			return list
		}
	}
	return nil
}

// waitingDetails is about the first claim that can get no volume on the node, in the
// order of findWaiting.
func (f *Finder) waitingDetails(n *api.Node) []framework.Detail {
	for _, i := range f.selected {
		if w := &f.waiting[i]; w.node != n.Name {
			return []framework.Detail{{Subject: fmt.Sprintf("claim %s: its volume is made for node %s", w.claim.Key(), w.node)}}
		}
	}
	_, unmatched, err := f.match(n, nil, nil)
	if err != nil {
		return nil
	}
	for _, list := range [...][]int{f.selected, unmatched} {
		for _, i := range list {
			w := &f.waiting[i]
			if reason, _, err := w.provision.on(n); reason != 0 || err != nil {
				return []framework.Detail{f.lacks(w, n, reason)}
			}
		}
	}
	return nil
}

// lacks says what keeps a claim from getting a new volume on the node.
func (f *Finder) lacks(w *waitingClaim, n *api.Node, reason Reasons) framework.Detail {
	class := ClassOfClaim(w.claim)
	subject := fmt.Sprintf("claim %s: no volume fits, and class %s makes none", w.claim.Key(), class)
	switch {
	case reason == NoSpace:
		asked := w.request()
		return framework.Detail{
			Subject: fmt.Sprintf("claim %s: largest new volume of class %s", w.claim.Key(), class),
			Unit:    framework.UnitBytes, Asked: asked.Value(), Limit: f.largest(class, n),
		}
	case !w.provision.impossible:
		subject += " on this node"
	}
	return framework.Detail{Subject: subject}
}

// largest is how many bytes a new volume of a class can have on a node, at most.
func (f *Finder) largest(class string, n *api.Node) (bytes int64) {
	for _, c := range catalogKey.Of(f.snapshot).capacitiesIn() {
		if c.object.StorageClassName == class && c.known && c.nodes.Matches(n.Labels) {
			bytes = max(bytes, c.limit)
		}
	}
	return bytes
}

// unmet says what the node lacks.
func (a *Affinity) unmet(n *api.Node) []string {
	unnamed := api.Node{ObjectMeta: api.ObjectMeta{Labels: n.Labels}}
	return match.Unmet(a.source, &unnamed)
}
