// Package args holds the arguments of kube-scheduler's in-tree plugins, as the
// pluginConfig section of a KubeSchedulerConfiguration gives them: their types,
// in upstream's JSON form, with decoding, defaults and validation.
//
//	a, errs := args.InTree()["NodeResourcesFit"](raw)   // raw JSON, or nil for the defaults
//	fit := a.(*args.NodeResourcesFit)
//
// A type has the name of its plugin, without upstream's suffix: [NodeResourcesFit]
// is the API kind NodeResourcesFitArgs. New functions return the defaults. Validate
// methods return every violated rule, with upstream's field path and message.
//
// # Decoding
//
// [Decode] reads JSON into any Go value and reports all errors at once, each with
// its path: unknown fields, duplicate fields, field names in the wrong case, and
// values of the wrong type. encoding/json accepts some of these and stops at others.
// You can use Decode for your own plugin's arguments; a registry needs a [Decoder]
// for them.
//
// # What is left to you
//
// Package scheduling/config and the registry decide which plugins exist, which are
// used, and when their arguments are read. scheduling/config also reads YAML. This
// package does not know what the arguments do.
//
// # Determinism and concurrency
//
// Every result is a function of its input; errors come in the order of the text, or
// of upstream's checks. There is no shared state; any number of goroutines may read
// a value.
//
// Source: kube-scheduler 1.37.1, k8s.io/kube-scheduler/config/v1 and
// pkg/scheduler/apis/config, with the feature gates at their defaults.
package args
