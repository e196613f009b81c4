package args

import (
	"time"

	"github.com/berth-sched/berth/framework/api"
)

// DynamicResources holds the arguments of the plugin of that name.
//
// Source: DynamicResourcesArgs, kubescheduler.config.k8s.io/v1, with the feature
// gates of 1.37.
type DynamicResources struct {
	api.TypeMeta `json:",inline"`

	// FilterTimeout bounds the allocation of devices on one node. 0 means no bound.
	// The default is 10 s.
	FilterTimeout api.Duration `json:"filterTimeout"`
	// BindingTimeout is how long the plugin waits for devices to get ready, at
	// least 1 s. The default is 600 s.
	BindingTimeout api.Duration `json:"bindingTimeout"`
}

// NewDynamicResources returns the default arguments.
func NewDynamicResources() *DynamicResources {
	a := &DynamicResources{
		FilterTimeout:  api.Duration{Duration: 10 * time.Second},
		BindingTimeout: api.Duration{Duration: 600 * time.Second},
	}
	a.complete()
	return a
}

func (a *DynamicResources) complete() { a.TypeMeta = meta("DynamicResources") }

// Validate returns every violated rule. path prefixes the field paths; it may be
// empty.
func (a *DynamicResources) Validate(path string) []FieldError {
	var errs []FieldError
	if a.FilterTimeout.Duration < 0 {
		errs = append(errs, Invalid(child(path, "filterTimeout"), a.FilterTimeout, "must be zero or positive"))
	}
	if a.BindingTimeout.Duration < time.Second {
		errs = append(errs, Invalid(child(path, "bindingTimeout"), a.BindingTimeout, "must be at least 1 second"))
	}
	return errs
}
