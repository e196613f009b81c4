package devices

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/resource"
)

// caseMaker makes the pods and claims of one case.
type caseMaker struct {
	*world
	r *rand.Rand
	c *golden.DeviceCase
}

// NewCase makes a random cluster and a series of pods that need its devices. Pods name
// claims of their own, claims of pods before them, claims made from templates, claims that
// have their devices, and extended resources; some name what cannot be used.
func NewCase(r *rand.Rand, id string) *golden.DeviceCase {
	m := &caseMaker{newWorld(r), r, &golden.DeviceCase{ID: id, Family: "live"}}
	if chance(r, 3) {
		m.c.Family = "extended"
	}
	m.extend()
	for range r.IntN(3) {
		m.c.TaintRules = append(m.c.TaintRules, m.rule())
	}
	m.part()
	for i := range m.used {
		m.settle(m.used[i])
	}
	m.c.Claims = append(m.c.Claims, m.used...)
	for i, list := range m.claims {
		m.c.Steps = append(m.c.Steps, golden.DeviceStep{Pod: m.pod(i, list)})
		if len(m.used) > 0 && chance(r, 6) {
			m.c.Steps = append(m.c.Steps, golden.DeviceStep{Free: pick(r, m.used...).Key()})
		}
	}
	m.c.Nodes, m.c.Classes, m.c.Slices = m.nodes, m.classes, m.slices
	return m.c
}

// extend puts classes behind extended resources, and offers of the nodes themselves.
func (m *caseMaker) extend() {
	for _, c := range m.classes {
		switch {
		case c.Name == "gpu" && !chance(m.r, 4):
			c.Spec.ExtendedResourceName = new("example.com/gpu")
		case c.Name == "nic" && chance(m.r, 2):
			c.Spec.ExtendedResourceName = new("example.com/nic")
		case c.Name == "low" && chance(m.r, 6):
			c.Spec.ExtendedResourceName = new("example.com/gpu") // two classes, one resource
			c.CreationTimestamp = time.Date(2020+m.r.IntN(2), 1, 1, 0, 0, 0, 0, time.UTC)
		}
	}
	for _, n := range m.nodes {
		for _, name := range []resource.Name{"example.com/gpu", "example.com/nic", "other.io/fpga"} {
			if chance(m.r, 4) {
				n.Status.Allocatable[name] = resource.MustParse(pick(m.r, "0", "1", "4"))
			}
		}
	}
}

// part takes devices from claims that another claim has, too. kube-scheduler keeps them in
// a set, so it forgets both when one of the claims loses them; no cluster has such claims.
func (m *caseMaker) part() {
	taken := map[string]bool{}
	for _, c := range m.used {
		a := &c.Status.Allocation.Devices
		a.Results = slices.DeleteFunc(a.Results, func(x api.DeviceRequestAllocationResult) bool {
			id := x.Driver + "/" + x.Pool + "/" + x.Device
			if x.AdminAccess != nil || x.ShareID != nil {
				return false
			}
			twice := taken[id]
			taken[id] = true
			return twice
		})
		if len(a.Results) == 0 {
			a.Results = nil
		}
	}
}

func (m *caseMaker) rule() *api.DeviceTaintRule {
	rule := &api.DeviceTaintRule{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint("rule-", len(m.c.TaintRules))}}
	rule.Spec.Taint = api.DeviceTaint{Key: pick(m.r, "k", "l"), Value: pick(m.r, "", "v"), Effect: pick(m.r, api.DeviceTaintEffectNoSchedule, api.DeviceTaintEffectNoExecute, api.DeviceTaintEffectNone)}
	if chance(m.r, 6) {
		return rule // selects nothing
	}
	s := new(api.DeviceTaintSelector)
	rule.Spec.DeviceSelector = s
	switch m.r.IntN(5) {
	case 0:
		s.Driver = new(pick(m.r, "gpu.example.com", "nic.example.com"))
	case 1:
		s.Pool = new(pick(m.r, "n0", "n1", "net"))
	case 2:
		if chance(m.r, 3) {
			break // every device
		}
		fallthrough
	default:
		s.Device = new(pick(m.r, "gpu-0", "gpu-1", "nic-0", "net-1-0"))
	}
	return rule
}

