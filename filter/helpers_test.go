package filter_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/resource"
)

// list reads name, text, name, text, ... as a resource list.
func list(pairs ...string) resource.List {
	l := resource.List{}
	for i := 0; i < len(pairs); i += 2 {
		l[resource.Name(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return l
}

func podInfo(tb testing.TB, s *framework.Snapshot, p *framework.Pod) *framework.PodInfo {
	tb.Helper()
	info, err := s.NewPodInfo(p)
	if err != nil {
		tb.Fatal(err)
	}
	return info
}
