package api_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// draw fills v, which is zero, with random content. Empty lists and maps stay nil,
// because JSON with omitted fields cannot distinguish the two.
func draw(t *rapid.T, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *resource.Quantity:
		*x = resource.MustParse(rapid.SampledFrom([]string{"0", "1", "100m", "1500u", "7n", "2Gi", "1e3", "12345678901234567890", "0.5Ki"}).Draw(t, "quantity"))
		return
	case *api.ResourceMap:
		var list resource.List
		draw(t, reflect.ValueOf(&list).Elem())
		for _, name := range []resource.Name{resource.CPU, resource.Memory} {
			if rapid.Bool().Draw(t, "has "+string(name)) {
				list = list.Add(resource.List{name: resource.New(rapid.Int64().Draw(t, "amount"), resource.DecimalSI)})
			}
		}
		*x = api.ResourceMapOf(list)
		return
	case *time.Time:
		// Kubernetes writes whole seconds.
		*x = time.Unix(rapid.Int64Range(1, 4e9).Draw(t, "time"), 0).UTC()
		return
	case *json.RawMessage:
		*x = json.RawMessage(rapid.SampledFrom([]string{`{"a":[1,"b"]}`, `"x"`, "7"}).Draw(t, "raw"))
		return
	case *api.Duration:
		x.Duration = time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "duration"))
		return
	case *api.IntOrString:
		if rapid.Bool().Draw(t, "is string") {
			*x = api.IntOrString{Type: api.String, StrVal: "25%"}
		} else {
			*x = api.IntOrString{IntVal: rapid.Int32().Draw(t, "int")}
		}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			draw(t, v.Field(i))
		}
	case reflect.Pointer:
		if rapid.IntRange(0, 3).Draw(t, "set") == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			draw(t, v.Elem())
		}
	case reflect.Slice:
		// Elements are never nil, as Decode guarantees.
		for range rapid.IntRange(-4, 2).Draw(t, "len") {
			e := reflect.New(v.Type().Elem()).Elem()
			if e.Kind() == reflect.Pointer {
				e.Set(reflect.New(e.Type().Elem()))
				draw(t, e.Elem())
			} else {
				draw(t, e)
			}
			v.Set(reflect.Append(v, e))
		}
	case reflect.Map:
		for range rapid.IntRange(-4, 2).Draw(t, "len") {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			draw(t, k)
			draw(t, e)
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(k, e)
		}
	case reflect.String:
		v.SetString(rapid.SampledFrom([]string{"", "a", "kubernetes.io/hostname", "\"\\/<&>", "é😀\u2028\n\x01"}).Draw(t, "string"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	default:
		if v.CanInt() {
			v.SetInt(rapid.Int64Range(-1<<31, 1<<31-1).Draw(t, "int"))
		} else {
			v.SetUint(rapid.Uint64Range(0, 1<<32-1).Draw(t, "uint"))
		}
	}
}

// An encoded object must decode to the same object, alone and in a list, and
// encoding/json must agree.
func roundTrip[T api.Object](t *testing.T) {
	t.Helper()
	name := reflect.TypeFor[T]().Name()
	t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
		want := new(T)
		v := reflect.ValueOf(want).Elem()
		draw(t, v)
		m := v.FieldByName("ObjectMeta").Addr().Interface().(*api.ObjectMeta)
		m.Name = "x"
		// Decode fills in kind, apiVersion and namespace.
		empty, err := api.DecodeObject[T]([]byte(`{"metadata":{"name":"x"}}`))
		if err != nil {
			t.Fatal(err)
		}
		plain := reflect.ValueOf(empty).Elem()
		v.FieldByName("TypeMeta").Set(plain.FieldByName("TypeMeta"))
		m.Namespace = plain.FieldByName("Namespace").String()

		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := api.DecodeObject[T](data)
		if err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("decoded from %s (-want +got):\n%s", data, diff)
		}
		var std T
		if err := json.Unmarshal(data, &std); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&std, got); diff != "" {
			t.Fatalf("encoding/json and Decode differ on %s (-json +decode):\n%s", data, diff)
		}
		if diff := cmp.Diff(want, api.Clone(want)); diff != "" {
			t.Fatalf("clone (-want +got):\n%s", diff)
		}
		o, err := api.Decode(fmt.Appendf(nil, `{"items":[%s,%s],"kind":"List"}%s`, data, data, data))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(keys(o)); n != 3 {
			t.Fatalf("Decode of three objects returns %d", n)
		}
	}))
}

func TestRoundTrip(t *testing.T) {
	roundTrip[api.Pod](t)
	roundTrip[api.Node](t)
	roundTrip[api.Namespace](t)
	roundTrip[api.PriorityClass](t)
	roundTrip[api.PodDisruptionBudget](t)
	roundTrip[api.ResourceQuota](t)
	roundTrip[api.Service](t)
	roundTrip[api.ReplicationController](t)
	roundTrip[api.ReplicaSet](t)
	roundTrip[api.StatefulSet](t)
	roundTrip[api.Deployment](t)
	roundTrip[api.DaemonSet](t)
	roundTrip[api.Job](t)
	roundTrip[api.PersistentVolume](t)
	roundTrip[api.PersistentVolumeClaim](t)
	roundTrip[api.StorageClass](t)
	roundTrip[api.CSINode](t)
	roundTrip[api.CSIDriver](t)
	roundTrip[api.CSIStorageCapacity](t)
	roundTrip[api.VolumeAttachment](t)
	roundTrip[api.DeviceClass](t)
	roundTrip[api.ResourceSlice](t)
	roundTrip[api.ResourceClaim](t)
	roundTrip[api.ResourceClaimTemplate](t)
	roundTrip[api.DeviceTaintRule](t)
	roundTrip[api.NodeMetric](t)
	roundTrip[api.Cluster](t)
}

func drawPod(t *rapid.T, p *api.Pod) { draw(t, reflect.ValueOf(p).Elem()) }
