package config

import (
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// An Extender is a scheduler extender: an HTTP server that takes part in decisions
// about nodes.
//
// Source: Extender, kubescheduler.config.k8s.io/v1.
type Extender struct {
	// URLPrefix prefixes every verb.
	URLPrefix string `json:"urlPrefix"`
	// FilterVerb, PreemptVerb, PrioritizeVerb and BindVerb are the paths of the
	// calls below URLPrefix. If one is empty, the extender does not support that
	// call. At most one extender may bind.
	FilterVerb     string `json:"filterVerb,omitempty"`
	PreemptVerb    string `json:"preemptVerb,omitempty"`
	PrioritizeVerb string `json:"prioritizeVerb,omitempty"`
	// Weight multiplies the scores. It must be positive with a PrioritizeVerb, and
	// is ignored without one.
	Weight   int64  `json:"weight,omitempty"`
	BindVerb string `json:"bindVerb,omitempty"`
	// EnableHTTPS turns on TLS. Without a root certificate in TLSConfig the server's
	// certificate is not verified.
	EnableHTTPS bool               `json:"enableHTTPS,omitempty"`
	TLSConfig   *ExtenderTLSConfig `json:"tlsConfig,omitempty"`
	// HTTPTimeout bounds a call. 0 becomes 5 s; with a negative value every call
	// times out at once.
	HTTPTimeout api.Duration `json:"httpTimeout"`
	// NodeCacheCapable is set if the extender needs only the names of nodes.
	NodeCacheCapable bool `json:"nodeCacheCapable,omitempty"`
	// ManagedResources are the extended resources that the extender manages: it is
	// called only for pods that request one of them. Empty means all pods.
	ManagedResources []ExtenderManagedResource `json:"managedResources,omitempty"`
	// Ignorable lets scheduling continue if the extender fails.
	Ignorable bool `json:"ignorable,omitempty"`
}

// ExtenderManagedResource is an extended resource that an extender manages.
type ExtenderManagedResource struct {
	Name string `json:"name"`
	// IgnoredByScheduler keeps NodeResourcesFit from filtering by the resource.
	IgnoredByScheduler bool `json:"ignoredByScheduler,omitempty"`
}

// ExtenderTLSConfig holds the certificates for an extender. Data takes precedence
// over the corresponding file.
type ExtenderTLSConfig struct {
	Insecure   bool   `json:"insecure,omitempty"`   // do not verify the server's certificate
	ServerName string `json:"serverName,omitempty"` // the name to verify; empty: the host of the URL
	CertFile   string `json:"certFile,omitempty"`
	KeyFile    string `json:"keyFile,omitempty"`
	CAFile     string `json:"caFile,omitempty"`
	CertData   []byte `json:"certData,omitempty"` // PEM
	KeyData    []byte `json:"keyData,omitempty"`  // PEM
	CAData     []byte `json:"caData,omitempty"`   // PEM
}

// defaultExtenderTimeout replaces an HTTPTimeout of 0.
const defaultExtenderTimeout = 5 * time.Second
