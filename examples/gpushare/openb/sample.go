package openb

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/berth-sched/berth/examples/gpushare/devices"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

// Sample makes a small trace of its own: nodes of a few shapes, and pods that ask for
// parts of GPUs, whole ones, several, or none, some of them for a model.
func Sample(nodes, pods int, seed uint64) (*Trace, error) {
	r := rand.New(rand.NewPCG(seed, 0))
	o := new(api.Objects)
	for i := range nodes {
		shape := shapes[r.IntN(len(shapes))]
		n := api.MakeNode(fmt.Sprintf("node-%04d", i), strconv.Itoa(shape.cores), strconv.Itoa(shape.cores*4)+"Gi").
			Resource(resource.Pods, "1001").
			Resource(devices.Vendor+"/gpu-count", strconv.Itoa(shape.gpus)).
			Labels(devices.Vendor+"/gpu-card-model", shape.model)
		o.Nodes = append(o.Nodes, n.Obj())
	}
	for i := range pods {
		class := classes[r.IntN(len(classes))]
		p := api.MakePod(fmt.Sprintf("pod-%05d", i)).Requests(strconv.Itoa(class.cores*1000+r.IntN(3)*500)+"m", strconv.Itoa(class.cores)+"Gi")
		if class.count > 0 {
			p = p.Annotations(devices.Vendor+"/gpu-count", strconv.Itoa(class.count), devices.Vendor+"/gpu-milli", strconv.Itoa(class.milli))
		}
		if class.models != "" {
			p = p.Annotations(devices.Vendor+"/gpu-card-model", class.models)
		}
		o.Pods = append(o.Pods, p.Obj())
	}
	return New("sample", o)
}

var shapes = []struct {
	cores, gpus int
	model       string
}{
	{96, 8, "G2"}, {96, 8, "G2"}, {104, 2, "T4"}, {16, 2, "P100"}, {32, 4, "V100M16"}, {96, 8, "V100M32"},
}

// classes are the pods of the sample: half of them ask for shares.
var classes = []struct {
	cores, count, milli int
	models              string
}{
	{3, 1, 810, ""},
	{3, 1, 810, ""},
	{6, 1, 460, ""},
	{4, 1, 300, ""},
	{2, 1, 100, "T4"},
	{8, 1, 620, ""},
	{11, 1, 1000, ""},
	{8, 1, 1000, "V100M16|V100M32"},
	{4, 1, 1000, ""},
	{20, 2, 1000, ""},
	{64, 8, 1000, ""},
	{12, 0, 0, ""},
}
