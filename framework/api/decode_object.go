package api

import (
	"errors"
	"fmt"
	"reflect"
)

// Object is any of the object types in [Objects].
type Object interface {
	Pod | Node | Namespace | ResourceQuota | PriorityClass | PodDisruptionBudget | PodGroup | CompositePodGroup | Workload | Service |
		ReplicationController | ReplicaSet | StatefulSet | Deployment | DaemonSet | Job |
		PersistentVolume | PersistentVolumeClaim | StorageClass |
		CSINode | CSIDriver | CSIStorageCapacity | VolumeAttachment |
		DeviceClass | ResourceSlice | ResourceClaim | ResourceClaimTemplate | DeviceTaintRule |
		NodeMetric | Cluster
}

// DecodeObject reads the JSON of one object of kind T, as [Decode] reads it. The
// object may omit its kind and apiVersion, but must not name others.
//
//	pod, err := api.DecodeObject[api.Pod](data)
func DecodeObject[T Object](data []byte) (*T, error) {
	const where = "document 1"
	k := kindOf(reflect.TypeFor[T]().Name(), "")
	d := newDecoder(data)
	switch d.Peek() {
	case '{':
	case '[':
		return nil, &InvalidError{Object: where, Err: errors.New("want an object, got a list; decode its items one by one")}
	default:
		return nil, at(d.Unexpected("an object"), where)
	}
	start := d.Mark().Pos
	h, field, err := d.readHeader()
	if err != nil {
		return nil, atField(err, where, field)
	}
	if h.kind == "" {
		h.kind = k.name
	}
	if kindOf(h.kind, h.apiVersion) != k {
		return nil, &InvalidError{Object: where, Field: "kind", Value: h.groupKind(), Err: fmt.Errorf("want %s", header{kind: k.name, apiVersion: k.apiVersion}.groupKind())}
	}
	x, err := k.decode(new(Objects), d)
	if err != nil {
		return nil, at(err, d.label(k, start, where))
	}
	if !d.AtEnd() {
		return nil, at(d.Unexpected("the end of the input"), where)
	}
	if err := k.complete(x, h, &place{number: 1}); err != nil {
		return nil, err
	}
	return any(x).(*T), nil
}
