package estimator

import (
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// The labels by which Koordinator classifies pods.
const (
	// LabelPriorityClass names the pod's [PriorityClass].
	LabelPriorityClass = "koordinator.sh/priority-class"
	// LabelQoSClass names the pod's quality of service for Koordinator: LSE,
	// LSR, LS, BE or SYSTEM.
	LabelQoSClass = "koordinator.sh/qosClass"
)

// The resources that Koordinator offers to pods of the classes batch and mid:
// thousandths of a CPU, and bytes.
const (
	BatchCPU    resource.Name = "kubernetes.io/batch-cpu"
	BatchMemory resource.Name = "kubernetes.io/batch-memory"
	MidCPU      resource.Name = "kubernetes.io/mid-cpu"
	MidMemory   resource.Name = "kubernetes.io/mid-memory"
)

// PriorityClass is Koordinator's rank of a pod. Production pods are guaranteed
// their resources; the others share the remainder.
type PriorityClass string

// The priority classes.
const (
	PriorityProd  PriorityClass = "koord-prod"
	PriorityMid   PriorityClass = "koord-mid"
	PriorityBatch PriorityClass = "koord-batch"
	PriorityFree  PriorityClass = "koord-free"
	PriorityNone  PriorityClass = ""
)

// PodPriorityClass returns the class of a pod. If the pod has [LabelPriorityClass],
// the label decides. Otherwise the range of spec.priority decides: 9000 to 9999
// prod, 7000 to 7999 mid, 5000 to 5999 batch, 3000 to 3999 free. If these give no
// class, [LabelQoSClass] decides. Without it, the pod's Kubernetes QoS class
// decides, from the status or else computed: best effort is batch, everything else
// prod.
//
// So a plain pod without requests is batch, and one with any request is prod.
//
// Source: Koordinator 1.8, apis/extension. Koordinator 1.4 has the same rules, but
// does not know resources of the pod as a whole.
func PodPriorityClass(p *api.Pod) PriorityClass { return priorityClass(p, true) }

func priorityClass(p *api.Pod, podLevel bool) PriorityClass {
	if class, ok := namedClass(p); ok {
		return class
	}
	if p.Status.QOSClass != "" {
		return qosPriority(p.Status.QOSClass)
	}
	return computedPriority(p, podLevel)
}

// readsStatus reports whether the pod's class depends on the QoS class in its
// status.
func readsStatus(p *api.Pod, podLevel bool) bool {
	if p.Status.QOSClass == "" {
		return false
	}
	_, ok := namedClass(p)
	return !ok && qosPriority(p.Status.QOSClass) != computedPriority(p, podLevel)
}

// namedClass returns the class given by the pod's labels or priority.
func namedClass(p *api.Pod) (c PriorityClass, ok bool) {
	if class, ok := p.Labels[LabelPriorityClass]; ok {
		switch c := PriorityClass(class); c {
		case PriorityProd, PriorityMid, PriorityBatch, PriorityFree:
			return c, true
		}
	} else if p.Spec.Priority != nil {
		switch *p.Spec.Priority / 1000 {
		case 9:
			return PriorityProd, true
		case 7:
			return PriorityMid, true
		case 5:
			return PriorityBatch, true
		case 3:
			return PriorityFree, true
		}
	}
	switch p.Labels[LabelQoSClass] {
	case "LSE", "LSR", "LS", "SYSTEM":
		return PriorityProd, true
	case "BE":
		return PriorityBatch, true
	}
	return PriorityNone, false
}

func qosPriority(qos api.PodQOSClass) PriorityClass {
	switch qos {
	case api.PodQOSGuaranteed, api.PodQOSBurstable:
		return PriorityProd
	case api.PodQOSBestEffort:
		return PriorityBatch
	}
	return PriorityNone
}

// TranslateResource returns the resource that a pod of the class requests in place
// of cpu or memory: the name itself for prod and none, the batch or mid variant for
// these classes, and "" if there is none.
//
// Source: Koordinator 1.8, TranslateResourceNameByPriorityClass.
func TranslateResource(class PriorityClass, name resource.Name) resource.Name {
	switch class {
	case PriorityProd, PriorityNone:
		return name
	case PriorityBatch:
		switch name {
		case resource.CPU:
			return BatchCPU
		case resource.Memory:
			return BatchMemory
		}
	case PriorityMid:
		switch name {
		case resource.CPU:
			return MidCPU
		case resource.Memory:
			return MidMemory
		}
	}
	return ""
}

// computedPriority returns the class for the QoS class that Kubernetes computes. A
// pod without any positive request or limit of cpu and memory is best effort; the
// difference between guaranteed and burstable does not matter here. Resources of
// the pod as a whole replace those of all containers.
//
// Source: kubectl 0.35, pkg/util/qos; with podLevel false Kubernetes 1.24.
func computedPriority(p *api.Pod, podLevel bool) PriorityClass {
	if podLevel && p.Spec.Resources != nil {
		if asks(p.Spec.Resources) {
			return PriorityProd
		}
		return PriorityBatch
	}
	for _, list := range [...][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range list {
			if asks(&list[i].Resources) {
				return PriorityProd
			}
		}
	}
	return PriorityBatch
}

// asks reports whether r requests or limits any cpu or memory.
func asks(r *api.ResourceRequirements) bool {
	for _, list := range [...]resource.List{r.Requests, r.Limits} {
		for _, name := range [...]resource.Name{resource.CPU, resource.Memory} {
			if q := list[name]; q.Sign() > 0 {
				return true
			}
		}
	}
	return false
}
