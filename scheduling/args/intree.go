package args

import "github.com/berth-sched/berth/framework/api"

// APIVersion is the version of the configuration whose argument types these are.
const APIVersion = "kubescheduler.config.k8s.io/v1"

// A Decoder turns the arguments of one plugin, a JSON value, into a typed value
// with every default filled in. Empty raw and null stand for no arguments. It
// must report unknown fields; it should read "kind" and "apiVersion", which may
// be given or not, and which its caller checks. When there are errors the value
// is not used. A value that has a method GivenIn(apiVersion string) is told the
// version of the arguments, or of their file if they do not tell it.
type Decoder func(raw []byte) (any, []FieldError)

// A Validator is a decoded value that knows the rules for it. path is the path of
// the value and may be empty.
type Validator interface {
	Validate(path string) []FieldError
}

// InTree returns the decoders of the in-tree plugins that take arguments, by the
// name of the plugin. They return pointers to the types of this package.
func InTree() map[string]Decoder {
	return map[string]Decoder{
		"DefaultPreemption":               decode(NewDefaultPreemption),
		"DynamicResources":                decode(NewDynamicResources),
		"InterPodAffinity":                decode(NewInterPodAffinity),
		"NodeAffinity":                    decode(NewNodeAffinity),
		"NodeResourcesBalancedAllocation": decode(NewNodeResourcesBalancedAllocation),
		// A strategy that is given does not start from the default one.
		"NodeResourcesFit":  decode(func() *NodeResourcesFit { return new(NodeResourcesFit) }),
		"PodTopologySpread": decode(NewPodTopologySpread),
		"VolumeBinding":     decode(NewVolumeBinding),
	}
}

// decode returns the decoder of arguments that are read over what start returns,
// and then completed.
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
