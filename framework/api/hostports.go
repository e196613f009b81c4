package api

import (
	"cmp"
	"slices"
)

// A HostPort is a port that a pod takes on its node.
type HostPort struct {
	IP       string // "0.0.0.0" for all addresses
	Protocol Protocol
	Port     int32
}

// Conflicts reports whether two pods cannot have h and o on one node: protocol and port
// are the same, and so is the address, or one of them is for all addresses.
func (h HostPort) Conflicts(o HostPort) bool {
	return h.Port == o.Port && h.Protocol == o.Protocol &&
		(h.IP == o.IP || h.IP == anyAddress || o.IP == anyAddress)
}

const anyAddress = "0.0.0.0"

// CompareHostPorts orders host ports by port, protocol and address.
func CompareHostPorts(x, y HostPort) int {
	if x.Port != y.Port {
		return cmp.Compare(x.Port, y.Port)
	}
	return cmp.Or(cmp.Compare(x.Protocol, y.Protocol), cmp.Compare(x.IP, y.IP))
}

// ConflictsAny reports whether h conflicts with any of the ports, which must be in the
// order of [CompareHostPorts]. It costs O(log n) for n ports.
func (h HostPort) ConflictsAny(sorted []HostPort) bool {
	from, _ := slices.BinarySearchFunc(sorted, HostPort{Port: h.Port, Protocol: h.Protocol}, CompareHostPorts)
	if h.IP == anyAddress {
		return from < len(sorted) && sorted[from].Port == h.Port && sorted[from].Protocol == h.Protocol
	}
	if _, found := slices.BinarySearchFunc(sorted[from:], h, CompareHostPorts); found {
		return true
	}
	h.IP = anyAddress
	_, found := slices.BinarySearchFunc(sorted[from:], h, CompareHostPorts)
	return found
}

// HostPorts lists the host ports of containers and sidecars. An empty address means
// all addresses, an empty protocol means TCP, and ports below 1 are ignored.
func HostPorts(p *Pod) []HostPort {
	var ports []HostPort
	add := func(c *Container) {
		for _, port := range c.Ports {
			if port.HostPort <= 0 {
				continue
			}
			h := HostPort{IP: port.HostIP, Protocol: port.Protocol, Port: port.HostPort}
			if h.IP == "" {
				h.IP = anyAddress
			}
			if h.Protocol == "" {
				h.Protocol = ProtocolTCP
			}
			ports = append(ports, h)
		}
	}
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.IsSidecar() {
			add(c)
		}
	}
	for i := range p.Spec.Containers {
		add(&p.Spec.Containers[i])
	}
	return ports
}
