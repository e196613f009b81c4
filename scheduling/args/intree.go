package args

import "github.com/berth-sched/berth/framework/api"

// APIVersion is the version of the configuration that defines these argument types.
const APIVersion = "kubescheduler.config.k8s.io/v1"

// A Decoder turns the arguments of one plugin, a JSON value, into a typed value with
// every default filled in. Empty raw and null mean no arguments. It must report
// unknown fields. It should accept "kind" and "apiVersion", both optional; its
// caller checks them. If there are errors, the value is not used. A value may have a
// method GivenIn(apiVersion string), which receives the version of the arguments, or
// their file's version if the arguments give none.
type Decoder func(raw []byte) (any, []FieldError)

// A Validator is a decoded value that can check itself. path is the path of the
// value and may be empty.
type Validator interface {
	Validate(path string) []FieldError
}

// InTree returns the decoders of the in-tree plugins with arguments, by the name of
// the plugin. They return pointers to the types of this package.
func InTree() map[string]Decoder {
	return map[string]Decoder{
		"DefaultPreemption":               decode(NewDefaultPreemption),
		"DynamicResources":                decode(NewDynamicResources),
		"InterPodAffinity":                decode(NewInterPodAffinity),
		"NodeAffinity":                    decode(NewNodeAffinity),
		"NodeResourcesBalancedAllocation": decode(NewNodeResourcesBalancedAllocation),
		// A configured strategy does not start from the default one.
		"NodeResourcesFit":  decode(func() *NodeResourcesFit { return new(NodeResourcesFit) }),
		"PodTopologySpread": decode(NewPodTopologySpread),
		"VolumeBinding":     decode(NewVolumeBinding),
	}
}

// decode returns a decoder that reads the arguments over the result of start, and
// then completes them.
func decode[A interface{ complete() }](start func() A) Decoder {
	return func(raw []byte) (any, []FieldError) {
		a := start()
		errs := Decode(raw, a)
		a.complete()
		return a, errs
	}
}

// meta returns the kind and version of the arguments of a plugin.
func meta(plugin string) api.TypeMeta {
	return api.TypeMeta{Kind: plugin + "Args", APIVersion: APIVersion}
}
