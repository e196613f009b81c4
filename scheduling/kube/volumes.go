package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/scheduling/kube/internal/feed"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// volumeBinder is the PreBind part of VolumeBinding: it writes what Reserve has chosen,
// and waits until the volume controller and the provisioners have bound every claim.
//
// Source: kube-scheduler 1.37, volumebinding, BindPodVolumes.
//
// Differs: the wait.
// Original: kube-scheduler looks at the claims every second.
// Here: every change of a volume or a claim is looked at.
// Why: the pod starts up to a second earlier.
type volumeBinder struct {
	s       *Scheduler
	timeout time.Duration // 0: fail unless everything is bound at once
}

func (volumeBinder) Name() string { return "VolumeBinding" }

// PreBindPreFlight skips pods whose claims are all bound.
func (volumeBinder) PreBindPreFlight(_ context.Context, c *framework.Cycle, _ string) (bool, framework.Status) {
	if b, ok := filter.ClaimBindingsKey.Get(c); !ok || b.AllBound {
		return true, framework.SkipStatus()
	}
	return true, framework.Status{}
}

func (v volumeBinder) PreBind(ctx context.Context, c *framework.Cycle, node string) framework.Status {
	b, ok := filter.ClaimBindingsKey.Get(c)
	if !ok || b.AllBound {
		return framework.Status{}
	}
	ctx, done := v.s.acting(ctx)
	defer done()
	w := binding{cluster: v.s.cluster, pod: c.Pod.Pod, node: node}
	if err := w.write(ctx, v.s, b); err != nil {
		return framework.AsStatus(err)
	}
	if err := await(ctx, v.s.cluster, v.timeout, w.bound); err != nil {
		return framework.AsStatus(fmt.Errorf("binding volumes: %w", err))
	}
	return framework.Status{}
}

// binding is what has been written for one pod: objects as the API server returned them.
type binding struct {
	cluster *feed.Cluster
	pod     *api.Pod
	node    string
	volumes []*corev1.PersistentVolume
	claims  []*corev1.PersistentVolumeClaim
}

func (w *binding) write(ctx context.Context, s *Scheduler, b filter.ClaimBindings) error {
	core := s.config.Client.CoreV1()
	for _, r := range b.Volumes {
		patch, err := r.MergePatch()
		if err != nil {
			return err
		}
		v, err := core.PersistentVolumes().Patch(ctx, r.Volume, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("reserving volume %s: %w", r.Volume, err)
		}
		w.volumes = append(w.volumes, v)
	}
	for _, n := range b.Claims {
		patch, err := n.MergePatch()
		if err != nil {
			return err
		}
		c, err := core.PersistentVolumeClaims(n.Namespace).Patch(ctx, n.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		if err != nil {
			return fmt.Errorf("noting the node on claim %s/%s: %w", n.Namespace, n.Name, err)
		}
		w.claims = append(w.claims, c)
	}
	return nil
}

// bound reports whether every claim is bound. An error means that the pod must be
// scheduled again.
func (w *binding) bound() (bool, error) {
	node := w.cluster.Nodes.Get(w.node)
	switch {
	case node == nil:
		return false, fmt.Errorf("node %s does not exist any more", w.node)
	case w.cluster.Pods.Get(w.pod.Key()) == nil:
		return false, errors.New("the pod does not exist any more")
	}
	for _, written := range w.volumes {
		v := w.cluster.Volumes.Get(written.Name)
		if v == nil {
			return false, fmt.Errorf("volume %s does not exist any more", written.Name)
		}
		if older(&v.ObjectMeta, written.ResourceVersion) {
			return false, nil
		}
		if err := usable(v, node); err != nil {
			return false, err
		}
		r := v.Spec.ClaimRef
		if r == nil || r.UID == "" {
			return false, fmt.Errorf("ClaimRef got reset for pv %q", v.Name)
		}
		claim := w.cluster.Claims.Get(r.Namespace + "/" + r.Name)
		if claim == nil {
			return false, fmt.Errorf("claim %s/%s does not exist any more", r.Namespace, r.Name)
		}
		if !isBound(claim) {
			return false, nil
		}
	}
	for _, written := range w.claims {
		claim := w.cluster.Claims.Get(feed.KeyOf(written))
		if claim == nil {
			return false, fmt.Errorf("claim %s does not exist any more", feed.KeyOf(written))
		}
		if older(&claim.ObjectMeta, written.ResourceVersion) {
			return false, nil
		}
		if claim.Annotations[api.AnnSelectedNode] != w.node {
			return false, fmt.Errorf("provisioning failed for PVC %q", claim.Name)
		}
		if claim.Spec.VolumeName != "" {
			v := w.cluster.Volumes.Get(claim.Spec.VolumeName)
			if v == nil {
				return false, nil // it comes with a later event
			}
			if err := usable(v, node); err != nil {
				return false, err
			}
		}
		if !isBound(claim) {
			return false, nil
		}
	}
	return true, nil
}

// isBound reports whether the volume controller has bound a claim.
func isBound(c *api.PersistentVolumeClaim) bool {
	_, completed := c.Annotations[api.AnnBindCompleted]
	return completed && c.Spec.VolumeName != ""
}

// older reports whether the feed has not got to a version yet.
func older(m *api.ObjectMeta, version string) bool {
	order, ok := api.CompareResourceVersions(m.ResourceVersion, version)
	return ok && order < 0
}

// usable returns an error if the node cannot use the volume.
func usable(v *api.PersistentVolume, node *api.Node) error {
	if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
		if s := match.NewNodeSelector(a.Required); !s.Matches(node) {
			return fmt.Errorf("pv %q node affinity doesn't match node %q: no matching NodeSelectorTerms", v.Name, node.Name)
		}
	}
	return nil
}

// await looks at every change of a volume or a claim, and every deletion, until ready
// reports true or an error.
func await(ctx context.Context, c *feed.Cluster, timeout time.Duration, ready func() (bool, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("timed out after %v", timeout))
	defer cancel()
	return lifecycle.Await(ctx, func() error {
		for {
			changed := c.Changed()
			if ok, err := ready(); ok || err != nil {
				return err
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
}
