package workload

import (
	"encoding/json"
	"maps"
	"strconv"
	"sync"

	"github.com/berth-sched/berth/framework/api"
)

// hashed are the labels of a Deployment's pods, once somebody asks: those of the template, and its hash. This is the
// hash of the oldest of its ReplicaSets that has the template, and otherwise a new one.
//
// Source: kube-controller-manager 1.37, FindNewReplicaSet and ComputeHash.
type hashed struct {
	once   sync.Once
	labels map[string]string
	sets   []*api.ReplicaSet // of the Deployment
}

func (h *hashed) of(template *api.PodTemplateSpec) map[string]string {
	h.once.Do(func() { h.labels = with(template.Labels, LabelTemplateHash, hashOf(template, h.sets)) })
	return h.labels
}

func hashOf(template *api.PodTemplateSpec, sets []*api.ReplicaSet) string {
	text := textOf(template)
	var current *api.ReplicaSet
	for _, set := range sets {
		older := current == nil || set.CreationTimestamp.Before(current.CreationTimestamp)
		if older && set.Spec.Template.Labels[LabelTemplateHash] != "" && textOf(&set.Spec.Template) == text {
			current = set
		}
	}
	if current != nil {
		return current.Spec.Template.Labels[LabelTemplateHash]
	}
	h := uint32(2166136261) // FNV-1a: package hash/fnv is larger than this
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	hash := strconv.AppendUint(nil, uint64(h), 10)
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
