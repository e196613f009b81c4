//go:build full

package lifecycle_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// stuck hangs at one step until its context is done, and reports when it begins to
// hang.
type stuck struct {
	at   string
	hang func(ctx context.Context) error
}

func (s stuck) call(ctx context.Context, point string) error {
	if s.at == point {
		return s.hang(ctx)
	}
	return nil
}

func (stuck) Name() string { return "stuck" }

func (s stuck) PreBindPreFlight(ctx context.Context, _ *framework.Cycle, _ string) (bool, framework.Status) {
	return true, framework.AsStatus(s.call(ctx, "PreBindPreFlight"))
}

func (s stuck) PreBind(ctx context.Context, _ *framework.Cycle, _ string) framework.Status {
	return framework.AsStatus(s.call(ctx, "PreBind"))
}

func (s stuck) Bind(ctx context.Context, _ *api.Pod, _ string) error {
	return s.call(ctx, "Bind")
}

func (s stuck) Evict(ctx context.Context, _, _ *api.Pod) error {
	return s.call(ctx, "Evict")
}

// TestGraceEndsWhatHangs: whatever hangs, in whichever goroutine, Run returns once
// it was told to stop and the grace is over.
func TestGraceEndsWhatHangs(t *testing.T) {
	for _, at := range []string{"PreBindPreFlight", "PreBind", "Bind", "Evict"} {
		for name, bindings := range map[string]int{"in the scheduling goroutine": 0, "beside it": 1} {
			t.Run(at+" "+name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				s := stuck{at: at, hang: func(bctx context.Context) error {
					cancel()
					<-bctx.Done()
					return bctx.Err()
				}}
				profile := scheduling.Profile{PreBind: []framework.Plugin{s}}
				events := []lifecycle.Event{lifecycle.Update(api.MakeNode("n", "4", "8Gi").Obj())}
				bounce := ""
				if at == "Evict" {
					bounce = "now"
					victim := api.MakePod("v").Node("n").Obj()
					info, err := framework.NewSnapshot(framework.ZoneInterleaved).NewPodInfo(victim)
					if err != nil {
						t.Fatal(err)
					}
					events = append(events, lifecycle.Update(victim))
					profile.PreFilter = []framework.Plugin{bouncer{}}
					profile.PostFilter = []framework.Plugin{proposal{framework.PostFiltered{
						Nominated: "n", Victims: []framework.Victim{{Pod: info}},
					}}}
				}
				events = append(events, lifecycle.Update(api.MakePod("p").Labels("bounce", bounce).Obj()))
				d, err := lifecycle.New(lifecycle.Config{
					Profiles: []scheduling.Profile{profile}, Binder: s, Clock: realClock, Bindings: bindings, Grace: 5 * time.Millisecond,
				})
				if err != nil {
					t.Fatal(err)
				}
				if err := d.Run(ctx, &list{events: events}); !errors.Is(err, context.Canceled) {
					t.Errorf("Run: %v, want %v", err, context.Canceled)
				}
				if n := d.QueueLength().InFlight; n != 0 {
					t.Errorf("%d pods are in flight after Run", n)
				}
			})
		}
	}
}

// proposal is a PostFilter plugin that always makes the same proposal.
type proposal struct{ framework.PostFiltered }

func (proposal) Name() string { return "proposal" }

func (p proposal) PostFilter(context.Context, *framework.Cycle, framework.Verdicts) (framework.PostFiltered, framework.Status) {
	return p.PostFiltered, framework.Status{}
}
