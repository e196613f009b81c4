package input

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/berth-sched/berth/examples/internal/manifest"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A Cluster holds the objects read and the files they came from. The zero Cluster is
// empty and ready to use.
type Cluster struct {
	// Objects holds the objects as they were read.
	Objects api.Objects
	// Title describes the cluster in a few words.
	Title string

	// Progress is called while text is read, with the bytes so far; nil means nobody
	// looks.
	Progress func(bytes int64)
	// Strict is set if Doubts lists repeated fields too.
	Strict bool
	// SkipStrays is set if a snapshot leaves out pods on nodes that are not among the objects, as
	// kube-scheduler does; otherwise they are errors. They are normal while a node is removed.
	SkipStrays bool

	sources []*source
	made    map[string]string // the workload of a pod that expand made, both as in errors
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
		if err := c.ReadFile(nodes); err != nil {
			return nil, err
		}
	}
	if pods != "" && pods != nodes {
		if nodes != "" {
			c.Title += ", " + pods
		}
		if err := c.ReadFile(pods); err != nil {
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

// ReadFile adds the objects of a file; "-" is standard input. If it returns an error, do not
// use the cluster any more.
func (c *Cluster) ReadFile(file string) error {
	if file == "-" {
		return c.Read("standard input", os.Stdin)
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	s := &source{Source: manifest.Source{Name: file}}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		s.Open = func() (io.ReadCloser, error) { return os.Open(file) }
	}
	return c.add(s, f)
}

// Read adds the objects of a text. name is the name of the text in errors. If Read
// returns an error, do not use the cluster any more.
func (c *Cluster) Read(name string, r io.Reader) error {
	return c.add(&source{Source: manifest.Source{Name: name}}, r)
}

func (c *Cluster) add(s *source, r io.Reader) error {
	c.sources = append(c.sources, s)
	s.Strict = c.Strict
	s.pods[0] = len(c.Objects.Pods)
	err := s.decode(&c.Objects, &counter{r: r, tell: c.Progress})
	s.pods[1] = len(c.Objects.Pods)
	return err
}

// A counter counts what is read.
type counter struct {
	r    io.Reader
	n    int64
	tell func(int64)
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n += int64(n); c.tell != nil {
		c.tell(c.n)
	}
	return n, err
}

// Snapshot returns the cluster with its running pods, in kube-scheduler's order of
// nodes, and the pending pods in the order of the files.
//
// It sets the defaults that the API server would set, with the priorities of classes that are not among the
// objects as pods have them. It also expands workloads
// (Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, ReplicationController): a
// workload stands for the pods that its controller would make, unless the objects
// include a pod or another workload of it. These pods come after all others. The
// error reports the first problem and its file.
func (c *Cluster) Snapshot() (*framework.Snapshot, []*framework.PodInfo, error) {
	if err := c.Objects.Validate(); err != nil {
		return nil, nil, c.Explain(err)
	}
	c.learnClasses()
	if err := c.expand(); err != nil {
		return nil, nil, c.Explain(err)
	}
	return c.snapshot()
}

// SnapshotAsWritten is Snapshot without the pods that workloads stand for.
func (c *Cluster) SnapshotAsWritten() (*framework.Snapshot, []*framework.PodInfo, error) {
	if err := c.Objects.Validate(); err != nil {
		return nil, nil, c.Explain(err)
	}
	c.learnClasses()
	return c.snapshot()
}

func (c *Cluster) snapshot() (*framework.Snapshot, []*framework.PodInfo, error) {
	if err := c.Objects.Default(); err != nil {
		return nil, nil, c.Explain(err)
	}
	snap, pending, err := framework.SnapshotOf(c.Counted(), framework.ZoneInterleaved)
	if err != nil {
		return nil, nil, c.Explain(err)
	}
	return snap, pending, nil
}

// findStray returns a function that tells pods that run on a node that is not among the objects. Without
// any nodes there are none: then the nodes were forgotten.
func (c *Cluster) findStray() func(*api.Pod) bool {
	nodes := map[string]bool{}
	for _, n := range c.Objects.Nodes {
		nodes[n.Name] = true
	}
	return func(p *api.Pod) bool {
		return len(nodes) > 0 && p.Spec.NodeName != "" && !nodes[p.Spec.NodeName] && !p.Status.Phase.HasEnded()
	}
}

// strays lists those pods as errors.
func (c *Cluster) strays() (list []*api.InvalidError) {
	isStray := c.findStray()
	for _, p := range c.Objects.Pods {
		if isStray(p) {
			list = append(list, &api.InvalidError{Object: "pod " + p.Key(), Field: "spec.nodeName", Value: p.Spec.NodeName, Err: errStray})
		}
	}
	return list
}

var errStray = errors.New("this node is not among the objects, so the pod counts nowhere")

// Counted returns the objects, without those pods if they are left out.
func (c *Cluster) Counted() *api.Objects {
	if !c.SkipStrays {
		return &c.Objects
	}
	isStray, o := c.findStray(), c.Objects
	o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), isStray)
	return &o
}

