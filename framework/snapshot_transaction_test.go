package framework_test

import (
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// TestTransactions runs programs of: "+p" assume, "-p" forget, "(" begin, ")"
// commit, "!" roll back.
func TestTransactions(t *testing.T) {
	tests := []struct{ name, program, want string }{
		{"commit", "+a ( +b )", "a b"},
		{"rollback", "+a ( +b !", "a"},
		{"removed from the middle and put back", "+a +b +c ( -a !", "a b c"},
		{"removed from the middle for good", "+a +b +c ( -a )", "c b"},
		{"all removed and put back", "+a +b +c +d ( -b -a -d -c !", "a b c d"},
		{"others come meanwhile", "+a +b ( -a +c -b +d !", "a b"},
		{"inner rollback", "+a ( +b ( -a +c ! )", "a b"},
		{"inner commit, outer rollback", "+a +b ( -a ( +c ) !", "a b"},
		{"both commit", "( +a ( +b ) )", "a b"},
		{"the same pod leaves and returns", "+a +b ( -a +a !", "a b"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := snapshotOf(t, framework.Arrival, "n")
			pods := map[string]*framework.PodInfo{}
			var open []framework.Mark
			for _, word := range strings.Fields(test.program) {
				if pods[word[1:]] == nil {
					pods[word[1:]] = podInfo(t, s, plainPod("p"+word[1:]))
				}
				last := len(open) - 1
				switch word[0] {
				case '+':
					must(t, s.AddPodAt(pods[word[1:]], s.Node("n")))
				case '-':
					must(t, s.RemovePodAt(pods[word[1:]], s.Node("n")))
				case '(':
					open = append(open, s.Begin())
				case ')':
					s.Commit(open[last])
					open = open[:last]
				case '!':
					s.Rollback(open[last])
					open = open[:last]
				}
			}
			got := strings.ReplaceAll(strings.Join(podNames(s.Node("n")), " "), "p", "")
			if got != test.want {
				t.Errorf("pods after %q = %q, want %q", test.program, got, test.want)
			}
			must(t, s.AddNode(plainNode("other"))) // no transaction is left open
		})
	}
}

// Ending the outer transaction ends the inner one, and ending one twice does
// nothing, so that a deferred Rollback may follow a Commit.
func TestEndedTransactions(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	a, b := podInfo(t, s, plainPod("a")), podInfo(t, s, plainPod("b"))

	outer := s.Begin()
	must(t, s.AddPod(a, "n"))
	inner := s.Begin()
	must(t, s.AddPod(b, "n"))
	s.Rollback(outer)
	if got := podNames(s.Node("n")); len(got) != 0 {
		t.Errorf("pods after the outer rollback = %v, want none", got)
	}
	next := s.Begin()
	must(t, s.AddPod(a, "n"))
	s.Rollback(inner) // these three have nothing to end
	s.Commit(outer)
	s.Rollback(framework.Mark{})
	f := s.Fork()
	f.Rollback(next)
	if got := podNames(s.Node("n")); len(got) != 1 {
		t.Errorf("pods = %v, want [a]: the transaction is still open", got)
	}
	if got := podNames(f.Node("n")); len(got) != 1 {
		t.Errorf("pods of the fork = %v, want [a]: it has no transaction", got)
	}
	s.Commit(next)
	s.Rollback(next)
	if got := podNames(s.Node("n")); len(got) != 1 {
		t.Errorf("pods = %v, want [a]: it was committed", got)
	}
}

// Removing the pod that was added last restores the content, also the order of equal
// ports. Only the generation differs.
func TestAssumeForget(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	web := func(name string, ports ...int32) *framework.PodInfo {
		p := plainPod(name, "cpu", "1", "example.com/gpu", "1")
		for _, port := range ports {
			p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, api.ContainerPort{HostPort: port})
		}
		return podInfo(t, s, p)
	}
	a, b := web("a", 80, 81), web("b", 82, 80, 81)
	must(t, s.AddPod(a, "n"))
	before := *s.Node("n")
	ports := append([]api.HostPort(nil), before.UsedPorts...)
	must(t, s.AddPodAt(b, s.Node("n")))
	must(t, s.RemovePodAt(b, s.Node("n")))
	after := s.Node("n")
	if !after.Requested.Equal(before.Requested) || after.NonZeroRequested != before.NonZeroRequested ||
		len(after.Pods) != 1 || after.Pods[0] != a {
		t.Errorf("assume and forget left %v, %v, %v", after.Requested, after.NonZeroRequested, podNames(after))
	}
	for i := range ports {
		if after.UsedPorts[i] != ports[i] {
			t.Fatalf("ports = %v, want %v", after.UsedPorts, ports)
		}
	}
	if after.Generation() == before.Generation() {
		t.Error("the generation did not change")
	}
	if after.NodeGeneration() != before.NodeGeneration() {
		t.Error("the generation of the node object changed")
	}
}

// A pod is recognised by its UID, not by its PodInfo; without one by its name.
func TestForgetByIdentity(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	nameless := func(name, namespace string) *framework.PodInfo {
		p := plainPod(name)
		p.UID, p.Namespace = "", namespace
		return podInfo(t, s, p)
	}
	for _, p := range []*framework.PodInfo{podInfo(t, s, plainPod("a")), nameless("b", "x"), nameless("b", "y")} {
		must(t, s.AddPod(p, "n"))
	}
	renamed := plainPod("a")
	renamed.Name = "other"
	must(t, s.RemovePod(podInfo(t, s, renamed), "n"))
	must(t, s.RemovePod(nameless("b", "x"), "n"))
	if n := s.Node("n"); len(n.Pods) != 1 || n.Pods[0].Pod.Namespace != "y" {
		t.Errorf("pods = %v, want y/b", podNames(n))
	}
	if err := s.RemovePod(nameless("a", "default"), "n"); err == nil {
		t.Error("a pod that was never there was removed")
	}
}
