package simulate

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// The GPU resources of the OpenB trace. A pod may ask for a share of a GPU, in
// thousandths. As a resource, the GPUs of a node are one sum, so the free shares of
// several GPUs may add up to more than any single one has free. The annotations of a pod
// say what it asks of each GPU, for plugins that know single GPUs.
const (
	gpuMilli = resource.Name("alibabacloud.com/gpu-milli")
	gpuModel = "alibabacloud.com/gpu-card-model"

	annotationGPUCount  = "alibabacloud.com/gpu-count"
	annotationGPUMilli  = "alibabacloud.com/gpu-milli"
	annotationGPUModels = gpuModel
)

// openBPods is how many pods a node of the trace takes.
const openBPods = 1001

// The columns that the two tables must have.
var (
	nodeColumns = []string{"sn", "cpu_milli", "memory_mib", "gpu"}
	podColumns  = []string{"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}
)

// IsOpenB reports whether data begins with column names of one of the two tables,
// even if some are missing.
func IsOpenB(data []byte) bool {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	columns := strings.Split(strings.TrimSpace(string(line)), ",")
	return len(columns) > 1 && slices.ContainsFunc(columns, func(c string) bool {
		return c == "cpu_milli" || c == "memory_mib" || c == "num_gpu" || c == "gpu_milli"
	})
}

// DecodeOpenB adds the nodes or the pods of the OpenB trace to o. It finds columns
// by their names:
//
//	nodes  sn, cpu_milli, memory_mib, gpu, model
//	pods   name, cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec,
//	       creation_time, deletion_time
//
// All pods are pending, in the order of the rows, because the phases of the trace
// come from a run of another scheduler. The times, in seconds, become annotations,
// unless a row lacks one of them. So does what a pod asks of GPUs: their number, the
// thousandths of each, and the models. A fault is an error with the
// line, the column and the value, and then o is unchanged. Tables of other traces of the same columns, such as
// Alibaba's later ones, are read as well.
//
// Source: the cluster trace "openb" that Alibaba published with "Beware of
// Fragmentation" (USENIX ATC 2023).
func DecodeOpenB(o *api.Objects, data []byte) error {
	r := csv.NewReader(bytes.NewReader(data))
	r.ReuseRecord = true
	header, err := r.Read()
	if err != nil {
		return err
	}
	t := table{columns: map[string]int{}}
	for i, name := range header {
		if _, twice := t.columns[name]; twice && name != "" {
			return &api.InvalidError{Object: "line 1", Field: "columns", Value: name, Err: errTwice}
		}
		t.columns[name] = i
	}
	add, what, needed := t.pod, "pods", podColumns
	if slices.Contains(header, "sn") || !slices.Contains(header, "name") && slices.Contains(header, "gpu") {
		add, what, needed = t.node, "nodes", nodeColumns
	}
	if err := missing(header, what, needed); err != nil {
		return err
	}
	var read api.Objects
	for {
		if t.row, err = r.Read(); err == io.EOF {
			o.Nodes, o.Pods = append(o.Nodes, read.Nodes...), append(o.Pods, read.Pods...)
			return nil
		}
		if err != nil && !errors.Is(err, csv.ErrFieldCount) {
			return err // there is no row, and so no place in it
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			return fmt.Errorf("line %d: %d fields, want %d, as many as columns in line 1", line, len(t.row), len(header))
		}
		t.object, t.err = fmt.Sprintf("line %d", line), nil
		if add(&read); t.err != nil {
			return t.err
		}
	}
}

// missing reports all columns that a table of nodes or pods needs and lacks.
func missing(header []string, what string, needed []string) error {
	lacks := slices.DeleteFunc(slices.Clone(needed), func(name string) bool { return slices.Contains(header, name) })
	if len(lacks) == 0 {
		return nil
	}
	return &api.InvalidError{
		Object: "line 1", Field: "columns", Value: strings.Join(header, ","),
		Err: fmt.Errorf("there is no %s; a table of %s has the columns %s", strings.Join(lacks, ", "), what, strings.Join(needed, ",")),
	}
}

// A table reads rows. It keeps the first error of a row.
type table struct {
	columns map[string]int
	row     []string
	object  string // names the row in errors
	err     error
}

// text returns a field, "" if there is no such column.
func (t *table) text(column string) string {
	if i, ok := t.columns[column]; ok {
		return strings.Clone(t.row[i])
	}
	return ""
}

// name returns the field that names the object.
func (t *table) name(column, kind string) string {
	name := t.text(column)
	switch {
	case name == "":
		t.fail(column, "", errors.New("is missing"))
	case len(name) > maxName:
		t.fail(column, name, fmt.Errorf("must have at most %d bytes", maxName))
		name = name[:maxName]
	}
	t.object += ": " + kind + name
	return name
}

// maxName bounds names, in bytes, as decoders of objects do: they are repeated in what is made for an object.
const maxName = 512

// number returns a field that must be a count. 31 bits are enough for every column,
// and the product of two such numbers cannot overflow.
func (t *table) number(column string) int64 {
	text := t.text(column)
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		t.fail(column, text, errors.New("want a whole number from 0 to 2147483647"))
	}
	return int64(n)
}

