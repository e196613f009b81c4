package cases_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/internal/proof/parity/kubernetes/cases"
	"github.com/berth-sched/berth/resource"
)

// kind is a situation that the cases of a family must include.
type kind struct {
	name string
	is   func(*golden.Case) bool
}

// kinds lists the kinds of each family.
var kinds = map[string][]kind{
	"volumes": slices.Concat(volumeKinds, claimKinds, csiKinds),
	"features": {
		{"declared features", anyNode(func(n *api.Node) bool { return len(n.Status.DeclaredFeatures) > 1 })},
		{"declared features, not sorted", anyNode(func(n *api.Node) bool { return !slices.IsSorted(n.Status.DeclaredFeatures) })},
		{"host network with users of its own", pending(func(p *api.Pod) bool {
			return p.Spec.HostNetwork && p.Spec.HostUsers != nil && !*p.Spec.HostUsers
		})},
		{"restart of all containers", pending(anyContainer(func(c *api.Container) bool {
			return len(c.RestartPolicyRules) > 0 && c.RestartPolicyRules[0].Action == api.ContainerRestartRuleActionRestartAllContainers
		}))},
		{"bind mount options", pending(anyContainer(func(c *api.Container) bool {
			return len(c.VolumeMounts) > 0 && len(c.VolumeMounts[0].BindMountOptions) > 0
		}))},
	},
	"interpod": {
		{"matchLabelKeys", pending(anyTerm(func(t *api.PodAffinityTerm) bool { return len(t.MatchLabelKeys) > 0 }))},
		{"mismatchLabelKeys", placed(anyTerm(func(t *api.PodAffinityTerm) bool { return len(t.MismatchLabelKeys) > 0 }))},
		{"empty namespace selector", pending(anyTerm(func(t *api.PodAffinityTerm) bool {
			return t.NamespaceSelector != nil && t.NamespaceSelector.MatchLabels == nil && t.NamespaceSelector.MatchExpressions == nil
		}))},
		{"malformed namespace selector", placed(anyTerm(func(t *api.PodAffinityTerm) bool { return hasOperator(t.NamespaceSelector, "Odd") }))},
		{"malformed label selector", placed(anyTerm(func(t *api.PodAffinityTerm) bool {
			return hasOperator(t.LabelSelector, "Odd", "Gt", "Lt", "")
		}))},
		{"no label selector", pending(anyTerm(func(t *api.PodAffinityTerm) bool { return t.LabelSelector == nil }))},
		{"namespace that does not exist", placed(anyTerm(func(t *api.PodAffinityTerm) bool { return slices.Contains(t.Namespaces, "nowhere") }))},
		{"empty topology key", placed(anyTerm(func(t *api.PodAffinityTerm) bool { return t.TopologyKey == "" }))},
		{"weight below 1", placed(func(p *api.Pod) bool {
			return p.Spec.Affinity != nil && p.Spec.Affinity.PodAffinity != nil && slices.ContainsFunc(p.Spec.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				func(t api.WeightedPodAffinityTerm) bool { return t.Weight < 1 })
		})},
		{"namespace without labels", func(c *golden.Case) bool {
			return slices.ContainsFunc(c.Namespaces, func(n *api.Namespace) bool { return n.Labels == nil })
		}},
		{"node without labels", anyNode(func(n *api.Node) bool { return n.Labels == nil })},
	},
	"spread": {
		{"maxSkew below 1", anyConstraint(func(c *api.TopologySpreadConstraint) bool { return c.MaxSkew < 1 })},
		{"huge maxSkew", anyConstraint(func(c *api.TopologySpreadConstraint) bool { return c.MaxSkew >= 1000000 })},
		{"minDomains below 1", anyConstraint(func(c *api.TopologySpreadConstraint) bool { return c.MinDomains != nil && *c.MinDomains < 1 })},
		{"huge minDomains", anyConstraint(func(c *api.TopologySpreadConstraint) bool { return c.MinDomains != nil && *c.MinDomains >= 100 })},
		{"absent matchLabelKeys", anyConstraint(func(c *api.TopologySpreadConstraint) bool { return slices.Contains(c.MatchLabelKeys, "absent") })},
		{"odd action", anyConstraint(func(c *api.TopologySpreadConstraint) bool {
			return c.WhenUnsatisfiable != api.DoNotSchedule && c.WhenUnsatisfiable != api.ScheduleAnyway
		})},
		{"both policies", anyConstraint(func(c *api.TopologySpreadConstraint) bool {
			return c.NodeAffinityPolicy != nil && c.NodeTaintsPolicy != nil
		})},
		{"one key twice", pending(func(p *api.Pod) bool {
			seen := map[string]bool{}
			return slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(c api.TopologySpreadConstraint) bool {
				again := seen[c.TopologyKey]
				seen[c.TopologyKey] = true
				return again
			})
		})},
		{"malformed selector", anyConstraint(func(c *api.TopologySpreadConstraint) bool {
			return hasOperator(c.LabelSelector, "Odd", "Gt", "Lt", "")
		})},
		{"service with an empty selector", func(c *golden.Case) bool {
			return slices.ContainsFunc(c.Services, func(s *api.Service) bool { return s.Spec.Selector != nil && len(s.Spec.Selector) == 0 })
		}},
		{"two controllers", pending(func(p *api.Pod) bool { return len(p.OwnerReferences) > 1 })},
		{"default constraints with policies", func(c *golden.Case) bool { return strings.Contains(string(c.Config), "nodeTaintsPolicy") }},
	},
	"fit": {
		{"nothing allocatable", anyNode(func(n *api.Node) bool { return len(n.Status.Allocatable) == 0 })},
		{"pods not allocatable", anyNode(func(n *api.Node) bool {
			_, ok := n.Status.Allocatable[resource.Pods]
			return len(n.Status.Allocatable) > 0 && !ok
		})},
		{"pod-level requests and limits", pending(func(p *api.Pod) bool {
			return p.Spec.Resources != nil && p.Spec.Resources.Requests != nil && p.Spec.Resources.Limits != nil
		})},
		{"sidecar", pending(func(p *api.Pod) bool {
			return slices.ContainsFunc(p.Spec.InitContainers, func(c api.Container) bool {
				return c.RestartPolicy != nil && *c.RestartPolicy == api.ContainerRestartPolicyAlways
			})
		})},
		{"overhead in an extended resource", pending(func(p *api.Pod) bool { return p.Spec.Overhead["nvidia.com/gpu"] != resource.Quantity{} })},
		{"resize of the pod to place", pending(func(p *api.Pod) bool { return p.Status.ContainerStatuses != nil })},
		{"resize of old", placed(func(p *api.Pod) bool { return p.Status.Resize != "" })},
		{"odd resource", anyNode(func(n *api.Node) bool {
			for name := range n.Status.Allocatable {
				if name == "odd" || strings.HasPrefix(string(name), "requests.") || strings.HasPrefix(string(name), "attachable-volumes-") {
					return true
				}
			}
			return false
		})},
	},
	"taint": {
		{"toleration by number", pending(anyToleration(func(t *api.Toleration) bool {
			return t.Operator == api.TolerationOpGt || t.Operator == api.TolerationOpLt
		}))},
		{"Exists with a value", pending(anyToleration(func(t *api.Toleration) bool {
			return t.Operator == api.TolerationOpExists && t.Value != ""
		}))},
		{"empty key, not Exists", pending(anyToleration(func(t *api.Toleration) bool {
			return t.Key == "" && t.Operator != api.TolerationOpExists
		}))},
		{"cordoned node", anyNode(func(n *api.Node) bool { return n.Spec.Unschedulable })},
	},
	"ports": {
		{"wildcard of IPv6", pending(anyPort(func(p *api.ContainerPort) bool { return p.HostIP == "::" }))},
		{"protocol in small letters", pending(anyPort(func(p *api.ContainerPort) bool { return p.Protocol == "tcp" }))},
		{"port below 0", placed(anyPort(func(p *api.ContainerPort) bool { return p.HostPort < 0 }))},
	},
	"image": {
		{"tag and digest", pending(anyContainer(func(c *api.Container) bool { return c.Image == "img:v1@sha256:4567" }))},
		{"no name", pending(anyContainer(func(c *api.Container) bool { return c.Image == "" }))},
		{"registry with a port and no tag", pending(anyContainer(func(c *api.Container) bool { return c.Image == "registry:5000/app" }))},
	},
}

