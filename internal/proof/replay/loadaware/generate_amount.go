package loadaware

import (
	"fmt"
	"strconv"

	"github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/resource"
)

// amount returns a quantity of a resource up to a maximum.
func (g *generator) amount(name resource.Name, most int64) resource.Quantity {
	v := g.Int64N(most + 1)
	if g.chance(50) {
		v = most * g.Int64N(21) / 20
	}
	if name != resource.CPU {
		switch {
		case g.chance(10):
			return resource.MustParse(strconv.FormatInt(v, 10) + "500m")
		case g.chance(10):
			return resource.MustParse(strconv.FormatInt(v>>10, 10) + "Ki")
		}
		return resource.New(v, resource.DecimalSI)
	}
	switch {
	case g.chance(10):
		return resource.MustParse(fmt.Sprintf("%d%06dn", v, g.IntN(1e6)))
	case g.chance(10):
		return resource.MustParse(fmt.Sprintf("%d%03du", v, g.IntN(1000)))
	}
	return resource.Milli(v)
}

func (g *generator) most(name resource.Name) int64 {
	switch name {
	case estimator.BatchCPU, estimator.MidCPU:
		name = resource.CPU
	case estimator.BatchMemory, estimator.MidMemory, hugePages, resource.EphemeralStorage:
		name = resource.Memory
	}
	switch {
	case name == resource.CPU && g.enormous:
		return 1 << 40
	case name == resource.CPU:
		return 4000
	case name == resource.Memory && g.enormous:
		return 1 << 57
	case name == resource.Memory:
		return 1 << 30
	}
	return 8
}

func (g *generator) capacity(name resource.Name) resource.Quantity {
	if g.chance(5) {
		return resource.New(0, resource.DecimalSI)
	}
	if g.chance(60) {
		return g.exactly(name, g.most(name))
	}
	return g.exactly(name, g.most(name)/oneOf[int64](g, 1, 2, 3, 7))
}

// negative returns an amount below 0, which a metric may report.
func (g *generator) negative(name resource.Name) resource.Quantity {
	v := -1 - g.Int64N(g.most(name))
	if g.chance(30) {
		return resource.MustParse(fmt.Sprintf("%dn", v))
	}
	return g.exactly(name, v)
}

func (g *generator) exactly(name resource.Name, v int64) resource.Quantity {
	if name == resource.CPU {
		return resource.Milli(v)
	}
	return resource.New(v, resource.DecimalSI)
}