// Explain says where the first of the joined errors is, in file and line, and counts the
// others.
func (c *Cluster) Explain(err error) error {
	more := 0
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list := joined.Unwrap()
		err, more = list[0], len(list)-1
	}
	var invalid *api.InvalidError
	if errors.As(err, &invalid) {
		err = c.locate([]*api.InvalidError{invalid})[0].in(err)
		switch {
		case invalid.Field == "spec.nodeName" && len(c.Objects.Nodes) == 0:
			err = fmt.Errorf("%w; add the nodes: kubectl get nodes -o json", err)
		case invalid.Field == "spec.priorityClassName" && len(c.Objects.PriorityClasses) == 0:
			err = fmt.Errorf("%w; add the classes: kubectl get priorityclasses -o json", err)
		}
	}
	if more > 0 {
		err = fmt.Errorf("%w (and %d more)", err, more)
	}
	return err
}

// A position is a file and a line. The file is "" if no file has the object, the line 0 if it
// is not known.
type position struct {
	file string
	line int
}

// in says in an error where it is.
func (p position) in(err error) error {
	if p.file == "" {
		return err
	}
	return &manifest.FaultError{File: p.file, Line: p.line, Err: err}
}

// locate returns where errors are. Later files come first. Each file is read at most once.
func (c *Cluster) locate(list []*api.InvalidError) []position {
	fields := manifest.FieldsOf(list, c.made)
	positions := make([]position, len(list))
	for _, s := range slices.Backward(c.sources) {
		if s.table == "" {
			s.Find(fields)
		}
		for i, f := range fields {
			if f.Found && positions[i].file == "" {
				positions[i] = position{s.Name, f.Line}
			}
		}
	}
	for i, f := range fields {
		if !f.Found {
			positions[i].file = c.tableOf(f.Object)
		}
	}
	return positions
}

// tableOf returns the file of the table that has the object, if there is only one table
// of objects of its kind.
func (c *Cluster) tableOf(object string) string {
	kind, _, _ := strings.Cut(object, " ")
	var files []string
	for _, s := range c.sources {
		if s.table == kind {
			files = append(files, s.Name)
		}
	}
	if len(files) == 1 {
		return files[0]
	}
	return ""
}

// Doubts lists what is likely a mistake, though it can be read: fields that look misspelt,
// fields that an object has twice if the cluster is read strictly, values that no API
// server takes in fields that decide nothing, and pods on nodes that are not there. Each names file,
// line, object and field, as far as they are known. It returns the first few of them, at most so many,
// and counts the others.
func (c *Cluster) Doubts(most int) (list []error, more int) {
	for _, s := range c.sources {
		for _, fault := range s.Doubts() {
			list = append(list, fault)
		}
	}
	values := append(c.Objects.Doubts(), c.strays()...)
	more = max(len(list)+len(values)-most, 0)
	list = list[:min(len(list), most)]
	values = values[:min(len(values), most-len(list))]
	for i, at := range c.locate(values) {
		list = append(list, at.in(values[i]))
	}
	return list, more
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
