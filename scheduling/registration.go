package scheduling

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/scheduling/args"
)

// Combined is one plugin made of several values with the same name, such as
// filter.NodeAffinity and scoring.NodeAffinity. At every point, the first value that
// serves it is used.
type Combined []framework.Plugin

// Name returns the name of the first part; "" without any.
func (p Combined) Name() string {
	if len(p) == 0 {
		return ""
	}
	return p[0].Name()
}

// PluginFor returns the first part of the plugin for which serves is true, usually
// the part that serves an extension point; nil if there is none. A plugin that is
// not a [Combined] is its only part.
func PluginFor(p framework.Plugin, serves func(framework.Plugin) bool) framework.Plugin {
	parts := partsOf(p)
	if i := slices.IndexFunc(parts, serves); i >= 0 {
		return parts[i]
	}
	return nil
}

func partsOf(p framework.Plugin) Combined {
	if parts, ok := p.(Combined); ok {
		return parts
	}
	return Combined{p}
}

// RegisterValue registers a plugin that takes no arguments: p itself, in every profile.
func RegisterValue(p framework.Plugin) Registration {
	return Registration{Like: p, New: func(raw any, _ framework.Handle) (framework.Plugin, error) {
		if raw != nil {
			return nil, fmt.Errorf("got args %s, want none", raw)
		}
		return p, nil
	}}
}

// RegisterTyped registers a plugin whose arguments are decoded strictly into an A.
// If *A has a method SetDefaults(), an A starts from its defaults; if *A is an
// [args.Validator], it is validated. It may have fields for kind and apiVersion.
//
// P should be the plugin's own type, because the type shows the points that it
// serves. If P is an interface or a wrapper, set Like of the result.
func RegisterTyped[A any, P framework.Plugin](make func(a *A, h framework.Handle) (P, error)) Registration {
	return Registration{
		Like: zeroOf[P](),
		Args: decodeInto[A],
		New: func(decoded any, h framework.Handle) (framework.Plugin, error) {
			a, ok := decoded.(*A)
			if !ok {
				return nil, fmt.Errorf("got args of type %T, want %T", decoded, a)
			}
			return make(a, h)
		},
	}
}

// zeroOf returns an empty P, or nil if P is an interface.
func zeroOf[P framework.Plugin]() framework.Plugin {
	if t := reflect.TypeFor[P](); t.Kind() == reflect.Pointer {
		return reflect.New(t.Elem()).Interface().(framework.Plugin)
	}
	var zero P
	return zero
}

// decodeInto decodes arguments. Their kind and apiVersion need no fields in A.
func decodeInto[A any](raw []byte) (any, []args.FieldError) {
	a := new(A)
	if d, ok := any(a).(interface{ SetDefaults() }); ok {
		d.SetDefaults()
	}
	errs := args.Decode(raw, a)
	return a, slices.DeleteFunc(errs, func(e args.FieldError) bool {
		return e.Type == args.UnknownField && (e.Field == "kind" || e.Field == "apiVersion")
	})
}
