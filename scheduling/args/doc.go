// Package args holds the arguments of kube-scheduler's in-tree plugins, as the
// pluginConfig section of a KubeSchedulerConfiguration gives them: their types,
// in upstream's JSON form, with decoding, defaults and validation.
//
//	a, errs := args.InTree()["NodeResourcesFit"](raw)   // raw JSON, or nil for the defaults
//	fit := a.(*args.NodeResourcesFit)
//
// A type is named as its plugin, without upstream's suffix: [NodeResourcesFit]
// is the kind NodeResourcesFitArgs. New functions return the defaults, Validate
// methods return every broken rule, with the field path and the message of
// upstream.
//
// # Decoding
//
// [Decode] reads JSON into any Go value and reports, all at once, what
// encoding/json lets pass or stops at: unknown fields, duplicate fields, field
// names in the wrong case, values of the wrong type, each with its path. Authors
// of plugins can use it for their own arguments; a [Decoder] is what a registry
// wants from them.
//
// # What is left to you
//
// Which plugin exists, which of them is used and when its arguments are looked at
// is the business of scheduling/config and of the registry. YAML is read there,
// too. Nothing here knows what the arguments do.
//
// # Determinism and concurrency
//
// Everything is a function of its input; errors come in the order of the text,
// or of upstream's checks. There is no shared state; values may be read by any
// number of goroutines.
//
// Source: kube-scheduler 1.37.1, k8s.io/kube-scheduler/config/v1 and
// pkg/scheduler/apis/config, with the feature gates at their defaults.
package args