func (t *table) fail(column, value string, err error) {
	if t.err == nil {
		t.err = &api.InvalidError{Object: t.object, Field: column, Value: value, Err: err}
	}
}

// resources returns CPU, memory, and thousandths of GPUs if there are any.
func (t *table) resources(gpus int64) resource.List {
	list := resource.List{
		resource.CPU:    resource.Milli(t.number("cpu_milli")),
		resource.Memory: resource.New(t.number("memory_mib")<<20, resource.BinarySI),
	}
	if gpus > 0 {
		list[gpuMilli] = resource.New(gpus, resource.DecimalSI)
	}
	return list
}

func (t *table) node(o *api.Objects) {
	name := t.name("sn", "node ")
	b := api.MakeNode(name, "", "")
	if model := t.text("model"); model != "" {
		b = b.Labels(gpuModel, model)
	}
	n := b.Obj()
	n.Status.Capacity = t.resources(1000 * t.number("gpu"))
	n.Status.Capacity[resource.Pods] = resource.New(openBPods, resource.DecimalSI)
	n.Status.Allocatable = n.Status.Capacity
	o.Nodes = append(o.Nodes, n)
}

func (t *table) pod(o *api.Objects) {
	p := api.MakePod(t.name("name", "pod default/")).Obj()
	p.Annotations = map[string]string{}
	if t.text("creation_time") != "" && t.text("deletion_time") != "" {
		from, until := t.number("creation_time"), t.number("deletion_time")
		if until < from {
			t.fail("deletion_time", t.text("deletion_time"), errors.New("is before the creation_time"))
		}
		p.Annotations[AnnotationArrival] = strconv.FormatInt(from, 10)
		p.Annotations[AnnotationRunTime] = strconv.FormatInt(until-from, 10)
	}
	count, milli := t.number("num_gpu"), t.number("gpu_milli")
	switch {
	case milli > 1000:
		t.fail("gpu_milli", t.text("gpu_milli"), errors.New("want thousandths of each GPU, at most 1000"))
	case count == 0 && milli > 0:
		t.fail("gpu_milli", t.text("gpu_milli"), errors.New("num_gpu is 0"))
	}
	p.Spec.Containers[0].Resources.Requests = t.resources(count * milli)
	if count*milli > 0 {
		p.Annotations[annotationGPUCount] = strconv.FormatInt(count, 10)
		p.Annotations[annotationGPUMilli] = strconv.FormatInt(milli, 10)
	}
	// The models that the pod accepts, if not all.
	if models := t.text("gpu_spec"); models != "" {
		for model := range strings.SplitSeq(models, "|") {
			if model == "" || strings.ContainsAny(model, " \t,;") {
				t.fail("gpu_spec", models, errors.New("want names of models, with | between them"))
			}
		}
		p.Annotations[annotationGPUModels] = models
		p.Spec.Affinity = &api.Affinity{NodeAffinity: &api.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &api.NodeSelector{NodeSelectorTerms: []api.NodeSelectorTerm{{
				MatchExpressions: []api.NodeSelectorRequirement{{
					Key: gpuModel, Operator: api.NodeSelectorOpIn, Values: strings.Split(models, "|"),
				}},
			}}},
		}}
	}
	o.Pods = append(o.Pods, p)
}
