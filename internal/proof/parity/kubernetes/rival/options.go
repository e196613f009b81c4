package rival

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

// ListDefaulting is a configuration that differs from the default in one thing: pods
// without spread constraints of their own have none, instead of the system's.
// kube-scheduler's batching of equal pods takes effect only with this.
const ListDefaulting = `{
  "apiVersion": "kubescheduler.config.k8s.io/v1",
  "kind": "KubeSchedulerConfiguration",
  "profiles": [{
    "pluginConfig": [{
      "name": "PodTopologySpread",
      "args": {"defaultingType": "List"}
    }]
  }]
}`

// Options say which kube-scheduler to build. The zero value is the default one.
type Options struct {
	// Config is a KubeSchedulerConfiguration of version v1, as YAML or JSON. Empty
	// means the default configuration.
	Config string

	// Percentage is percentageOfNodesToScore: 100 examines all nodes. 0 means the
	// value in Config, where 0 means adaptive sampling.
	Percentage int32

	// Parallelism is the number of workers. 0 means the value in Config, by default
	// 16. Decisions are the same on every run only if it is 1.
	Parallelism int32

	// Batching sends pods through the scheduling queue, which counts cycles. Only
	// then can a cycle reuse the previous cycle's results for an equal pod.
	Batching bool

	// Refuse adds a plugin at Reserve and Permit that rejects the pods with the
	// annotation AnnRefuse.
	Refuse bool

	// Objects are the objects other than nodes and pods that a decision may read:
	// volumes, claims, storage classes, namespaces, services, budgets and so on.
	Objects []runtime.Object
}

// load returns the configuration with defaults, validated.
func (o Options) load() (*config.KubeSchedulerConfiguration, error) {
	text := o.Config
	if text == "" {
		text = `{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}`
	}
	object, kind, err := scheme.Codecs.UniversalDecoder().Decode([]byte(text), nil, nil)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	c, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("configuration: got %v, want a KubeSchedulerConfiguration", kind)
	}
	c.APIVersion = kind.GroupVersion().String()
	if o.Parallelism != 0 {
		c.Parallelism = o.Parallelism
	}
	if o.Percentage != 0 {
		c.PercentageOfNodesToScore = &o.Percentage
		for i := range c.Profiles {
			c.Profiles[i].PercentageOfNodesToScore = nil
		}
	}
	if err := validation.ValidateKubeSchedulerConfiguration(c); err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if len(c.Profiles) == 0 {
		return nil, errors.New("configuration: no profile")
	}
	return c, nil
}