var volumeKinds = []kind{
	{"deleted", anyVolume(func(v *api.PersistentVolume) bool { return v.DeletionTimestamp != nil })},
	{"kept for a claim", kept(func(r *api.ObjectReference, c *api.PersistentVolumeClaim) bool { return r.UID == c.UID })},
	{"kept for a claim by name", kept(func(r *api.ObjectReference, _ *api.PersistentVolumeClaim) bool { return r.UID == "" })},
	{"kept for a claim of before", kept(func(r *api.ObjectReference, c *api.PersistentVolumeClaim) bool {
		return r.UID != "" && r.UID != c.UID
	})},
	{"kept for another claim", anyVolume(func(v *api.PersistentVolume) bool {
		return v.Spec.ClaimRef != nil && v.Spec.ClaimRef.Name == "another"
	})},
	{"attributes class", anyVolume(func(v *api.PersistentVolume) bool { return v.Spec.VolumeAttributesClassName != nil })},
	{"class by annotation", anyVolume(func(v *api.PersistentVolume) bool { return has(&v.ObjectMeta, betaClass) })},
	{"mount options", anyVolume(func(v *api.PersistentVolume) bool {
		return has(&v.ObjectMeta, "volume.beta.kubernetes.io/mount-options")
	})},
	{"migrated", anyVolume(func(v *api.PersistentVolume) bool { return has(&v.ObjectMeta, api.AnnMigratedTo) })},
	{"block mode", anyVolume(func(v *api.PersistentVolume) bool {
		return v.Spec.VolumeMode != nil && *v.Spec.VolumeMode == api.PersistentVolumeBlock
	})},
	{"several zones", anyVolume(func(v *api.PersistentVolume) bool {
		return strings.Contains(v.Labels[api.LabelTopologyZone], "__")
	})},
	{"EBS", anyVolume(func(v *api.PersistentVolume) bool { return v.Spec.AWSElasticBlockStore != nil })},
	{"GCE", anyVolume(func(v *api.PersistentVolume) bool { return v.Spec.GCEPersistentDisk != nil })},
	{"Azure disk", anyVolume(func(v *api.PersistentVolume) bool { return v.Spec.AzureDisk != nil })},
	{"Azure file", anyVolume(func(v *api.PersistentVolume) bool { return v.Spec.AzureFile != nil })},
	{"Cinder", anyVolume(func(v *api.PersistentVolume) bool { return v.Spec.Cinder != nil })},
	{"vSphere", anyVolume(func(v *api.PersistentVolume) bool { return v.Spec.VsphereVolume != nil })},
	{"Portworx", anyVolume(func(v *api.PersistentVolume) bool { return v.Spec.PortworxVolume != nil })},
	{"RBD", anyVolume(func(v *api.PersistentVolume) bool { return v.Spec.RBD != nil })},
	{"Azure disk of a pod", placed(anyDisk(func(v *api.Volume) bool { return v.AzureDisk != nil }))},
	{"Azure file of a pod", placed(anyDisk(func(v *api.Volume) bool { return v.AzureFile != nil }))},
	{"Cinder of a pod", placed(anyDisk(func(v *api.Volume) bool { return v.Cinder != nil }))},
	{"vSphere of a pod", placed(anyDisk(func(v *api.Volume) bool { return v.VsphereVolume != nil }))},
	{"Portworx of a pod", placed(anyDisk(func(v *api.Volume) bool { return v.PortworxVolume != nil }))},
	{"RBD of a pod, to read", placed(anyDisk(func(v *api.Volume) bool { return v.RBD != nil && v.RBD.ReadOnly }))},
}

