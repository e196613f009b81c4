//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// provisioner is a PreBind plugin that waits for the volumes of pods that ask for one.
type provisioner struct {
	name    string
	ready   chan struct{} // closed when volumes are there
	waiting *atomic.Int32
}

func (p provisioner) Name() string { return p.name }

func (provisioner) PreBindPreFlight(context.Context, *framework.Cycle, string) (bool, framework.Status) {
	return true, framework.Status{} // both wait at once
}

func (p provisioner) PreBind(ctx context.Context, c *framework.Cycle, _ string) framework.Status {
	if !strings.HasPrefix(c.Pod.Pod.Name, "slow") {
		return framework.Status{}
	}
	p.waiting.Add(1)
	return framework.AsStatus(lifecycle.Await(ctx, func() error {
		select {
		case <-p.ready:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}))
}

// Pods whose volumes do not come keep no other pod from being bound, however many they are, also if
// their devices are ready; when the volumes come, no more bindings than allowed go on at once.
func TestAwait(t *testing.T) {
	for _, test := range []struct {
		name  string
		ready bool // devices are, once all wait
	}{
		{"neither comes", false},
		{"devices are ready", true},
	} {
		t.Run(test.name, func(t *testing.T) { testAwait(t, test.ready) })
	}
}

func testAwait(t *testing.T, ready bool) {
	const most, slow, fast = 2, 20, 50
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var bound, waiting, binding, peak atomic.Int32
	volumes := make(chan struct{})
	devices := volumes
	if ready {
		devices = make(chan struct{})
	}
	binder := lifecycle.BinderFunc(func(_ context.Context, p *api.Pod, _ string) error {
		now := binding.Add(1)
		for old := peak.Load(); now > old && !peak.CompareAndSwap(old, now); old = peak.Load() {
		}
		time.Sleep(time.Millisecond)
		defer binding.Add(-1)
		n := bound.Add(1)
		if isSlow := strings.HasPrefix(p.Name, "slow"); isSlow != (n > fast) || waiting.Load() < 2*slow {
			t.Errorf("pod %s is the %d. to be bound, while %d wait", p.Name, n, waiting.Load())
		}
		switch n {
		case fast:
			close(volumes)
		case fast + slow:
			cancel()
		}
		return nil
	})
	d, err := lifecycle.New(lifecycle.Config{
		Profiles: []scheduling.Profile{{PreBind: []framework.Plugin{provisioner{"volumes", volumes, &waiting}, provisioner{"devices", devices, &waiting}}}},
		Binder:   binder, Clock: realClock, Bindings: most, ErrorHandler: func(err error) { t.Error(err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Apply(lifecycle.Update(api.MakeNode("n", "64", "64Gi").Obj()))
	for i := range slow {
		d.Apply(lifecycle.Update(api.MakePod(fmt.Sprint("slow", i)).Obj()))
	}
	go func() { // the others come when all of these wait
		for waiting.Load() < 2*slow && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if ready {
			close(devices)
		}
		for i := range fast {
			d.Apply(lifecycle.Update(api.MakePod(fmt.Sprint("fast", i)).Obj()))
		}
	}()
	if err := d.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Run: %v; %d of %d pods were bound, %d waits", err, bound.Load(), slow+fast, waiting.Load())
	}
	if p := peak.Load(); p > most {
		t.Errorf("%d pods were bound at once, want at most %d", p, most)
	}
}
