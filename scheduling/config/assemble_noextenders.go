//go:build noextenders

package config

import (
	"errors"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling"
)

// BuildConfig holds what profiles need besides the configuration. The zero value is
// enough for a scheduler that only places pods.
type BuildConfig struct {
	// Handle is passed to the plugin factories; nil if there is none.
	Handle framework.Handle
}

var errNoExtenders = errors.New("this program is built with the tag noextenders, so it cannot ask extenders")

// checkTLS accepts all settings, because no extender is built.
func (e *Extender) checkTLS(func(name string) ([]byte, error)) error { return nil }

// buildExtenders refuses every extender.
func (c *Configuration) buildExtenders(_ BuildConfig, p *problems) []scheduling.Extender {
	for _, e := range c.OrderedExtenders() {
		p.add(Problem{Class: ExtenderTLS, Text: "couldn't build extenders: " + e.URLPrefix + ": " + errNoExtenders.Error(), err: errNoExtenders})
	}
	return nil
}
