package topo

import (
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// deployment makes a Deployment whose selector has the app, or has none.
func deployment(name, app string) *api.Deployment {
	d := &api.Deployment{ObjectMeta: api.ObjectMeta{Name: name, Namespace: "x"}}
	if app != "" {
		d.Spec.Selector = &api.LabelSelector{MatchLabels: map[string]string{"app": app}}
	}
	return d
}

// TestSelectorsOfDeployments: a Deployment that controls a pod gives it the selector that its ReplicaSet would have.
func TestSelectorsOfDeployments(t *testing.T) {
	malformed := deployment("w", "")
	malformed.Spec.Selector = &api.LabelSelector{MatchExpressions: []api.LabelSelectorRequirement{{Key: "app", Operator: "Like"}}}
	elsewhere := deployment("w", "web")
	elsewhere.Namespace = "y"
	for _, test := range []struct {
		name     string
		put      *api.Deployment
		kind     string
		hash     string // of the pod
		others   []bool // whether it is with a pod of the same app and hash, of another hash, of another app
		matching []bool // the same in 1.18
		service  bool   // one selects the app
		set      bool   // a ReplicaSet of the name w selects the app
	}{
		{name: "hash", put: deployment("w", "web"), kind: "Deployment", hash: "1", others: []bool{true, false, false}},
		{name: "no hash", put: deployment("w", "web"), kind: "Deployment", others: []bool{true, true, false}},
		{name: "hash and service", put: deployment("w", "web"), kind: "Deployment", hash: "1", service: true, others: []bool{true, false, false}},
		{name: "without a selector", put: deployment("w", ""), kind: "Deployment", hash: "1"},
		{name: "malformed", put: malformed, kind: "Deployment", hash: "1"},
		{name: "another app", put: deployment("w", "db"), kind: "Deployment", others: []bool{false, false, true}, matching: []bool{}},
		{name: "another name", put: deployment("v", "web"), kind: "Deployment", hash: "1"},
		{name: "another namespace", put: elsewhere, kind: "Deployment", hash: "1"},
		{name: "of a ReplicaSet", put: deployment("w", "web"), kind: "ReplicaSet", hash: "1"},
		{name: "of a ReplicaSet that is there", put: deployment("w", "web"), kind: "ReplicaSet", set: true, hash: "1", others: []bool{true, true, false}},
		{name: "of none", put: deployment("w", "web"), hash: "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := framework.NewSnapshot(framework.Arrival)
			put := func(err error) {
				if err != nil {
					t.Fatal(err)
				}
			}
			put(framework.Put(s, test.put))
			if test.service {
				put(framework.Put(s, &api.Service{ObjectMeta: api.ObjectMeta{Name: "s", Namespace: "x"}, Spec: api.ServiceSpec{Selector: map[string]string{"app": "web"}}}))
			}
			if test.set {
				put(framework.Put(s, &api.ReplicaSet{ObjectMeta: api.ObjectMeta{Name: "w", Namespace: "x"}, Spec: api.ReplicaSetSpec{Selector: deployment("", "web").Spec.Selector}}))
			}
			b := api.MakePod("p").Namespace("x").Labels("app", "web")
			if test.kind != "" {
				b = b.Owner(test.kind, "w")
			}
			if test.hash != "" {
				b = b.Labels("pod-template-hash", test.hash)
			}
			pod := info(t, s, b.Obj())
			if test.matching == nil {
				test.matching = test.others
			}
			for _, selector := range []struct {
				name string
				of   func() (all bool, of func(map[string]string) bool)
				want []bool
			}{
				{"DefaultSelector", func() (bool, func(map[string]string) bool) {
					x := DefaultSelector(s, pod)
					return x.SelectsEverything(), x.Matches
				}, test.others},
				{"MatchingSelector", func() (bool, func(map[string]string) bool) {
					x := MatchingSelector(s, pod)
					return x.SelectsEverything(), x.Matches
				}, test.matching},
			} {
				all, of := selector.of()
				if all != (len(selector.want) == 0) {
					t.Errorf("%s selects everything: %t, want %v", selector.name, all, selector.want)
					continue
				}
				for i, labels := range []map[string]string{{"app": "web", "pod-template-hash": "1"}, {"app": "web", "pod-template-hash": "2"}, {"app": "db"}} {
					if len(selector.want) > 0 && of(labels) != selector.want[i] {
						t.Errorf("%s selects %v: %t, want %t", selector.name, labels, !selector.want[i], selector.want[i])
					}
				}
			}
		})
	}
}

// TestDefaultsOfDeployments: a Deployment that comes, changes or goes changes the default constraints of its pods, and
// the version of what keys read, with an index and without.
func TestDefaultsOfDeployments(t *testing.T) {
	for _, indexed := range []bool{false, true} {
		s := framework.NewSnapshot(framework.Arrival)
		pod := info(t, s, api.MakePod("p").Namespace("x").Labels("app", "web").Owner("Deployment", "w").Obj())
		constraints := []api.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: api.LabelTopologyZone, WhenUnsatisfiable: api.ScheduleAnyway}}
		for _, step := range []struct {
			name string
			do   func() error
			want int
		}{
			{"comes", func() error { return framework.Put(s, deployment("w", "web")) }, 1},
			{"has no selector", func() error { return framework.Put(s, deployment("w", "")) }, 0},
			{"has one", func() error { return framework.Put(s, deployment("w", "web")) }, 1},
			{"goes", func() error { framework.Delete[api.Deployment](s, "x/w"); return nil }, 0},
		} {
			before := KeyVersion(s)
			if err := step.do(); err != nil {
				t.Fatal(err)
			}
			if KeyVersion(s) == before {
				t.Errorf("indexed %t, %s: the version stays", indexed, step.name)
			}
			if f := s.Fork(); len(DefaultsOf(f, pod, constraints, api.ScheduleAnyway).List) != step.want {
				t.Errorf("indexed %t, %s: want %d constraints in a fork", indexed, step.name, step.want)
			}
			if indexed && len(DefaultsOf(s, pod, constraints, api.ScheduleAnyway).List) != step.want {
				t.Errorf("%s: want %d constraints", step.name, step.want)
			}
		}
	}
}
