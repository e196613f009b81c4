package config

import (
	"time"

	"github.com/berth-sched/berth/scheduling/args"
)

// BindTimeout returns how long a pod of the profile waits for its volumes: the argument of
// VolumeBinding, 10 minutes if the profile has none.
func (p Profile) BindTimeout() time.Duration {
	a := args.NewVolumeBinding()
	for _, pc := range p.PluginConfig {
		if own, ok := pc.Args.(*args.VolumeBinding); ok && pc.Used {
			a = own
		}
	}
	return time.Duration(a.BindTimeoutSeconds) * time.Second
}
