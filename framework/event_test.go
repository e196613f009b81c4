package framework_test

import (
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
)

func TestClusterEventMatches(t *testing.T) {
	const all = framework.ActionAll
	for _, tt := range []struct {
		name                 string
		registered, happened framework.ClusterEvent
		want                 bool
	}{
		{"the wildcard matches everything", framework.ClusterEvent{"*", all}, framework.ClusterEvent{"X", framework.ActionDelete}, true},
		{"the wildcard matches itself", framework.ClusterEvent{"*", all}, framework.ClusterEvent{"*", all}, true},
		{"the same", framework.ClusterEvent{"Node", framework.ActionAdd}, framework.ClusterEvent{"Node", framework.ActionAdd}, true},
		{"another action", framework.ClusterEvent{"Node", framework.ActionAdd}, framework.ClusterEvent{"Node", framework.ActionDelete}, false},
		{"another resource", framework.ClusterEvent{"Node", framework.ActionAdd}, framework.ClusterEvent{"CSINode", framework.ActionAdd}, false},
		{"one of two actions", framework.ClusterEvent{"Node", framework.ActionAdd | framework.ActionUpdateNodeLabel}, framework.ClusterEvent{"Node", framework.ActionUpdateNodeLabel}, true},
		{"any resource, some action", framework.ClusterEvent{"*", framework.ActionDelete}, framework.ClusterEvent{"Node", framework.ActionDelete}, true},
		{"any resource, another action", framework.ClusterEvent{"*", framework.ActionDelete}, framework.ClusterEvent{"Node", framework.ActionAdd}, false},
		{"pods stand for assigned ones", framework.ClusterEvent{"Pod", all}, framework.ClusterEvent{"AssignedPod", framework.ActionDelete}, true},
		{"for unscheduled ones", framework.ClusterEvent{"Pod", all}, framework.ClusterEvent{"UnscheduledPod", framework.ActionDelete}, true},
		{"for the pod itself", framework.ClusterEvent{"Pod", all}, framework.ClusterEvent{"TargetPod", framework.ActionUpdatePodLabel}, true},
		{"but not the other way round", framework.ClusterEvent{"AssignedPod", all}, framework.ClusterEvent{"Pod", framework.ActionDelete}, false},
		{"an assigned pod is not an unscheduled one", framework.ClusterEvent{"AssignedPod", all}, framework.ClusterEvent{"UnscheduledPod", framework.ActionAdd}, false},
		{"the number of what happened is larger", framework.ClusterEvent{"Node", framework.ActionUpdateNodeLabel}, framework.ClusterEvent{"Node", framework.ActionUpdate}, false},
		{"and here it is not", framework.ClusterEvent{"TargetPod", framework.ActionUpdatePodGeneratedResourceClaim | framework.ActionUpdate}, framework.ClusterEvent{"TargetPod", framework.ActionUpdate}, true},
		{"the wildcard resource that happened", framework.ClusterEvent{"Node", all}, framework.ClusterEvent{"*", all}, false},
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
	bits := []framework.ActionType{
		framework.ActionAdd, framework.ActionDelete, framework.ActionUpdateNodeAllocatable, framework.ActionUpdateNodeLabel,
		framework.ActionUpdateNodeTaint, framework.ActionUpdateNodeCondition, framework.ActionUpdateNodeAnnotation,
		framework.ActionUpdateNodeDeclaredFeature, framework.ActionUpdateNodePreemptionPolicy, framework.ActionUpdatePodLabel,
		framework.ActionUpdatePodScaleDown, framework.ActionUpdatePodScaleUp, framework.ActionUpdatePodToleration,
		framework.ActionUpdatePodSchedulingGatesEliminated, framework.ActionUpdatePodGeneratedResourceClaim,
	}
	var all framework.ActionType
	for i, b := range bits {
		if b != 1<<i {
			t.Errorf("bit %d is %b", i, b)
		}
		all |= b
	}
	if framework.ActionAll != all || framework.ActionUpdate != all-3 {
		t.Errorf("ActionAll = %b, ActionUpdate = %b, want %b and %b", framework.ActionAll, framework.ActionUpdate, all, all-3)
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