var claimKinds = []kind{
	{"claim's class by annotation", anyClaim(func(c *api.PersistentVolumeClaim) bool { return has(&c.ObjectMeta, betaClass) })},
	{"claim's attributes class", anyClaim(func(c *api.PersistentVolumeClaim) bool { return c.Spec.VolumeAttributesClassName != nil })},
	{"selected node", anyClaim(func(c *api.PersistentVolumeClaim) bool { return has(&c.ObjectMeta, api.AnnSelectedNode) })},
	{"provisioner noted", anyClaim(func(c *api.PersistentVolumeClaim) bool {
		return has(&c.ObjectMeta, "volume.kubernetes.io/storage-provisioner")
	})},
	{"lost", anyClaim(func(c *api.PersistentVolumeClaim) bool { return c.Status.Phase == api.ClaimLost })},
	{"deleted claim", anyClaim(func(c *api.PersistentVolumeClaim) bool { return c.DeletionTimestamp != nil })},
	{"no storage asked for", anyClaim(func(c *api.PersistentVolumeClaim) bool { return c.Spec.Resources.Requests == nil })},
	{"ephemeral, of another pod", anyClaim(func(c *api.PersistentVolumeClaim) bool {
		return len(c.OwnerReferences) > 0 && c.OwnerReferences[0].UID == "another"
	})},
	{"ephemeral, without a controller", anyClaim(func(c *api.PersistentVolumeClaim) bool {
		return len(c.OwnerReferences) > 0 && (c.OwnerReferences[0].Controller == nil || !*c.OwnerReferences[0].Controller)
	})},
	{"claim without a name", placed(anyDisk(func(v *api.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == ""
	}))},
}

