//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
	"github.com/berth-sched/berth/scheduling/virtualclock"
)

// protects lets every victim leave but one.
type protects struct {
	victim string
	mu     sync.Mutex
	asked  []string
}

func (*protects) Bind(context.Context, *api.Pod, string) error { return nil }

func (f *protects) Evict(_ context.Context, victim, _ *api.Pod) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, victim.Name)
	if victim.Name == f.victim {
		return errors.New("a webhook protects it")
	}
	return nil
}

// TestOtherVictimsStay: where one of 20 victims may not leave, those that were not asked before it stay, the last
// one in any case.
func TestOtherVictimsStay(t *testing.T) {
	for _, x := range []struct {
		bindings, protected, asked int // asked: at most
	}{{0, 0, 1}, {0, 5, 6}, {0, 18, 19}, {4, 0, 19}} {
		synctest.Test(t, func(t *testing.T) {
			f := &protects{victim: fmt.Sprint("v", x.protected)}
			d, err := lifecycle.New(lifecycle.Config{
				Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Clock: virtualclock.New(epoch), Binder: f, Bindings: x.bindings,
			})
			if err != nil {
				t.Fatal(err)
			}
			d.Apply(lifecycle.Update(api.MakeNode("n", "20", "64Gi").Obj()))
			for i := range 20 { // the order in which they are asked
				name := fmt.Sprint("v", i)
				d.Apply(lifecycle.Update(api.MakePod(name).UID(api.UID(name)).Requests("1", "1Gi").Priority(int32(30 - i)).Node("n").Obj()))
			}
			d.Apply(lifecycle.Update(api.MakePod("high").Requests("20", "1Gi").Priority(100).Obj()))
			d.ScheduleOne(t.Context())
			synctest.Wait()
			if n := len(f.asked); n == 0 || n > x.asked {
				t.Errorf("%+v: %d victims were asked to leave: %v", x, n, f.asked)
			}
		})
	}
}
