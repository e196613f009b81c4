package volumes

import (
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/cow"
)

// An attachment is a volume that is attached to a node by a driver, or is to be.
type attachment struct{ node, driver, volume string }

// attachmentOf returns what a VolumeAttachment says; the zero attachment if that is no persistent
// volume of a driver.
func attachmentOf(a *api.VolumeAttachment) attachment {
	if a == nil || a.Spec.Attacher == "" || a.Spec.Source.PersistentVolumeName == nil || *a.Spec.Source.PersistentVolumeName == "" {
		return attachment{}
	}
	return attachment{a.Spec.NodeName, a.Spec.Attacher, *a.Spec.Source.PersistentVolumeName}
}

// attachments are those of a snapshot, by name and by node. Lists never change.
type attachments struct {
	named  cow.Map[string, attachment]
	byNode cow.Map[string, []attachment]
}

func attachmentsIn(s *framework.Snapshot) (x attachments) {
	by := map[string][]attachment{}
	for _, o := range framework.List[api.VolumeAttachment](s) {
		if a := attachmentOf(o); a != (attachment{}) {
			x.named.Set(o.Key(), a)
			by[a.node] = append(by[a.node], a)
		}
	}
	for node, list := range by {
		x.byNode.Set(node, list)
	}
	return x
}

func (x *attachments) fork() attachments {
	return attachments{x.named.Fork(), x.byNode.Fork()}
}

// on returns the attachments to a node.
func (x *attachments) on(node string) []attachment {
	list, _ := x.byNode.Get(node)
	return list
}

// set follows the attachment of a name, and returns the nodes that this concerns.
func (x *attachments) set(s *framework.Snapshot, name string, o *api.VolumeAttachment) (nodes []string) {
	was, _ := x.named.Get(name)
	is := attachmentOf(o)
	if was == is {
		return nil
	}
	if was != (attachment{}) {
		list := slices.Clone(x.on(was.node))
		i := slices.Index(list, was) // it is one of those that are equal
		x.setOn(s, was.node, slices.Delete(list, i, i+1))
		nodes = append(nodes, was.node)
	}
	if is == (attachment{}) {
		change(s, &x.named, name, nil)
		return nodes
	}
	x.setOn(s, is.node, append(slices.Clip(x.on(is.node)), is))
	change(s, &x.named, name, &is)
	return append(nodes, is.node)
}

func (x *attachments) setOn(s *framework.Snapshot, node string, list []attachment) {
	if len(list) == 0 {
		change(s, &x.byNode, node, nil)
		return
	}
	change(s, &x.byNode, node, &list)
}

// handlesOf returns the volumes of attachments, as far as they are those of a CSI driver.
func handlesOf(s *framework.Snapshot, list []attachment) (h Handles) {
	for _, a := range list {
		if v := framework.Lookup[api.PersistentVolume](s, a.volume); v != nil && v.Spec.CSI != nil {
			h.add(Handle{Driver: a.driver, Name: v.Spec.CSI.VolumeHandle})
		}
	}
	return h
}
