package resource

import "strings"

// Name is the name of a resource.
type Name string

// The resources that Kubernetes itself defines.
const (
	CPU              Name = "cpu"
	Memory           Name = "memory"
	EphemeralStorage Name = "ephemeral-storage"
	Pods             Name = "pods"
	Storage          Name = "storage"
)

// IsScalar reports whether the scheduler counts n as a scalar resource.
func (n Name) IsScalar() bool {
	return n.IsExtended() || n.IsHugePages() || strings.Contains(string(n), "kubernetes.io/") ||
		strings.HasPrefix(string(n), "attachable-volumes-")
}

// IsExtended reports whether n is an extended resource.
func (n Name) IsExtended() bool {
	s := string(n)
	return strings.Contains(s, "/") && !strings.Contains(s, "kubernetes.io/") && !strings.HasPrefix(s, "requests.")
}

// IsHugePages reports whether n is a size of huge pages.
func (n Name) IsHugePages() bool { return strings.HasPrefix(string(n), "hugepages-") }
