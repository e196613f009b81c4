//go:build full

package lifecycle

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// fullDriver returns a driver of one small node, its clock, and the pods that it binds.
func fullDriver(t *testing.T) (*Driver, *virtualclock.Clock, map[string]string) {
	t.Helper()
	clock, bound := virtualclock.New(time.Unix(0, 0)), map[string]string{}
	d, err := New(Config{
		Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: clock,
		Binder: BinderFunc(func(_ context.Context, p *api.Pod, node string) error {
			bound[p.Name] = node
			return nil
		}),
		ErrorHandler: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Apply(Update(api.MakeNode("n", "1", "1Gi").Obj()))
	return d, clock, bound
}

func (d *Driver) tryAll() {
	for {
		if _, ok := d.ScheduleOne(context.Background()); !ok {
			return
		}
	}
}

// TestRefusalsAreBounded: pods of ever new classes come to a cluster that stands still, fail
// and go. What is kept of them is bounded, in number and in size.
func TestRefusalsAreBounded(t *testing.T) {
	d, _, _ := fullDriver(t)
	most, longest := 0, 0
	note := func() {
		most = max(most, len(d.refusals.by))
		for class := range d.refusals.by {
			longest = max(longest, len(class.Value()))
		}
	}
	for i := range 30 {
		size := []int{10, 2_000, 20_000}[i%3]
		p := api.MakePod(fmt.Sprint("p", i)).Requests("2", "1Gi").Annotations("note", fmt.Sprint(i, strings.Repeat("x", size))).Obj()
		d.Apply(Update(p))
		d.tryAll()
		d.Apply(Delete(p))
	}
	note() // few of them are small
	for i := range 2 * refusalsMost {
		p := api.MakePod(fmt.Sprint("p", i)).Requests("2", "1Gi").Labels("app", fmt.Sprint(i)).Obj()
		d.Apply(Update(p))
		d.tryAll()
		d.Apply(Delete(p))
		most = max(most, len(d.refusals.by))
	}
	note()
	if most != refusalsMost || longest == 0 || longest > 1024 {
		t.Errorf("%d classes were kept, the longest of %d bytes; want %d, of at most 1024", most, longest, refusalsMost)
	}
}

// TestAlikeInOneSchema: two pods that request different resources are not alike because the
// snapshot has given the number of one resource to the other meanwhile.
func TestAlikeInOneSchema(t *testing.T) {
	d, clock, bound := fullDriver(t)
	large := func(name string, names int) *api.Node {
		b := api.MakeNode(name, "1", "1Gi")
		for i := range names {
			b = b.Allocatable(resource.Name(fmt.Sprintf("example.com/%s%04d", name, i)), "1")
		}
		return b.Obj()
	}
	a := large("a", resource.MaxNames-3)
	d.Apply(Update(a), Delete(a))
	d.Apply(Update(api.MakePod("first").Request("example.com/a0005", "5").Obj()))
	d.tryAll()
	number, _ := d.snap.Schema().Index("example.com/a0005")
	d.Apply(Update(large("b", resource.MaxNames-4)))
	d.Flush(context.Background())
	if got, ok := d.snap.Schema().Index("example.com/b0005"); !ok || got != number {
		t.Fatalf("b0005 has number %d (%t), want that of a0005, %d", got, ok, number)
	}
	clock.Advance(time.Millisecond)
	// The second pod fails; then the first is tried, for which there is room now.
	d.Apply(Update(api.MakePod("second").Request("example.com/b0005", "5").Obj()))
	d.Apply(Update(api.MakeNode("c", "1", "1Gi").Allocatable("example.com/a0005", "5").Obj()))
	d.tryAll()
	if len(bound) != 1 || bound["first"] != "c" {
		t.Errorf("bound are %v, want the first pod on node c", bound)
	}
}