var csiKinds = []kind{
	{"no provisioner", anyClass(func(s *api.StorageClass) bool { return s.Provisioner == "" })},
	{"provisioner that makes nothing", anyClass(func(s *api.StorageClass) bool { return s.Provisioner == "kubernetes.io/no-provisioner" })},
	{"provisioner of the tree", anyClass(func(s *api.StorageClass) bool { return s.Provisioner == "kubernetes.io/cinder" })},
	{"several topologies", anyClass(func(s *api.StorageClass) bool { return len(s.AllowedTopologies) > 1 })},
	{"empty topology", anyClass(func(s *api.StorageClass) bool {
		return len(s.AllowedTopologies) > 0 && s.AllowedTopologies[0].MatchLabelExpressions == nil
	})},
	{"capacity nowhere", anyCapacity(func(s *api.CSIStorageCapacity) bool { return s.NodeTopology == nil })},
	{"capacity in a malformed place", anyCapacity(func(s *api.CSIStorageCapacity) bool { return hasOperator(s.NodeTopology, "Odd") })},
	{"capacity with a largest volume", anyCapacity(func(s *api.CSIStorageCapacity) bool { return s.MaximumVolumeSize != nil })},
	{"capacity that states none", anyCapacity(func(s *api.CSIStorageCapacity) bool { return s.Capacity == nil })},
	{"migrated plugins, oddly", func(c *golden.Case) bool {
		return slices.ContainsFunc(c.CSINodes, func(n *api.CSINode) bool {
			return strings.Contains(n.Annotations[api.AnnMigratedPlugins], ";") || strings.Contains(n.Annotations[api.AnnMigratedPlugins], " ")
		})
	}},
	{"every migrated plugin", func(c *golden.Case) bool {
		return slices.ContainsFunc(c.CSINodes, func(n *api.CSINode) bool {
			return strings.Contains(n.Annotations[api.AnnMigratedPlugins], "kubernetes.io/portworx-volume")
		})
	}},
	{"inline attachment", func(c *golden.Case) bool {
		return slices.ContainsFunc(c.VolumeAttachments, func(a *api.VolumeAttachment) bool { return a.Spec.Source.InlineVolumeSpec != nil })
	}},
}

// betaClass is the old annotation that names a class.
const betaClass = "volume.beta.kubernetes.io/storage-class"

func has(m *api.ObjectMeta, annotation string) bool {
	_, ok := m.Annotations[annotation]
	return ok
}

func hasOperator(s *api.LabelSelector, operators ...api.LabelSelectorOperator) bool {
	return s != nil && slices.ContainsFunc(s.MatchExpressions, func(r api.LabelSelectorRequirement) bool {
		return slices.Contains(operators, r.Operator)
	})
}

func anyNode(is func(*api.Node) bool) func(*golden.Case) bool {
	return func(c *golden.Case) bool { return slices.ContainsFunc(c.Nodes, is) }
}

func anyVolume(is func(*api.PersistentVolume) bool) func(*golden.Case) bool {
	return func(c *golden.Case) bool { return slices.ContainsFunc(c.PersistentVolumes, is) }
}

func anyClaim(is func(*api.PersistentVolumeClaim) bool) func(*golden.Case) bool {
	return func(c *golden.Case) bool { return slices.ContainsFunc(c.PersistentVolumeClaims, is) }
}

func anyClass(is func(*api.StorageClass) bool) func(*golden.Case) bool {
	return func(c *golden.Case) bool { return slices.ContainsFunc(c.StorageClasses, is) }
}

