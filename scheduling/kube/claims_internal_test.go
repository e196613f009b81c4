package kube

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/kube/internal/feed"
)

// claimServer is an API server with one claim, whose answers to writes a test chooses.
type claimServer struct {
	live   *resourcev1.ResourceClaim // nil if it is gone
	writes int
	answer func(n int, next *resourcev1.ResourceClaim) error // to the n-th write; nil carries it out
	reads  func() error
}

var (
	claimKind = resourcev1.Resource("resourceclaims")
	errLost   = errors.New("connection lost")
)

func (s *claimServer) carryOut(next *resourcev1.ResourceClaim) error {
	switch {
	case s.live == nil:
		return apierrors.NewNotFound(claimKind, next.Name)
	case s.live.ResourceVersion != next.ResourceVersion:
		return apierrors.NewConflict(claimKind, next.Name, errors.New("changed"))
	}
	s.live = next.DeepCopy()
	s.live.ResourceVersion += "0"
	return nil
}

func (s *claimServer) react(a clienttesting.Action) (bool, kruntime.Object, error) {
	if a.GetVerb() == "update" {
		next := a.(clienttesting.UpdateAction).GetObject().(*resourcev1.ResourceClaim)
		s.writes++
		if err := s.answer(s.writes, next); err != nil {
			return true, nil, err
		}
		if err := s.carryOut(next); err != nil {
			return true, nil, err
		}
	} else if s.reads != nil {
		if err := s.reads(); err != nil {
			return true, nil, err
		}
	}
	if s.live == nil {
		return true, nil, apierrors.NewNotFound(claimKind, "c")
	}
	return true, s.live.DeepCopy(), nil
}

