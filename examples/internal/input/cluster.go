package input

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Cluster is what was read, and from where. The zero Cluster is empty and
// ready to use.
type Cluster struct {
	// Objects are the objects as they were read.
	Objects api.Objects
	// Title says in a few words what this cluster is.
	Title string

	files  map[string]string // by object, named as errors name it: "pod default/web"
	tables map[string]bool   // files that are tables of the OpenB trace
}

// Load reads a file with nodes and one with pods. Each may hold both, and other
// kinds, so one file will do; its name may be given twice. Without any file the
// cluster is [Sample], and pods without any node go to the sample's nodes.
func Load(nodes, pods string) (*Cluster, error) {
	if nodes == "" && pods == "" {
		return Sample(), nil
	}
	c := &Cluster{Title: cmp.Or(nodes, pods)}
	if nodes != "" {
		if err := c.read(nodes); err != nil {
			return nil, err
		}
	}
	if pods != "" && pods != nodes {
		if nodes != "" {
			c.Title += ", " + pods
		}
		if err := c.read(pods); err != nil {
			return nil, err
		}
	}
	switch {
	case len(c.Objects.Nodes) > 0:
	case nodes != "":
		return nil, fmt.Errorf("%s: there are no nodes in it", nodes)
	default:
		c.Title += " on the nodes of the sample cluster"
		c.addSampleNodes()
	}
	return c, nil
}

func (c *Cluster) read(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return c.Add(file, data)
}

// Add adds what is in data, which came from a file of that name. If it returns
// an error, the cluster must not be used any more.
func (c *Cluster) Add(file string, data []byte) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // as spreadsheets write it
	nodes, pods := len(c.Objects.Nodes), len(c.Objects.Pods)
	if err := decode(&c.Objects, data); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if isOpenB(data) {
		if c.tables == nil {
			c.tables = map[string]bool{}
		}
		c.tables[file] = true
	}
	for _, n := range c.Objects.Nodes[nodes:] {
		c.from("node "+n.Name, file)
	}
	for _, p := range c.Objects.Pods[pods:] {
		c.from("pod "+p.Key(), file)
	}
	for _, w := range workloads(&c.Objects) {
		c.from(w.label(), cmp.Or(c.files[w.label()], file))
	}
	return nil
}

// from remembers the file of an object.
func (c *Cluster) from(object, file string) {
	if c.files == nil {
		c.files = map[string]string{}
	}
	c.files[object] = file
}

// Snapshot returns the cluster with the pods that run, in kube-scheduler's order
// of nodes, and the pods that wait, in the order of the files.
//
// What the API server would fill in is filled in. A workload (Deployment,
// ReplicaSet, StatefulSet, DaemonSet, Job, ReplicationController) of which no pod
// and no other workload is among the objects stands for the pods that its
// controller would make; they come after all others. The error tells the first
// problem and the file it is in.
func (c *Cluster) Snapshot() (*framework.Snapshot, []*framework.PodInfo, error) {
	if err := c.expand(); err != nil {
		return nil, nil, c.explain(err)
	}
	if err := c.Objects.Default(); err != nil {
		return nil, nil, c.explain(err)
	}
	snap, pending, err := framework.SnapshotOf(&c.Objects, framework.ZoneInterleaved)
	if err != nil {
		return nil, nil, c.explain(err)
	}
	return snap, pending, nil
}

// explain puts the file before the first of the joined errors, and counts the
// others.
func (c *Cluster) explain(err error) error {
	more := 0
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list := joined.Unwrap()
		err, more = list[0], len(list)-1
	}
	var invalid *api.InvalidError
	if errors.As(err, &invalid) {
		if file := c.files[invalid.Object]; file != "" {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	if more > 0 {
		err = fmt.Errorf("%w (and %d more)", err, more)
	}
	return err
}

// Ignored lists, for people, the kinds of objects that have no part in
// scheduling and how many of each were left out; it is "" if there were none.
func (c *Cluster) Ignored() string {
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(c.Objects.Skipped)) {
		list = append(list, fmt.Sprintf("%d %s", c.Objects.Skipped[kind], kind))
	}
	return strings.Join(list, ", ")
}
