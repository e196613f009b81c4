// Package workload gives the objects of berth's benchmarks to kube-scheduler.
//
// berth's internal/proof/gen/workload defines the objects once. This package
// converts them to Kubernetes' own types by way of their JSON, so that both sides
// read the same bytes. Decoding is strict: a field that Kubernetes does not know is
// an error.
package workload

import (
	"encoding/json"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	"github.com/berth-sched/berth/internal/proof/gen/workload"
)

// Node returns node i of any cluster.
func Node(i int) (*v1.Node, error) { return Convert[v1.Node](workload.Node(i)) }

// InitPod returns pod j of the initial pods of a cluster of n nodes.
func InitPod(j, n int) (*v1.Pod, error) { return Convert[v1.Pod](workload.InitPod(j, n)) }

// Pod returns pod i of a workload.
func Pod(k workload.Kind, i int) (*v1.Pod, error) { return Convert[v1.Pod](workload.Pod(k, i)) }

// Convert returns the Kubernetes object with the JSON of a berth object.
func Convert[T any](object any) (*T, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return Decode[T](data)
}

// Decode returns the Kubernetes object of a JSON text.
func Decode[T any](data []byte) (*T, error) {
	object := new(T)
	strict, err := kjson.UnmarshalStrict(data, object)
	if err != nil {
		return nil, fmt.Errorf("%T: %w", object, err)
	}
	if err := errors.Join(strict...); err != nil {
		return nil, fmt.Errorf("%T: %w", object, err)
	}
	return object, nil
}
