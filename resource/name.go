package resource

import (
	"strings"

	"github.com/berth-sched/berth/internal/qualified"
)

// Name is the name of a resource in a resource list: "cpu", "memory",
// "example.com/gpu". Any string is a Name; the methods classify it.
type Name string

// The resources that Kubernetes itself defines.
const (
	// CPU is counted in cores; schedulers count thousandths of a core.
	CPU Name = "cpu"
	// Memory is counted in bytes.
	Memory Name = "memory"
	// EphemeralStorage is the local disk space of a node, in bytes.
	EphemeralStorage Name = "ephemeral-storage"
	// Pods is the number of pods that a node takes. It is a property of a node and
	// has no place in a Vector: pods are counted separately.
	Pods Name = "pods"
	// Storage is the size of a volume, in bytes.
	Storage Name = "storage"
)

// The parts of names by which the methods classify them.
const (
	hugePagesPrefix        = "hugepages-"
	attachableVolumePrefix = "attachable-volumes-"
	quotaPrefix            = "requests."
	nativeDomain           = "kubernetes.io/"
)

// IsScalar reports whether a scheduler counts n in addition to cpu, memory and
// ephemeral storage: n is an extended resource, a size of huge pages, an attachable
// volume, or a name in a Kubernetes domain. Scheduling ignores every other name.
//
// Source: kube-scheduler 1.37, IsScalarResourceName.
func (n Name) IsScalar() bool {
	return n.IsExtended() || n.IsHugePages() ||
		strings.Contains(string(n), nativeDomain) ||
		strings.HasPrefix(string(n), attachableVolumePrefix)
}

// IsExtended reports whether n is an extended resource, announced by a device
// plugin or an administrator: it has a domain, the domain is not Kubernetes' own, n
// does not begin with "requests.", and "requests." + n (its name in a quota) is a
// qualified name.
//
// Source: kube-scheduler 1.37, IsExtendedResourceName.
func (n Name) IsExtended() bool {
	domain, name, ok := strings.Cut(string(n), "/")
	return ok && !strings.Contains(string(n), nativeDomain) &&
		!strings.HasPrefix(domain, quotaPrefix) &&
		len(quotaPrefix)+len(domain) <= qualified.MaxDomain &&
		qualified.IsDomain(domain) && isLocal(name)
}

// IsHugePages reports whether n names huge pages of some size, such as
// "hugepages-2Mi". The size itself is not checked.
func (n Name) IsHugePages() bool {
	return strings.HasPrefix(string(n), hugePagesPrefix)
}

// IsQualified reports whether n is a qualified name: an optional domain with a
// slash, then a local name. The domain has at most 253 bytes: lower-case labels of
// letters, digits and inner hyphens, joined by dots. The local name is 1 to 63
// letters, digits, hyphens, underscores and dots; it begins and ends with a letter
// or a digit.
//
// Source: Kubernetes 1.37, IsQualifiedName.
func (n Name) IsQualified() bool {
	domain, name, ok := strings.Cut(string(n), "/")
	if !ok {
		return isLocal(string(n))
	}
	return len(domain) <= qualified.MaxDomain && qualified.IsDomain(domain) && isLocal(name)
}

// isLocal reports whether s is valid after the slash of a qualified name.
func isLocal(s string) bool { return len(s) <= qualified.MaxLocal && qualified.IsLocal(s) }
