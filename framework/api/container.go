package api

// Container is one process environment of a pod.
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
	HostPort      int32    `json:"hostPort,omitempty"` // 0 takes no port of the node
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

// ContainerRestartPolicy says when a single container is started again.
type ContainerRestartPolicy string

// The restart policies of a container.
const (
	ContainerRestartPolicyAlways    ContainerRestartPolicy = "Always"
	ContainerRestartPolicyNever     ContainerRestartPolicy = "Never"
	ContainerRestartPolicyOnFailure ContainerRestartPolicy = "OnFailure"
)

// ContainerRestartRule is an exception to a container's restart policy. Only
// its action is kept: some actions need a feature that the node must declare.
type ContainerRestartRule struct {
	Action ContainerRestartRuleAction `json:"action,omitempty"`
}

// ContainerRestartRuleAction is what a restart rule does.
type ContainerRestartRuleAction string

// The actions of a restart rule.
const (
	ContainerRestartRuleActionRestart              ContainerRestartRuleAction = "Restart"
	ContainerRestartRuleActionRestartAllContainers ContainerRestartRuleAction = "RestartAllContainers"
)

// VolumeMount is a volume that a container sees. Only what scheduling reads is
// kept: bind-mount options need a feature that the node must declare.
type VolumeMount struct {
	Name             string   `json:"name"`
	BindMountOptions []string `json:"bindMountOptions,omitempty"`
}
