package api

// Container is one container of a pod.
type Container struct {
	Name               string                  `json:"name"`
	Image              string                  `json:"image,omitempty"`
	Ports              []ContainerPort         `json:"ports,omitempty"`
	Resources          ResourceRequirements    `json:"resources,omitzero"`
	RestartPolicy      *ContainerRestartPolicy `json:"restartPolicy,omitempty"` // Always makes an init container a sidecar
	RestartPolicyRules []ContainerRestartRule  `json:"restartPolicyRules,omitempty"`
	VolumeMounts       []VolumeMount           `json:"volumeMounts,omitempty"`
}

// ContainerPort is a port that a container listens on.
type ContainerPort struct {
	Name          string   `json:"name,omitempty"`
	HostPort      int32    `json:"hostPort,omitempty"` // 0 takes no port on the node
	ContainerPort int32    `json:"containerPort"`
	Protocol      Protocol `json:"protocol,omitempty"` // empty means TCP
	HostIP        string   `json:"hostIP,omitempty"`   // empty means 0.0.0.0
}

// Protocol is a network protocol.
type Protocol string

// The protocols of a port.
const (
	ProtocolTCP  Protocol = "TCP"
	ProtocolUDP  Protocol = "UDP"
	ProtocolSCTP Protocol = "SCTP"
)

// ContainerRestartPolicy says when Kubernetes restarts a single container.
type ContainerRestartPolicy string

// The restart policies of a container.
const (
	ContainerRestartPolicyAlways    ContainerRestartPolicy = "Always"
	ContainerRestartPolicyNever     ContainerRestartPolicy = "Never"
	ContainerRestartPolicyOnFailure ContainerRestartPolicy = "OnFailure"
)

// ContainerRestartRule is an exception to a container's restart policy. Decoding
// keeps only its action, because some actions need a feature that the node must
// declare.
type ContainerRestartRule struct {
	Action ContainerRestartRuleAction `json:"action,omitempty"`
}

// ContainerRestartRuleAction is the effect of a restart rule.
type ContainerRestartRuleAction string

// The actions of a restart rule.
const (
	ContainerRestartRuleActionRestart              ContainerRestartRuleAction = "Restart"
	ContainerRestartRuleActionRestartAllContainers ContainerRestartRuleAction = "RestartAllContainers"
)

// VolumeMount is a volume mounted into a container. Decoding keeps only what
// scheduling reads: bind-mount options need a feature that the node must declare.
type VolumeMount struct {
	Name             string   `json:"name"`
	BindMountOptions []string `json:"bindMountOptions,omitempty"`
}
