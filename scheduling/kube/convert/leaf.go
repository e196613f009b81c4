package convert

import (
	"encoding/json"
	"iter"
	"maps"
	"reflect"
	"slices"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-sched/berth/resource"
)

// A pair is two types that a leaf converts.
type pair struct{ dst, src reflect.Type }

// leaves convert the types whose values differ, not only their layout.
var leaves = map[pair]copier{
	leaf[resource.Quantity, quantity.Quantity](): func(dst, src unsafe.Pointer) (err error) {
		*(*resource.Quantity)(dst), err = toQuantity((*quantity.Quantity)(src))
		return err
	},
	leaf[resource.List, corev1.ResourceList](): func(dst, src unsafe.Pointer) (err error) {
		*(*resource.List)(dst), err = toList(*(*corev1.ResourceList)(src))
		return err
	},
	leaf[time.Time, metav1.Time](): func(dst, src unsafe.Pointer) error {
		*(*time.Time)(dst) = toTime((*metav1.Time)(src).Time)
		return nil
	},
	leaf[json.RawMessage, runtime.RawExtension](): func(dst, src unsafe.Pointer) error {
		*(*json.RawMessage)(dst) = (*runtime.RawExtension)(src).Raw
		return nil
	},
}

func leaf[D, S any]() pair { return pair{reflect.TypeFor[D](), reflect.TypeFor[S]()} }

// toTime returns the time as JSON has it: in whole seconds, without a time zone.
func toTime(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.Unix(t.Unix(), 0).UTC()
}

func toList(l corev1.ResourceList) (resource.List, error) {
	if l == nil {
		return nil, nil
	}
	out := make(resource.List, len(l))
	for name, q := range l {
		v, err := toQuantity(&q)
		if err != nil {
			return nil, within("["+string(name)+"]", err)
		}
		out[resource.Name(name)] = v
	}
	return out, nil
}

// toQuantity returns the quantity that the text of q stands for. Whole numbers and
// thousandths, which is nearly all, need no text.
func toQuantity(q *quantity.Quantity) (resource.Quantity, error) {
	if q.Format != quantity.DecimalExponent {
		if v, ok := q.AsInt64(); ok {
			if q.Format == quantity.BinarySI && v%1024 == 0 && v != 0 {
				return resource.New(v, resource.BinarySI), nil
			}
			return resource.New(v, resource.DecimalSI), nil
		}
		if q.Format == quantity.DecimalSI {
			milli := q.MilliValue()
			if q.Cmp(*quantity.NewMilliQuantity(milli, quantity.DecimalSI)) == 0 {
				return resource.Milli(milli), nil
			}
		}
	}
	copied := *q // String keeps the text in its receiver
	return resource.Parse(copied.String())
}

// ordered yields fields in their order in the struct.
func ordered(fields map[string]field) iter.Seq2[string, field] {
	names := slices.SortedFunc(maps.Keys(fields), func(a, b string) int { return fields[a].index - fields[b].index })
	return func(yield func(string, field) bool) {
		for _, name := range names {
			if !yield(name, fields[name]) {
				return
			}
		}
	}
}
