package extender

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"time"

	"github.com/berth-sched/berth/resource"
)

// DefaultTimeout bounds a call, DefaultMaxBytes an answer, DefaultMaxRequest a request to
// a [Handler], and DefaultMaxWaiting the bodies of all of its requests, unless configured
// otherwise.
const (
	DefaultTimeout          = 5 * time.Second
	DefaultMaxBytes   int64 = 64 << 20
	DefaultMaxRequest int64 = 16 << 20
	DefaultMaxWaiting int64 = 64 << 20
)

// A Config gives an extender's address and the calls that it supports. Its fields
// mean the same as in the section extenders of a KubeSchedulerConfiguration.
type Config struct {
	// URLPrefix prefixes every verb; it includes the scheme.
	URLPrefix string
	// FilterVerb, PrioritizeVerb, PreemptVerb and BindVerb are the paths of the
	// calls below URLPrefix. A call with an empty verb is not made.
	FilterVerb, PrioritizeVerb, PreemptVerb, BindVerb string
	// Weight multiplies the scores. It must be positive with a PrioritizeVerb.
	Weight int64
	// NodeCacheCapable is set if the extender needs only the names of nodes.
	NodeCacheCapable bool
	// ManagedResources are the resources that the extender manages: it is called
	// only for pods with a container or init container that requests, or is limited
	// to, one of them. Empty means all pods.
	ManagedResources []resource.Name
	// Ignorable lets scheduling continue if the extender fails.
	Ignorable bool

	// Timeout bounds a call, from the connection to the last byte of the answer. What
	// follows, decoding, is bounded by MaxBytes. 0
	// means DefaultTimeout; with a negative value every call times out at once.
	Timeout time.Duration
	// MaxBytes bounds an answer. 0 means a bound by what was asked: 1 MiB, twice the
	// request, and 4 KiB for each node or candidate, but at most DefaultMaxBytes.
	MaxBytes int64
	// TLS is for https. nil is Go's default, which verifies the server.
	TLS *tls.Config
	// HTTP makes the calls. nil makes a client with its own transport and with TLS;
	// if HTTP is set, TLS must be nil. Redirects are errors unless HTTP has a
	// CheckRedirect.
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