func anyCapacity(is func(*api.CSIStorageCapacity) bool) func(*golden.Case) bool {
	return func(c *golden.Case) bool { return slices.ContainsFunc(c.CSIStorageCapacities, is) }
}

// kept looks for an unbound claim that a volume refers to.
func kept(is func(*api.ObjectReference, *api.PersistentVolumeClaim) bool) func(*golden.Case) bool {
	return anyPair(func(v *api.PersistentVolume, c *api.PersistentVolumeClaim) bool {
		r := v.Spec.ClaimRef
		return r != nil && c.Spec.VolumeName == "" && r.Name == c.Name && r.Namespace == c.Namespace && is(r, c)
	})
}

func anyPair(is func(*api.PersistentVolume, *api.PersistentVolumeClaim) bool) func(*golden.Case) bool {
	return func(c *golden.Case) bool {
		return slices.ContainsFunc(c.PersistentVolumes, func(v *api.PersistentVolume) bool {
			return slices.ContainsFunc(c.PersistentVolumeClaims, func(claim *api.PersistentVolumeClaim) bool { return is(v, claim) })
		})
	}
}

func pending(is func(*api.Pod) bool) func(*golden.Case) bool {
	return func(c *golden.Case) bool { return is(c.Pod) }
}

func placed(is func(*api.Pod) bool) func(*golden.Case) bool {
	return func(c *golden.Case) bool { return slices.ContainsFunc(c.Pods, is) }
}

func anyContainer(is func(*api.Container) bool) func(*api.Pod) bool {
	return func(p *api.Pod) bool {
		for _, list := range [][]api.Container{p.Spec.Containers, p.Spec.InitContainers} {
			for i := range list {
				if is(&list[i]) {
					return true
				}
			}
		}
		return false
	}
}

func anyPort(is func(*api.ContainerPort) bool) func(*api.Pod) bool {
	return anyContainer(func(c *api.Container) bool {
		return slices.ContainsFunc(c.Ports, func(p api.ContainerPort) bool { return is(&p) })
	})
}

func anyDisk(is func(*api.Volume) bool) func(*api.Pod) bool {
	return func(p *api.Pod) bool {
		return slices.ContainsFunc(p.Spec.Volumes, func(v api.Volume) bool { return is(&v) })
	}
}

func anyToleration(is func(*api.Toleration) bool) func(*api.Pod) bool {
	return func(p *api.Pod) bool {
		return slices.ContainsFunc(p.Spec.Tolerations, func(t api.Toleration) bool { return is(&t) })
	}
}

func anyConstraint(is func(*api.TopologySpreadConstraint) bool) func(*golden.Case) bool {
	return pending(func(p *api.Pod) bool {
		return slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(c api.TopologySpreadConstraint) bool { return is(&c) })
	})
}

func anyTerm(is func(*api.PodAffinityTerm) bool) func(*api.Pod) bool {
	return func(p *api.Pod) bool {
		if p.Spec.Affinity == nil {
			return false
		}
		var terms []api.PodAffinityTerm
		var weighted []api.WeightedPodAffinityTerm
		if a := p.Spec.Affinity.PodAffinity; a != nil {
			terms, weighted = a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution
		}
		if a := p.Spec.Affinity.PodAntiAffinity; a != nil {
			terms = slices.Concat(terms, a.RequiredDuringSchedulingIgnoredDuringExecution)
			weighted = slices.Concat(weighted, a.PreferredDuringSchedulingIgnoredDuringExecution)
		}
		for _, w := range weighted {
			terms = append(terms, w.PodAffinityTerm)
		}
		return slices.ContainsFunc(terms, func(t api.PodAffinityTerm) bool { return is(&t) })
	}
}

// TestKinds counts how many of some hundred cases include each kind.
func TestKinds(t *testing.T) {
	const number, least = 600, 3
	for family, list := range kinds {
		t.Run(family, func(t *testing.T) {
			counts := make([]int, len(list))
			for i := range uint64(number) {
				c := cases.Generate(family, 1, i)
				for k := range list {
					if list[k].is(c) {
						counts[k]++
					}
				}
			}
			for k := range list {
				if counts[k] < least {
					t.Errorf("%q in %d of %d cases, want at least %d", list[k].name, counts[k], number, least)
				}
			}
			t.Log(counts)
		})
	}
}
