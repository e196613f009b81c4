package workload

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/berth-sched/berth/framework/api"
)

// hashed are the labels of a Deployment's pods, once somebody asks: those of the template, and its hash. This is the
// hash of the oldest of its ReplicaSets that has the template. Without ReplicaSets it is the hash that all of its pods
// have, and otherwise a new one.
//
// Source: kube-controller-manager 1.37, FindNewReplicaSet and ComputeHash.
type hashed struct {
	once   sync.Once
	labels map[string]string
	sets   []*api.ReplicaSet // of the Deployment
	pods   []string          // hashes of its pods, those of many pods once
}

// hashes finds what hashed has, by Deployment.
func hashes(o *api.Objects) map[string]*hashed {
	found := map[string]*hashed{}
	if len(o.Deployments) == 0 {
		return found
	}
	of := func(namespace, name string) *hashed {
		h := found[namespace+"/"+name]
		if h == nil {
			h = &hashed{}
			found[namespace+"/"+name] = h
		}
		return h
	}
	for _, x := range o.Deployments {
		of(x.Namespace, x.Name)
	}
	for _, x := range o.ReplicaSets {
		if owner := x.ControllerRef(); owner != nil && owner.Kind == "Deployment" {
			h := of(x.Namespace, owner.Name)
			h.sets = append(h.sets, x)
		}
	}
	for _, p := range o.Pods {
		if name := DeploymentOf(p); name != "" {
			if h := of(p.Namespace, name); !slices.Contains(h.pods, p.Labels[LabelTemplateHash]) && len(h.pods) < 2 {
				h.pods = append(h.pods, p.Labels[LabelTemplateHash])
			}
		}
	}
	return found
}

// Replace lets a workload take the place of an older version of it, which may have been listed with other objects: if a
// Deployment has the template that it had, pods get the same hash.
func (w *Workload) Replace(old *Workload) {
	if w.hashed != nil && old.hashed != nil && textOf(w.Template) == textOf(old.Template) {
		w.hashed = old.hashed
	}
}

func (h *hashed) of(template *api.PodTemplateSpec) map[string]string {
	h.once.Do(func() { h.labels = with(template.Labels, LabelTemplateHash, h.hash(template)) })
	return h.labels
}

func (h *hashed) hash(template *api.PodTemplateSpec) string {
	text := textOf(template)
	var current *api.ReplicaSet
	for _, set := range h.sets {
		older := current == nil || set.CreationTimestamp.Before(current.CreationTimestamp)
		if older && set.Spec.Template.Labels[LabelTemplateHash] != "" && textOf(&set.Spec.Template) == text {
			current = set
		}
	}
	if current != nil {
		return current.Spec.Template.Labels[LabelTemplateHash]
	}
	if len(h.sets) == 0 && len(h.pods) == 1 {
		return h.pods[0]
	}
	sum := uint32(2166136261) // FNV-1a: package hash/fnv is larger than this
	for i := range len(text) {
		sum = (sum ^ uint32(text[i])) * 16777619
	}
	hash := strconv.AppendUint(nil, uint64(sum), 10)
	const letters = "bcdfghjklmnpqrstvwxz2456789" // they spell no words
	for i, c := range hash {
		hash[i] = letters[int(c)%len(letters)]
	}
	return string(hash)
}

// textOf is a template as JSON, without a hash.
func textOf(template *api.PodTemplateSpec) string {
	t := *template
	if _, ok := t.Labels[LabelTemplateHash]; ok {
		t.Labels = maps.Clone(t.Labels)
		delete(t.Labels, LabelTemplateHash)
	}
	text, _ := json.Marshal(&t) // every template has a text
	return string(text)
}
