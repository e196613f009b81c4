package queueing_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
)

func TestClusterEventMatches(t *testing.T) {
	const all = queueing.ActionAll
	for _, tt := range []struct {
		name                 string
		registered, happened queueing.ClusterEvent
		want                 bool
	}{
		{"the wildcard matches everything", queueing.ClusterEvent{"*", all}, queueing.ClusterEvent{"X", queueing.ActionDelete}, true},
		{"the wildcard matches itself", queueing.ClusterEvent{"*", all}, queueing.ClusterEvent{"*", all}, true},
		{"the same", queueing.ClusterEvent{"Node", queueing.ActionAdd}, queueing.ClusterEvent{"Node", queueing.ActionAdd}, true},
		{"another action", queueing.ClusterEvent{"Node", queueing.ActionAdd}, queueing.ClusterEvent{"Node", queueing.ActionDelete}, false},
		{"another resource", queueing.ClusterEvent{"Node", queueing.ActionAdd}, queueing.ClusterEvent{"CSINode", queueing.ActionAdd}, false},
		{"one of two actions", queueing.ClusterEvent{"Node", queueing.ActionAdd | queueing.ActionUpdateNodeLabel}, queueing.ClusterEvent{"Node", queueing.ActionUpdateNodeLabel}, true},
		{"any resource, some action", queueing.ClusterEvent{"*", queueing.ActionDelete}, queueing.ClusterEvent{"Node", queueing.ActionDelete}, true},
		{"any resource, another action", queueing.ClusterEvent{"*", queueing.ActionDelete}, queueing.ClusterEvent{"Node", queueing.ActionAdd}, false},
		{"pods stand for assigned ones", queueing.ClusterEvent{"Pod", all}, queueing.ClusterEvent{"AssignedPod", queueing.ActionDelete}, true},
		{"for unscheduled ones", queueing.ClusterEvent{"Pod", all}, queueing.ClusterEvent{"UnscheduledPod", queueing.ActionDelete}, true},
		{"for the pod itself", queueing.ClusterEvent{"Pod", all}, queueing.ClusterEvent{"TargetPod", queueing.ActionUpdatePodLabel}, true},
		{"but not the other way round", queueing.ClusterEvent{"AssignedPod", all}, queueing.ClusterEvent{"Pod", queueing.ActionDelete}, false},
		{"an assigned pod is not an unscheduled one", queueing.ClusterEvent{"AssignedPod", all}, queueing.ClusterEvent{"UnscheduledPod", queueing.ActionAdd}, false},
		{"the number of what happened is larger", queueing.ClusterEvent{"Node", queueing.ActionUpdateNodeLabel}, queueing.ClusterEvent{"Node", queueing.ActionUpdate}, false},
		{"and here it is not", queueing.ClusterEvent{"TargetPod", queueing.ActionUpdatePodGeneratedResourceClaim | queueing.ActionUpdate}, queueing.ClusterEvent{"TargetPod", queueing.ActionUpdate}, true},
		{"the wildcard resource that happened", queueing.ClusterEvent{"Node", all}, queueing.ClusterEvent{"*", all}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.registered.Matches(tt.happened); got != tt.want {
				t.Errorf("%v.Matches(%v) = %t, want %t", tt.registered, tt.happened, got, tt.want)
			}
		})
	}
}

// TestActionBits pins the order of the bits, which Matches compares.
func TestActionBits(t *testing.T) {
	bits := []queueing.ActionType{
		queueing.ActionAdd, queueing.ActionDelete, queueing.ActionUpdateNodeAllocatable, queueing.ActionUpdateNodeLabel,
		queueing.ActionUpdateNodeTaint, queueing.ActionUpdateNodeCondition, queueing.ActionUpdateNodeAnnotation,
		queueing.ActionUpdateNodeDeclaredFeature, queueing.ActionUpdateNodePreemptionPolicy, queueing.ActionUpdatePodLabel,
		queueing.ActionUpdatePodScaleDown, queueing.ActionUpdatePodScaleUp, queueing.ActionUpdatePodToleration,
		queueing.ActionUpdatePodSchedulingGatesEliminated, queueing.ActionUpdatePodGeneratedResourceClaim,
	}
	var all queueing.ActionType
	for i, b := range bits {
		if b != 1<<i {
			t.Errorf("bit %d is %b", i, b)
		}
		all |= b
	}
	if queueing.ActionAll != all || queueing.ActionUpdate != all-3 {
		t.Errorf("ActionAll = %b, ActionUpdate = %b, want %b and %b", queueing.ActionAll, queueing.ActionUpdate, all, all-3)
	}
}

func TestClockOf(t *testing.T) {
	var delay time.Duration
	now := time.Unix(5, 0)
	c := framework.ClockOf(func() time.Time { return now }, func(d time.Duration, f func()) *time.Timer {
		delay = d
		return time.AfterFunc(time.Hour, f)
	})
	if !c.Now().Equal(now) {
		t.Errorf("Now() = %v, want %v", c.Now(), now)
	}
	if stop := c.AfterFunc(3*time.Second, func() {}); delay != 3*time.Second || !stop() || stop() {
		t.Errorf("AfterFunc waited %v, want 3s, and stopping must work once", delay)
	}
}