// The times of allocations are far from every now.
var (
	longAgo = time.Date(2023, 1, 1, 0, 0, 0, 0, time.UTC)
	notYet  = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// settle completes a claim that has its devices: where it can be used, who uses it, and
// the state of its binding conditions.
func (m *caseMaker) settle(c *api.ResourceClaim) {
	a := c.Status.Allocation
	switch m.r.IntN(4) {
	case 0:
		a.NodeSelector = &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{MatchFields: []api.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: api.NodeSelectorOpIn, Values: []string{pick(m.r, m.nodes...).Name}},
		}}}}
	case 1:
		a.NodeSelector = zone(m.r, pick(m.r, "a", "b"))
	case 2:
		if chance(m.r, 8) {
			a.NodeSelector = zone(m.r, "a")
			a.NodeSelector.NodeSelectorTerms[0].MatchExpressions = []api.NodeSelectorRequirement{{Key: "zone", Operator: "Near", Values: []string{"a"}}}
		}
	}
	if chance(m.r, 3) && len(a.Devices.Results) > 0 {
		x := &a.Devices.Results[0]
		x.BindingConditions, x.BindingFailureConditions = []string{"Attached"}, []string{"Failed"}
		a.AllocationTimestamp = new(pick(m.r, longAgo, notYet))
		if !chance(m.r, 4) {
			status := api.AllocatedDeviceStatus{Driver: x.Driver, Pool: x.Pool, Device: x.Device}
			for _, name := range []string{"Attached", "Failed"} {
				if chance(m.r, 2) {
					status.Conditions = append(status.Conditions, api.Condition{Type: name, Status: pick(m.r, api.ConditionTrue, api.ConditionFalse)})
				}
			}
			c.Status.Devices = append(c.Status.Devices, status)
		}
	}
	for range m.r.IntN(3) {
		name := pick(m.r, "p0", "p1", "someone", "another")
		user := api.ResourceClaimConsumerReference{Resource: "pods", Name: name, UID: api.UID("uid-" + name)}
		if len(c.Status.ReservedFor) == 0 || c.Status.ReservedFor[0] != user {
			c.Status.ReservedFor = append(c.Status.ReservedFor, user)
		}
	}
	if chance(m.r, 24) {
		c.DeletionTimestamp = new(longAgo)
	}
}

// pod makes a pod that names the claims, and more.
func (m *caseMaker) pod(i int, list []*api.ResourceClaim) *api.Pod {
	name := fmt.Sprint("p", i)
	p := api.MakePod(name).UID(api.UID("uid-"+name)).Requests("100m", "64Mi").Obj()
	p.Spec.SchedulerName = "default-scheduler"
	if chance(m.r, 12) {
		list = nil
	}
	for _, c := range list {
		m.spoil(c)
		if chance(m.r, 3) {
			m.made(p, c)
		} else {
			m.name(p, c.Name)
		}
		m.c.Claims = append(m.c.Claims, c)
	}
	if len(m.used) > 0 && chance(m.r, 2) {
		m.name(p, pick(m.r, m.used...).Name)
		if chance(m.r, 2) {
			m.name(p, pick(m.r, m.used...).Name)
		}
	}
	if len(m.c.Claims) > 0 && chance(m.r, 4) {
		m.name(p, pick(m.r, m.c.Claims...).Name)
	}
	switch m.r.IntN(40) {
	case 0:
		m.name(p, "missing")
	case 1:
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, api.PodResourceClaim{Name: "nothing"})
	case 2:
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, api.PodResourceClaim{Name: "waits", ResourceClaimTemplateName: new("t")})
	case 3:
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, api.PodResourceClaim{Name: "none", ResourceClaimTemplateName: new("t")})
		p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, api.PodResourceClaimStatus{Name: "none"})
	}
	if m.c.Family == "extended" && !chance(m.r, 4) {
		m.extended(p)
	}
	return p
}

