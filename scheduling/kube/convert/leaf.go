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
	leaf[resource.Quantity, quantity.Quantity](): func(dst, src unsafe.Pointer) {
		*(*resource.Quantity)(dst) = toQuantity((*quantity.Quantity)(src))
	},
	leaf[resource.List, corev1.ResourceList](): func(dst, src unsafe.Pointer) {
		*(*resource.List)(dst) = toList(*(*corev1.ResourceList)(src))
	},
	leaf[time.Time, metav1.Time](): func(dst, src unsafe.Pointer) {
		*(*time.Time)(dst) = toTime((*metav1.Time)(src).Time)
	},
	leaf[json.RawMessage, runtime.RawExtension](): func(dst, src unsafe.Pointer) {
		*(*json.RawMessage)(dst) = (*runtime.RawExtension)(src).Raw
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

func toList(l corev1.ResourceList) resource.List {
	if l == nil {
		return nil
	}
	out := make(resource.List, len(l))
	for name, q := range l {
		out[resource.Name(name)] = toQuantity(&q)
	}
	return out
}

// toQuantity returns the quantity that the text of q stands for. Whole numbers and
// thousandths, which is nearly all, need no text.
func toQuantity(q *quantity.Quantity) resource.Quantity {
	if q.Format != quantity.DecimalExponent {
		if v, ok := q.AsInt64(); ok {
			if q.Format == quantity.BinarySI && v%1024 == 0 && v != 0 {
				return resource.New(v, resource.BinarySI)
			}
			return resource.New(v, resource.DecimalSI)
		}
		if q.Format == quantity.DecimalSI {
			milli := q.MilliValue()
			if q.Cmp(*quantity.NewMilliQuantity(milli, quantity.DecimalSI)) == 0 {
				return resource.Milli(milli)
			}
		}
	}
	copied := *q // String keeps the text in its receiver
	out, err := resource.Parse(copied.String())
	switch {
	case err == nil:
		return out
	case q.Sign() < 0:
		return least
	}
	return greatest
}

// greatest and least stand for amounts beyond those of a [resource.Quantity], the only ones
// that it does not read of what upstream writes. An object that could not be converted for
// such an amount would not count.
var greatest, least = resource.MustParse("1e999"), resource.MustParse("-1e999")

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
