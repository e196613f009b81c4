package api

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