// name makes the pod name the claim, unless it does so already.
func (m *caseMaker) name(p *api.Pod, claim string) {
	for _, e := range p.Spec.ResourceClaims {
		if e.ResourceClaimName != nil && *e.ResourceClaimName == claim {
			return
		}
	}
	for _, made := range p.Status.ResourceClaimStatuses {
		if made.ResourceClaimName != nil && *made.ResourceClaimName == claim {
			return
		}
	}
	p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, api.PodResourceClaim{Name: fmt.Sprint("e", len(p.Spec.ResourceClaims)), ResourceClaimName: &claim})
}

// made makes the claim one that was made for the pod from a template, or for another pod.
func (m *caseMaker) made(p *api.Pod, c *api.ResourceClaim) {
	entry := fmt.Sprint("e", len(p.Spec.ResourceClaims))
	p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, api.PodResourceClaim{Name: entry, ResourceClaimTemplateName: new("t")})
	p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, api.PodResourceClaimStatus{Name: entry, ResourceClaimName: &c.Name})
	owner := api.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}
	switch m.r.IntN(20) {
	case 0:
		owner.UID = "another"
	case 1:
		owner.Controller = nil
	}
	c.OwnerReferences = []api.OwnerReference{owner}
	c.Annotations = map[string]string{api.AnnPodClaimName: entry}
}

// spoil makes few claims such that they cannot be allocated.
func (m *caseMaker) spoil(c *api.ResourceClaim) {
	requests := c.Spec.Devices.Requests
	if !chance(m.r, 12) || len(requests) == 0 {
		return
	}
	q := &requests[m.r.IntN(len(requests))]
	switch m.r.IntN(6) {
	case 0:
		q.Exactly, q.FirstAvailable = nil, nil
	case 1, 2:
		class := pick(m.r, "", "missing")
		if q.Exactly != nil {
			q.Exactly.DeviceClassName = class
		} else {
			q.FirstAvailable[len(q.FirstAvailable)-1].DeviceClassName = class
		}
	case 3:
		if q.Exactly != nil {
			q.Exactly.AllocationMode = "Some"
		}
	case 4:
		c.Spec.Devices.Constraints = append(c.Spec.Devices.Constraints, api.DeviceConstraint{})
	case 5:
		c.DeletionTimestamp = new(longAgo)
	}
}

// extended makes containers ask for extended resources. An earlier attempt may have left
// a claim for them.
func (m *caseMaker) extended(p *api.Pod) {
	request := func(c *api.Container) {
		for range m.r.IntN(3) {
			if c.Resources.Requests == nil {
				c.Resources.Requests = resource.List{}
			}
			name := pick(m.r, resource.Name("example.com/gpu"), "example.com/gpu", "example.com/nic", "deviceclass.resource.kubernetes.io/gpu", "deviceclass.resource.kubernetes.io/any", "other.io/fpga")
			if name == "other.io/fpga" && !chance(m.r, 3) {
				continue
			}
			c.Resources.Requests[name] = resource.MustParse(pick(m.r, "1", "1", "1", "2", "3", "0"))
		}
	}
	for i := range m.r.IntN(3) {
		c := api.Container{Name: fmt.Sprint("i", i)}
		if chance(m.r, 3) {
			c.RestartPolicy = new(api.ContainerRestartPolicyAlways)
		}
		request(&c)
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	request(&p.Spec.Containers[0])
	if chance(m.r, 2) {
		c := api.Container{Name: "second"}
		request(&c)
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
	if chance(m.r, 8) {
		m.left(p)
	}
}

// left adds a claim that an earlier attempt made for the extended resources of the pod.
func (m *caseMaker) left(p *api.Pod) {
	c := newClaim(m.r, p.Name+"-extended-resources-old")
	c.Annotations = map[string]string{api.AnnExtendedResourceClaim: "true"}
	c.OwnerReferences = []api.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}}
	if chance(m.r, 3) {
		c.Spec.Devices.Requests = nil
	}
	m.c.Claims = append(m.c.Claims, c)
}