// The answer to a write of a claim is lost, or says nothing certain: give returns what has become
// of the write, and no error as long as it may still be carried out.
func TestGive(t *testing.T) {
	result := []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: "d", Pool: "p", Device: "x"}}
	user := resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: "p", UID: "p"}
	type world struct {
		*claimServer
		cancel  context.CancelFunc // of the binding
		stop    context.CancelFunc // of Run
		delayed *resourcev1.ResourceClaim
	}
	for _, test := range []struct {
		name    string
		answer  func(w *world, n int, next *resourcev1.ResourceClaim) error
		reads   func(w *world, n int) error
		has     bool // give returns the claim
		writes  int
		took    time.Duration // the least
		most    time.Duration
		version string // as the feed knows it
	}{
		{name: "written", answer: func(*world, int, *resourcev1.ResourceClaim) error { return nil }, has: true, writes: 1, version: "1"},
		{name: "refused", answer: func(*world, int, *resourcev1.ResourceClaim) error { return apierrors.NewForbidden(claimKind, "c", nil) }, writes: 1, version: "1"},
		{name: "carried out, and no answer", answer: func(w *world, _ int, next *resourcev1.ResourceClaim) error {
			return errors.Join(w.carryOut(next), errLost)
		}, has: true, writes: 1, version: "10"},
		{name: "carried out, no answer, and the binding ends", answer: func(w *world, _ int, next *resourcev1.ResourceClaim) error {
			w.cancel()
			return errors.Join(w.carryOut(next), errLost)
		}, has: true, writes: 1, version: "10"},
		{name: "carried out, no answer, and reads fail for an hour", answer: func(w *world, _ int, next *resourcev1.ResourceClaim) error {
			return errors.Join(w.carryOut(next), errLost)
		}, reads: func(_ *world, n int) error {
			if n < 720 {
				return errLost
			}
			return nil
		}, has: true, writes: 1, took: 59 * time.Minute, most: 61 * time.Minute, version: "10"},
		{name: "carried out, and the client sends it again", answer: func(w *world, _ int, next *resourcev1.ResourceClaim) error {
			return errors.Join(w.carryOut(next), w.carryOut(next))
		}, has: true, writes: 1, version: "10"},
		{name: "carried out, and changed again", answer: func(w *world, _ int, next *resourcev1.ResourceClaim) error {
			err := w.carryOut(next)
			w.live.Labels, w.live.ResourceVersion = map[string]string{"a": "b"}, "11"
			return errors.Join(err, errLost)
		}, has: true, writes: 1, version: "11"},
		{name: "carried out, and deallocated", answer: func(w *world, _ int, next *resourcev1.ResourceClaim) error {
			err := w.carryOut(next)
			w.live.Status, w.live.ResourceVersion = resourcev1.ResourceClaimStatus{}, "11"
			return errors.Join(err, errLost)
		}, writes: 1, version: "11"},
		{name: "allocated elsewhere", answer: func(w *world, _ int, next *resourcev1.ResourceClaim) error {
			w.live = next.DeepCopy()
			w.live.Status.Allocation.Devices.Results[0].Device, w.live.ResourceVersion = "y", "2"
			return errLost
		}, writes: 1, version: "2"},
		{name: "its pod is not a user any more", answer: func(w *world, _ int, next *resourcev1.ResourceClaim) error {
			err := w.carryOut(next)
			w.live.Status.ReservedFor, w.live.ResourceVersion = nil, "11"
			return errors.Join(err, errLost)
		}, writes: 1, version: "11"},
		{name: "deleted", answer: func(w *world, _ int, _ *resourcev1.ResourceClaim) error { w.live = nil; return errLost }, writes: 1, version: "1"},
		{name: "another has its name", answer: func(w *world, _ int, _ *resourcev1.ResourceClaim) error {
			w.live.UID, w.live.ResourceVersion = "another", "2"
			return errLost
		}, writes: 1, version: "1"},
		{name: "not carried out once", answer: func(_ *world, n int, _ *resourcev1.ResourceClaim) error {
			if n == 1 {
				return errLost
			}
			return nil
		}, has: true, writes: 2, version: "1"},
		{name: "carried out late, before it is sent again", answer: func(w *world, n int, next *resourcev1.ResourceClaim) error {
			if n == 1 {
				return errLost
			}
			return errors.Join(w.carryOut(next), w.carryOut(next)) // the first is carried out, and the second is not
		}, has: true, writes: 2, version: "10"},
		{name: "the binding ends, and it is carried out a minute later", answer: func(w *world, _ int, next *resourcev1.ResourceClaim) error {
			w.cancel()
			w.delayed = next.DeepCopy()
			return errLost
		}, reads: func(w *world, n int) error {
			if n == 15 {
				return w.carryOut(w.delayed)
			}
			return nil
		}, has: true, writes: 1, took: 45 * time.Second, most: lateWrite, version: "10"},
		{name: "the binding ends, and it is never carried out", answer: func(w *world, _ int, _ *resourcev1.ResourceClaim) error {
			w.cancel()
			return errLost
		}, writes: 1, took: lateWrite, most: lateWrite + 10*time.Second, version: "1"},
		{
			name: "never carried out", answer: func(*world, int, *resourcev1.ResourceClaim) error { return errLost },
			writes: 4, took: lateWrite, most: lateWrite + 10*time.Second, version: "1",
		},
		{name: "Run ends", answer: func(w *world, _ int, _ *resourcev1.ResourceClaim) error {
			time.AfterFunc(time.Second, w.stop)
			return errLost
		}, reads: func(*world, int) error { return errLost }, writes: 1, took: time.Second, most: time.Second, version: "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &fake.Clientset{}
				s, err := New(Config{Client: client, Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				s.cluster = feed.New(client, feed.Served{"resourceclaims": true, "deviceclasses": true}, func(err error) { t.Error(err) })
				claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c", UID: "c", ResourceVersion: "1"}}
				if err := s.cluster.Devices.Update(claim); err != nil {
					t.Fatal(err)
				}
				w := &world{claimServer: &claimServer{live: claim.DeepCopy()}}
				w.claimServer.answer = func(n int, next *resourcev1.ResourceClaim) error { return test.answer(w, n, next) }
				reads, inTurn := 0, true
				w.reads = func() error {
					if inTurn {
						t.Error("give asks for the claim in the turn of the write")
					}
					if reads++; test.reads != nil {
						return test.reads(w, reads)
					}
					return nil
				}
				client.AddReactor("*", "resourceclaims", w.react)
				var ctx context.Context
				ctx, w.cancel = context.WithCancel(context.Background())
				defer w.cancel()
				s.working, w.stop = context.WithCancel(context.Background())
				defer w.stop()
				next := claim.DeepCopy()
				next.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: result}}
				next.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{user}
				began := time.Now()
				got, err := claimBinder{s}.give(ctx, client.ResourceV1().ResourceClaims("default"), next, func() { inTurn = false })
				took := time.Since(began)
				if (got != nil) != test.has || (err == nil) != test.has || w.writes != test.writes || took < test.took || took > max(test.most, time.Second) {
					t.Errorf("claim %v, error %v after %d writes and %v; want the claim: %t, %d writes, %v to %v", got, err, w.writes, took, test.has, test.writes, test.took, test.most)
				}
				if got := s.cluster.Devices.Get("default/c").ResourceVersion; got != test.version {
					t.Errorf("the feed knows version %s, want %s", got, test.version)
				}
				if test.has && !hasGot(w.live, next) {
					t.Errorf("the server has %+v", w.live.Status)
				}
			})
		})
	}
}
