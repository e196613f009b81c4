package gang_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// TestHostileNumbers: hostile numbers in groups, shapes and rules.
func TestHostileNumbers(t *testing.T) {
	type call struct {
		name string
		f    func() (any, error)
	}
	var calls []call
	add := func(name string, f func() (any, error)) { calls = append(calls, call{name, f}) }
	for _, choice := range []gang.Choice{gang.Kubernetes137, gang.BestFit, gang.LeastFree, gang.MostPacked, 200} {
		for _, mode := range []gang.Mode{gang.Required, gang.Preferred, gang.Counted, 77} {
			for _, n := range []int{0, 1, -1, 3, math.MaxInt, math.MinInt} {
				for _, least := range []int{0, 4, -1, math.MaxInt, math.MinInt} {
					add(fmt.Sprint("place ", choice, mode, n, " ", least), func() (any, error) {
						s := racks(2, 2)
						sched, err := newPlacer(gang.Rules{Choice: choice, Search: n})
						if err != nil {
							return nil, err
						}
						out, err := sched.Try(s, &gang.Group{Name: "g", Pods: workers(s, 4, "1"), Min: least, Topology: []gang.Level{{Key: rack, Mode: mode, Slice: n}, {Key: api.LabelHostname, Mode: mode, Slice: least}}})
						if err := s.AddNode(api.MakeNode("new", "4", "8Gi").Obj()); err != nil {
							return nil, fmt.Errorf("OPEN: %w", err)
						}
						return out, err
					})
				}
			}
		}
	}
	for _, c := range calls {
		func() {
			defer func() {
				if v := recover(); v != nil {
					t.Errorf("%s: panic: %v", c.name, v)
				}
			}()
			began := time.Now()
			_, err := c.f()
			if took := time.Since(began); took > time.Second {
				t.Errorf("%s takes %v", c.name, took)
			}
			if err != nil && len(err.Error()) > 4 && err.Error()[:4] == "OPEN" {
				t.Errorf("%s: %v", c.name, err)
			}
		}()
	}
}

func newPlacer(r gang.Rules) (p *gang.Placer, err error) {
	return gang.New(placer(gang.Rules{}).Scheduler(), r)
}
