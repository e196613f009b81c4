// Package input reads clusters for the examples: output of kubectl, manifests in
// YAML or JSON, and the OpenB trace in CSV. It also has a sample cluster of its own.
//
//	c, err := input.Load(*nodes, *pods) // file names; "" for none
//	if err != nil {
//		return err // one line: file, object, field, value, and what is wrong
//	}
//	snap, pending, err := c.Snapshot()
//
// Pods that have a node run there; the others are pending. Workloads stand for the
// pods that they would make, see [Cluster.Snapshot].
//
// Your own program needs little of this: [api.Decode] reads JSON, config.YAMLToJSON
// turns YAML into it, and [framework.SnapshotOf] makes a snapshot.
package input
