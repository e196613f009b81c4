package devices

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/errtext"
)

// A PodClaim is a claim of a pod.
type PodClaim struct {
	Claim *api.ResourceClaim
	// Entry names the pod's entry if the claim is virtual: it has not been made, and
	// stands for the one that will be made from the template.
	Entry string
	// Extended is set for the claim of the pod's extended resources.
	Extended bool
}

// A claimRef is what an entry of a pod stands for: a claim, or the template that the claim
// is still to be made from.
type claimRef struct {
	entry    string
	claim    *api.ResourceClaim
	template *api.ResourceClaimTemplate
}

// spec returns what the claim asks for.
func (r *claimRef) spec() *api.DeviceClaim {
	if r.template != nil {
		return &r.template.Spec.Spec.Devices
	}
	return &r.claim.Spec.Devices
}

// allocated reports whether the claim has its devices.
func (r *claimRef) allocated() bool { return r.claim != nil && r.claim.Status.Allocation != nil }

// podRefs are the references of a pod at a version.
type podRefs struct {
	pod     *framework.PodInfo
	version uint64
	list    []claimRef
	err     error
	texts   []byte   // of the demands of the list, those of a template once
	spans   [][2]int // where each begins and ends
}

// text returns the demand of a reference as text; it is empty if that has its devices. See
// [appendDemand].
func (r *podRefs) text(i int) []byte { return r.texts[r.spans[i][0]:r.spans[i][1]] }

// find finds the texts of the list.
func (r *podRefs) find(plain *plainText) {
	r.texts, r.spans = r.texts[:0], r.spans[:0]
	var known map[*api.ResourceClaimTemplate]int // of a long list, the first with the template
	if len(r.list) > fewClaims {
		known = make(map[*api.ResourceClaimTemplate]int, fewClaims)
	}
	for i := range r.list {
		if first := r.firstLike(i, known); first < i {
			r.spans = append(r.spans, r.spans[first])
			continue
		}
		start := len(r.texts)
		if c := &r.list[i]; !c.allocated() {
			r.texts = plain.append(r.texts, c.spec())
		}
		r.spans = append(r.spans, [2]int{start, len(r.texts)})
	}
}

// firstLike is the place of the first reference with the template of reference i; known are those before it, in a
// long list.
func (r *podRefs) firstLike(i int, known map[*api.ResourceClaimTemplate]int) int {
	t := r.list[i].template
	switch {
	case t == nil:
		return i
	case known == nil:
		return slices.IndexFunc(r.list, func(o claimRef) bool { return o.template == t })
	}
	if first, ok := known[t]; ok {
		return first
	}
	known[t] = i
	return i
}

// refsOf returns what the entries of a pod stand for, in their order. The error is the
// reason why the pod must wait. The list stands until the next call.
func (x *State) refsOf(s *framework.Snapshot, pod *framework.PodInfo) ([]claimRef, error) {
	r := &x.refs
	if v := x.version.of(s).key; r.pod != pod || r.version != v {
		r.pod, r.version = pod, v
		r.list, r.err = appendRefs(r.list[:0], s, pod.Pod)
		r.find(&x.plain)
	}
	return r.list, r.err
}

// appendRefs appends what the entries of a pod stand for to an empty list.
func appendRefs(list []claimRef, s *framework.Snapshot, pod *api.Pod) ([]claimRef, error) {
	made := madeClaimsOf(pod)
	var known map[*api.ResourceClaim]bool // of a long list
	if len(pod.Spec.ResourceClaims) > fewClaims {
		known = make(map[*api.ResourceClaim]bool, len(pod.Spec.ResourceClaims))
	}
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name, isMade, err := made.name(entry)
		if err != nil {
			return list, err
		}
		if !isMade && name == "" {
			t := framework.Lookup[api.ResourceClaimTemplate](s, pod.Namespace+"/"+*entry.ResourceClaimTemplateName)
			if t == nil {
				return list, fmt.Errorf("pod %q: ResourceClaim not created yet", pod.Key())
			}
			list = append(list, claimRef{entry: entry.Name, template: t})
			continue
		}
		if name == "" {
			continue // no claim is needed
		}
		c, err := usableClaim(s, pod, name, entry.ResourceClaimName == nil)
		if err != nil {
			return list, err
		}
		switch {
		case known == nil && slices.ContainsFunc(list, func(x claimRef) bool { return x.claim == c }), known[c]:
			continue
		case known != nil:
			known[c] = true
		}
		list = append(list, claimRef{entry: entry.Name, claim: c})
	}
	return list, nil
}

// ClaimsOf returns the claims of a pod in the order of its entries. The error is the
// reason why the pod must wait.
//
// A claim that a template is still to be made into is virtual, if the snapshot has the
// template. kube-scheduler never reads templates.
func ClaimsOf(s *framework.Snapshot, pod *api.Pod) ([]PodClaim, error) {
	refs, err := appendRefs(nil, s, pod)
	if err != nil {
		return nil, err
	}
	list := make([]PodClaim, len(refs))
	for i := range refs {
		list[i] = refs[i].of(pod, nil)
	}
	return list, nil
}

