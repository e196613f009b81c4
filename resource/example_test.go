package resource_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/berth-sched/berth/resource"
)

func Example() {
	schema := resource.NewSchema()
	var allocatable, requests resource.List
	for text, list := range map[string]*resource.List{
		`{"cpu":"4","memory":"8Gi","pods":"110"}`: &allocatable,
		`{"cpu":"100m","memory":"500Mi"}`:         &requests,
	} {
		if err := json.Unmarshal([]byte(text), list); err != nil {
			fmt.Println(err)
			return
		}
	}
	free := schema.Vector(allocatable).Sub(schema.Vector(requests))
	fmt.Println(free.At(resource.IndexCPU), "thousandths of a CPU")
	fmt.Println(free.At(resource.IndexMemory), "bytes")
	// Output:
	// 3900 thousandths of a CPU
	// 8065646592 bytes
}

func ExampleName_IsScalar() {
	for _, n := range []resource.Name{"cpu", "example.com/gpu", "hugepages-2Mi", "gpu"} {
		fmt.Println(n, n.IsScalar())
	}
	// Output:
	// cpu false
	// example.com/gpu true
	// hugepages-2Mi true
	// gpu false
}

func ExampleQuantity() {
	total := resource.MustParse("1.5Gi").Add(resource.MustParse("512Mi"))
	fmt.Println(total, total.Value())

	cpu := resource.Milli(250)
	fmt.Println(cpu, cpu.MilliValue(), cpu.Value())
	fmt.Println(cpu.Cmp(resource.MustParse("0.3")), cpu.Equal(resource.MustParse("250m")))
	// Output:
	// 2Gi 2147483648
	// 250m 250 1
	// -1 true
}

func ExampleParse() {
	for _, text := range []string{"0.1", "1024Mi", "1e4", "0.5n"} {
		q, err := resource.Parse(text)
		fmt.Println(q, q.Format(), err)
	}
	// Output:
	// 100m DecimalSI <nil>
	// 1Gi BinarySI <nil>
	// 10e3 DecimalExponent <nil>
	// 1n DecimalSI <nil>
}

func ExampleFormat() {
	for _, f := range []resource.Format{resource.DecimalSI, resource.BinarySI, resource.DecimalExponent} {
		fmt.Println(f, resource.New(1_024_000, f))
	}
	// Output:
	// DecimalSI 1024k
	// BinarySI 1000Ki
	// DecimalExponent 1024e3
}

func ExampleSyntaxError() {
	_, err := resource.Parse("2 GB")
	var syntax *resource.SyntaxError
	fmt.Println(errors.As(err, &syntax), err)
	// Output:
	// true quantity "2 GB" does not consist of a number and a suffix of Kubernetes
}

func ExampleList() {
	app := resource.List{resource.CPU: resource.Milli(500), resource.Memory: resource.MustParse("1Gi")}
	sidecar := resource.List{resource.CPU: resource.Milli(250)}
	setup := resource.List{resource.CPU: resource.MustParse("2")}

	total := app.Add(sidecar).Max(setup)
	for _, n := range total.Names() {
		fmt.Println(n, total[n])
	}
	// Output:
	// cpu 2
	// memory 1Gi
}

func ExampleSchema() {
	s := resource.NewSchema()
	v := s.Vector(resource.List{
		"example.com/gpu": resource.MustParse("2"),
		"cpu":             resource.MustParse("1"),
		"pods":            resource.MustParse("110"), // counted separately
		"gpus":            resource.MustParse("1"),   // ignored by schedulers
	})
	for i := range s.Len() {
		fmt.Println(i, s.Name(i), v.At(i))
	}
	// Output:
	// 0 cpu 1000
	// 1 memory 0
	// 2 ephemeral-storage 0
	// 3 example.com/gpu 2
}

func ExampleVector() {
	var total resource.Vector
	total = total.Add(resource.Vector{100, 500})
	total = total.Add(resource.Vector{250, 0, 0, 1})
	fmt.Println(total, total.At(1), total.At(9))
	// Output:
	// [350 500 0 1] 500 0
}

func ExampleMulDiv() {
	fmt.Println(resource.MulDiv(1<<60, 100, 0, 1<<61), resource.MulDiv(2, 7, 2, 4))
	// Output: 50 4
}

func ExampleSatMul() {
	fmt.Println(resource.SatMul(1<<40, 1<<10), resource.SatMul(1<<40, 1<<40))
	// Output:
	// 1125899906842624 9223372036854775807
}
