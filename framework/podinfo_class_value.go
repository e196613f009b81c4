package framework

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/berth-sched/berth/resource"
)

var (
	timeType     = reflect.TypeFor[time.Time]()
	quantityType = reflect.TypeFor[resource.Quantity]()
)

// appendValue appends a part of a pod, such as a list of tolerations. Two values of a
// type get the same bytes exactly if they are equal. JSON would not do: it has one
// text for all strings that are not UTF-8. Once b is longer than most bytes, the rest of a list is
// left out.
func appendValue(b []byte, v any, most int) []byte {
	return appendReflected(b, reflect.ValueOf(v), most)
}

func appendReflected(b []byte, v reflect.Value, most int) []byte {
	switch v.Kind() {
	case reflect.Bool:
		return appendBool(b, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.String:
		return appendString(b, v.String(), most)
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0)
		}
		return appendReflected(append(b, 1), v.Elem(), most)
	case reflect.Slice:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		for i := 0; i < v.Len() && len(b) <= most; i++ {
			b = appendReflected(b, v.Index(i), most)
		}
		return b
	case reflect.Map:
		if v.Len() > most-len(b) {
			return exceed(b, most)
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(x, y reflect.Value) int { return cmp.Compare(x.String(), y.String()) })
		b = binary.AppendUvarint(b, uint64(len(keys)))
		for _, k := range keys {
			b = appendReflected(appendReflected(b, k, most), v.MapIndex(k), most)
		}
		return b
	case reflect.Struct:
		return appendStruct(b, v, most)
	}
	panic(fmt.Sprintf("framework: a pod cannot hold a %s", v.Type()))
}

func appendStruct(b []byte, v reflect.Value, most int) []byte {
	switch v.Type() {
	case timeType:
		t := v.Interface().(time.Time)
		return binary.AppendVarint(binary.AppendVarint(b, t.Unix()), int64(t.Nanosecond()))
	case quantityType:
		return appendString(b, v.Interface().(resource.Quantity).String(), most)
	}
	for i := range v.NumField() {
		b = appendReflected(b, v.Field(i), most)
	}
	return b
}
