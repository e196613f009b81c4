package kube

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// elect takes part in the election until ctx is done, and then gives the lease back. It
// closes elected once this process leads, and calls lost if it no longer does.
func (s *Scheduler) elect(ctx context.Context, elected chan struct{}, lost func(error)) {
	l := s.config.LeaderElection
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock{&resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name},
			Client:     s.config.Client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: s.config.Identity},
		}, s},
		LeaseDuration: l.LeaseDuration, RenewDeadline: l.RenewDeadline, RetryPeriod: l.RetryPeriod,
		ReleaseOnCancel: true, Name: l.Name,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(elected) },
			OnStoppedLeading: func() { lost(ErrLeadershipLost) },
			OnNewLeader: func(identity string) {
				s.config.Log.Info("the leader is", "identity", identity, "lease", l.Namespace+"/"+l.Name)
			},
		},
	})
	if err != nil {
		lost(fmt.Errorf("kube: LeaderElection: %w", err))
		return
	}
	elector.Run(ctx)
}

// A lock says which right is missing.
type lock struct {
	resourcelock.Interface
	s *Scheduler
}

func (l lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	l.s.denied(err)
	return record, raw, err
}

func (l lock) Create(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	err := l.Interface.Create(ctx, r)
	l.s.denied(err)
	return err
}

func (l lock) Update(ctx context.Context, r resourcelock.LeaderElectionRecord) error {
	err := l.Interface.Update(ctx, r)
	l.s.denied(err)
	return err
}
