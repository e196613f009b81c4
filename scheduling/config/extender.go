package config

import (
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// An Extender is a scheduler extender: an HTTP server that is asked about nodes.
//
// Source: Extender, kubescheduler.config.k8s.io/v1.
type Extender struct {
	// URLPrefix is put before every verb.
	URLPrefix string `json:"urlPrefix"`
	// FilterVerb, PreemptVerb, PrioritizeVerb and BindVerb are the paths of the
	// calls below URLPrefix. An empty one means that the extender does not
	// answer this call. At most one extender may bind.
	FilterVerb     string `json:"filterVerb,omitempty"`
	PreemptVerb    string `json:"preemptVerb,omitempty"`
	PrioritizeVerb string `json:"prioritizeVerb,omitempty"`
	// Weight multiplies the scores. It must be positive with a PrioritizeVerb
	// and is not looked at without.
	Weight   int64  `json:"weight,omitempty"`
	BindVerb string `json:"bindVerb,omitempty"`
	// EnableHTTPS speaks TLS; without a root certificate in TLSConfig the
	// server's is not verified.
	EnableHTTPS bool               `json:"enableHTTPS,omitempty"`
	TLSConfig   *ExtenderTLSConfig `json:"tlsConfig,omitempty"`
	// HTTPTimeout bounds a call. 0 becomes 5 s; a negative one lets every call
	// time out at once.
	HTTPTimeout api.Duration `json:"httpTimeout"`
	// NodeCacheCapable tells that names of nodes are enough for the extender.
	NodeCacheCapable bool `json:"nodeCacheCapable,omitempty"`
	// ManagedResources are the extended resources that the extender cares for: it
	// is asked about pods that request one of them. Empty: about every pod.
	ManagedResources []ExtenderManagedResource `json:"managedResources,omitempty"`
	// Ignorable lets scheduling go on without the extender when it fails.
	Ignorable bool `json:"ignorable,omitempty"`
}

// ExtenderManagedResource is an extended resource that an extender cares for.
type ExtenderManagedResource struct {
	Name string `json:"name"`
	// IgnoredByScheduler keeps NodeResourcesFit from filtering by the resource.
	IgnoredByScheduler bool `json:"ignoredByScheduler,omitempty"`
}

// ExtenderTLSConfig are the certificates for an extender. Data takes precedence
// over the file of the same thing.
type ExtenderTLSConfig struct {
	Insecure   bool   `json:"insecure,omitempty"`   // do not verify the server's certificate
	ServerName string `json:"serverName,omitempty"` // the name to verify; empty: that of the URL
	CertFile   string `json:"certFile,omitempty"`
	KeyFile    string `json:"keyFile,omitempty"`
	CAFile     string `json:"caFile,omitempty"`
	CertData   []byte `json:"certData,omitempty"` // PEM
	KeyData    []byte `json:"keyData,omitempty"`  // PEM
	CAData     []byte `json:"caData,omitempty"`   // PEM
}

// defaultExtenderTimeout stands for an HTTPTimeout of 0.
const defaultExtenderTimeout = 5 * time.Second