// of returns the claim for the pod. known has annotations of virtual claims.
func (r *claimRef) of(pod *api.Pod, known *annotations) PodClaim {
	if r.template != nil {
		return PodClaim{Claim: virtualClaim(pod, r, known), Entry: r.entry}
	}
	return PodClaim{Claim: r.claim}
}

// madeClaims finds the status of a claim that was made for an entry of a pod, the first
// one of that name. It costs O(1) an entry.
type madeClaims struct {
	pod    *api.Pod
	byName map[string]*api.PodResourceClaimStatus // nil for few statuses, which are looked through
}

func madeClaimsOf(pod *api.Pod) madeClaims {
	x := madeClaims{pod: pod}
	if list := pod.Status.ResourceClaimStatuses; len(list) > fewClaims {
		x.byName = make(map[string]*api.PodResourceClaimStatus, len(list))
		for i := len(list) - 1; i >= 0; i-- {
			x.byName[list[i].Name] = &list[i]
		}
	}
	return x
}

func (x *madeClaims) of(entry string) *api.PodResourceClaimStatus {
	if x.byName != nil {
		return x.byName[entry]
	}
	list := x.pod.Status.ResourceClaimStatuses
	for i := range list {
		if list[i].Name == entry {
			return &list[i]
		}
	}
	return nil
}

// name returns the name of the claim of an entry, "" if it needs none. made is false if
// the claim has not been made.
func (x *madeClaims) name(entry *api.PodResourceClaim) (name string, made bool, err error) {
	switch {
	case entry.ResourceClaimName != nil:
		return *entry.ResourceClaimName, true, nil
	case entry.ResourceClaimTemplateName == nil:
		return "", false, fmt.Errorf("pod %q, spec.resourceClaim %q: none of the supported fields are set", x.pod.Key(), shown(entry.Name))
	}
	s := x.of(entry.Name)
	switch {
	case s == nil:
		return "", false, nil
	case s.ResourceClaimName == nil:
		return "", true, nil
	}
	return *s.ResourceClaimName, true, nil
}

// shown returns a name as errors repeat it. An API server takes 253 bytes.
func shown(name string) string { return errtext.Cut(name, 1<<10) }

func usableClaim(s *framework.Snapshot, pod *api.Pod, name string, owned bool) (*api.ResourceClaim, error) {
	var c *api.ResourceClaim
	if pod.Namespace == "" {
		c = framework.Lookup[api.ResourceClaim](s, name)
	} else {
		var room [64]byte // a longer key is made elsewhere
		key := append(append(append(room[:0], pod.Namespace...), '/'), name...)
		c = framework.Lookup[api.ResourceClaim](s, string(key))
	}
	switch {
	case c == nil:
		meta := api.ObjectMeta{Namespace: pod.Namespace, Name: name}
		return nil, fmt.Errorf("could not find ResourceClaim %q", shown(meta.Key()))
	case c.DeletionTimestamp != nil:
		return nil, fmt.Errorf("resourceclaim %q is being deleted", c.Name)
	case owned:
		if o := c.ControllerRef(); o == nil || o.UID != pod.UID {
			return nil, fmt.Errorf("ResourceClaim %s was not created for Pod %s (Pod is not owner)", c.Key(), pod.Key())
		}
	}
	return c, nil
}

// virtualClaim returns the claim that would be made for the pod.
func virtualClaim(pod *api.Pod, r *claimRef, known *annotations) *api.ResourceClaim {
	x := &struct {
		claim      api.ResourceClaim
		owner      [1]api.OwnerReference
		controller bool
	}{controller: true}
	x.owner[0] = api.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: &x.controller}
	c := &x.claim
	c.Spec = r.template.Spec.Spec
	c.Name, c.Namespace = pod.Name+"-"+r.entry+"-", pod.Namespace
	c.Labels, c.Annotations = r.template.Spec.Labels, known.of(r)
	c.OwnerReferences = x.owner[:]
	return c
}

// annotations keeps the annotations of virtual claims: those for one entry and template are
// the same. They must not be changed.
type annotations struct {
	known map[annotated]map[string]string
}

type annotated struct {
	entry    string
	template *api.ResourceClaimTemplate
}

// maxAnnotations bounds how many annotations are kept. Beyond it, all are made anew.
const maxAnnotations = 1 << 10

// of returns the annotations of a virtual claim. nil keeps none.
func (k *annotations) of(r *claimRef) map[string]string {
	key := annotated{r.entry, r.template}
	if k != nil {
		if m, ok := k.known[key]; ok {
			return m
		}
	}
	m := map[string]string{}
	maps.Copy(m, r.template.Spec.Annotations)
	m[api.AnnPodClaimName] = r.entry
	if k == nil {
		return m
	}
	if k.known == nil || len(k.known) >= maxAnnotations {
		k.known = map[annotated]map[string]string{}
	}
	k.known[key] = m
	return m
}

func ownerOf(pod *api.Pod) api.OwnerReference {
	return api.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: new(true)}
}

// IsReservedFor reports whether the pod may use the claim already.
func IsReservedFor(c *api.ResourceClaim, pod *api.Pod) bool {
	return slices.ContainsFunc(c.Status.ReservedFor, func(r api.ResourceClaimConsumerReference) bool { return r.UID == pod.UID })
}
