package input

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/simulate"
	"github.com/berth-sched/berth/scheduling/workload"
)

// A Cluster holds the objects read and the files they came from. The zero Cluster is
// empty and ready to use.
type Cluster struct {
	// Objects holds the objects as they were read.
	Objects api.Objects
	// Title describes the cluster in a few words.
	Title string

	files  map[string]string // by object, named as in errors: "pod default/web"
	tables map[string]bool   // files that are tables of the OpenB trace
}

// Load reads a file with nodes and one with pods. Each may hold both, and other
// kinds of objects, so you may pass the same name twice. Without any file the
// cluster is [Sample]; if there are pods but no nodes, the pods go to the sample's
// nodes.
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

// Add adds the objects in data. file is the name of the file that data came from. If
// Add returns an error, do not use the cluster any more.
func (c *Cluster) Add(file string, data []byte) error {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // as spreadsheets write it
	nodes, pods := len(c.Objects.Nodes), len(c.Objects.Pods)
	if err := decode(&c.Objects, data); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if simulate.IsOpenB(data) {
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
	for _, w := range workload.Of(&c.Objects) {
		c.from(w.Label(), cmp.Or(c.files[w.Label()], file))
	}
	return nil
}

// from records the file of an object.
func (c *Cluster) from(object, file string) {
	if c.files == nil {
		c.files = map[string]string{}
	}
	c.files[object] = file
}

// Snapshot returns the cluster with its running pods, in kube-scheduler's order of
// nodes, and the pending pods in the order of the files.
//
// It sets the defaults that the API server would set. It also expands workloads
// (Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, ReplicationController): a
// workload stands for the pods that its controller would make, unless the objects
// include a pod or another workload of it. These pods come after all others. The
// error reports the first problem and its file.
func (c *Cluster) Snapshot() (*framework.Snapshot, []*framework.PodInfo, error) {
	if err := c.expand(); err != nil {
		return nil, nil, c.Explain(err)
	}
	if err := c.Objects.Default(); err != nil {
		return nil, nil, c.Explain(err)
	}
	snap, pending, err := framework.SnapshotOf(&c.Objects, framework.ZoneInterleaved)
	if err != nil {
		return nil, nil, c.Explain(err)
	}
	return snap, pending, nil
}

// Explain prefixes the first of the joined errors with its file, and counts the
// others.
func (c *Cluster) Explain(err error) error {
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

// Warn writes a line about each field that looks misspelt.
func (c *Cluster) Warn(w io.Writer) {
	for _, line := range c.Objects.Warnings() {
		fmt.Fprintln(w, "warning:", line)
	}
}

// Ignored lists, for people, the kinds of objects that have no part in scheduling,
// and how many of each were left out. It is "" if there were none.
func (c *Cluster) Ignored() string {
	var list []string
	for _, kind := range slices.Sorted(maps.Keys(c.Objects.Skipped)) {
		list = append(list, fmt.Sprintf("%d %s", c.Objects.Skipped[kind], kind))
	}
	return strings.Join(list, ", ")
}
