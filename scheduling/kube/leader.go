package kube

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// elect takes part in the election until ctx is done, and then gives the lease back. It
// closes elected once this process leads, and calls lost if it no longer does. The elector
// itself logs which right is missing.
func (s *Scheduler) elect(ctx context.Context, elected chan struct{}, lost func(error)) {
	l := s.config.LeaderElection
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: l.Namespace, Name: l.Name},
			Client:     s.config.Client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: s.config.Identity},
		},
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
