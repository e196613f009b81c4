package scheduling

import (
	"context"

	"github.com/berth-sched/berth/framework"
)

// defaultBinderName is what files call the plugin that binds.
const defaultBinderName = "DefaultBinder"

// defaultBinder registers DefaultBinder, which binds through the handle. Without a
// handle it serves no point, and the code that drives the scheduler binds, as for
// all profiles without Bind plugins.
func defaultBinder() Registration {
	return Registration{
		Like: binder{},
		New: func(_ any, h framework.Handle) (framework.Plugin, error) {
			if h == nil {
				return bystander(defaultBinderName), nil
			}
			return binder{h}, nil
		},
	}
}

// binder is the plugin DefaultBinder.
type binder struct{ handle framework.Handle }

// Name implements [framework.Plugin].
func (binder) Name() string { return defaultBinderName }

// Bind implements [framework.BindPlugin].
func (b binder) Bind(ctx context.Context, c *framework.Cycle, node string) framework.Status {
	return framework.AsStatus(b.handle.Bind(ctx, c.Pod.Pod, node))
}

// bystander is a plugin that does nothing.
type bystander string

// Name implements [framework.Plugin].
func (b bystander) Name() string { return string(b) }
