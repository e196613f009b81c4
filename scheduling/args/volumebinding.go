package args

import "github.com/berth-sched/berth/framework/api"

// VolumeBinding holds the arguments of the plugin of that name.
//
// Source: VolumeBindingArgs, kubescheduler.config.k8s.io/v1, with the feature
// gate StorageCapacityScoring on, as it is in 1.37.
type VolumeBinding struct {
	api.TypeMeta `json:",inline"`

	// BindTimeoutSeconds is how long the plugin waits for volumes to be bound. 0
	// means no wait. The default is 600.
	BindTimeoutSeconds int64 `json:"bindTimeoutSeconds"`
	// Shape is the score of a node by the utilization of its storage. In a file, an
	// empty shape becomes 10 at 0 % and 0 at 100 %: the emptiest storage first. In a
	// value built in Go, an empty shape turns scoring off.
	Shape []UtilizationShapePoint `json:"shape,omitempty"`
}

// NewVolumeBinding returns the default arguments.
func NewVolumeBinding() *VolumeBinding {
	a := &VolumeBinding{BindTimeoutSeconds: 600}
	a.complete()
	return a
}

func (a *VolumeBinding) complete() {
	a.TypeMeta = meta("VolumeBinding")
	if len(a.Shape) == 0 {
		a.Shape = []UtilizationShapePoint{{Utilization: 0, Score: maxShapeScore}, {Utilization: maxUtilization, Score: 0}}
	}
}

// Validate returns every violated rule. path prefixes the field paths; it may be
// empty.
func (a *VolumeBinding) Validate(path string) []FieldError {
	var errs []FieldError
	if s := a.BindTimeoutSeconds; s < 0 {
		errs = append(errs, Invalid(child(path, "bindTimeoutSeconds"), s, "invalid BindTimeoutSeconds, should not be a negative value"))
	}
	if len(a.Shape) > 0 {
		errs = append(errs, validateShape(child(path, "shape"), a.Shape)...)
	}
	return errs
}

// DecodeVolumeBindingUnscored is the [Decoder] of VolumeBinding in releases before
// 1.37, where the feature gate StorageCapacityScoring is off: an empty shape stays
// empty.
func DecodeVolumeBindingUnscored(raw []byte) (any, []FieldError) {
	a := NewVolumeBinding()
	a.Shape = nil
	errs := Decode(raw, a)
	a.TypeMeta = meta("VolumeBinding")
	return a, errs
}
