package extender

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	"github.com/berth-sched/berth/resource"
)

// DefaultTimeout bounds a call, and DefaultMaxBytes an answer or a request, where
// nothing else is said.
const (
	DefaultTimeout        = 5 * time.Second
	DefaultMaxBytes int64 = 64 << 20
)

// A Config says where an extender is and what it can be asked. Its fields mean
// what those of the section extenders of a KubeSchedulerConfiguration do.
type Config struct {
	// URLPrefix is put before every verb; it has the scheme.
	URLPrefix string
	// FilterVerb, PrioritizeVerb, PreemptVerb and BindVerb are the paths of the
	// calls below URLPrefix. What has an empty one is not called.
	FilterVerb, PrioritizeVerb, PreemptVerb, BindVerb string
	// Weight multiplies the scores. It must be positive with a PrioritizeVerb.
	Weight int64
	// NodeCacheCapable tells that names of nodes are enough for the extender.
	NodeCacheCapable bool
	// ManagedResources are what the extender cares for: it is asked about pods
	// of which a container requests, or is limited to, one of them. Empty: about
	// every pod.
	ManagedResources []resource.Name
	// Ignorable lets scheduling go on without the extender when it fails.
	Ignorable bool

	// Timeout bounds a call, from the connection to the last byte of the answer.
	// 0 means DefaultTimeout; a negative one lets every call time out at once.
	Timeout time.Duration
	// MaxBytes bounds an answer; 0 means DefaultMaxBytes.
	MaxBytes int64
	// TLS is for https. nil is Go's default, which verifies the server.
	TLS *tls.Config
	// HTTP makes the calls; nil makes a client with a transport of its own, and
	// with TLS, which must be nil otherwise.
	HTTP *http.Client

	// EmptyNodes scores the nodes that the extender's filter returns as if no pods
	// were on them, unless it is NodeCacheCapable. kube-scheduler does so by
	// mistake (issue 141781); set it to get the same scores.
	EmptyNodes bool
}

func (c *Config) check() error {
	switch {
	case c.PrioritizeVerb != "" && c.Weight <= 0:
		return fmt.Errorf("extender %q: weight: %d: must have a positive weight applied to it", c.URLPrefix, c.Weight)
	case c.MaxBytes < 0:
		return fmt.Errorf("extender %q: MaxBytes: %d: must not be negative", c.URLPrefix, c.MaxBytes)
	case c.HTTP != nil && c.TLS != nil:
		return fmt.Errorf("extender %q: TLS: belongs into the transport of HTTP, which is given", c.URLPrefix)
	}
	return nil
}
