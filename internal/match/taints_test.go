package match_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/match"
	"github.com/berth-sched/berth/internal/proof/oracle"
)

func TestTolerates(t *testing.T) {
	taint := func(key, value string, effect api.TaintEffect) api.Taint {
		return api.Taint{Key: key, Value: value, Effect: effect}
	}
	tests := []struct {
		name       string
		toleration api.Toleration
		taint      api.Taint
		plain      bool // without number comparison
		comparing  bool
	}{
		{"equal", api.Toleration{Key: "k", Operator: "Equal", Value: "v", Effect: "NoSchedule"}, taint("k", "v", "NoSchedule"), true, true},
		{"no operator is Equal", api.Toleration{Key: "k", Value: "v"}, taint("k", "v", "NoSchedule"), true, true},
		{"other value", api.Toleration{Key: "k", Value: "w"}, taint("k", "v", "NoSchedule"), false, false},
		{"other key", api.Toleration{Key: "l", Operator: "Exists"}, taint("k", "v", "NoSchedule"), false, false},
		{"other effect", api.Toleration{Key: "k", Operator: "Exists", Effect: "NoExecute"}, taint("k", "v", "NoSchedule"), false, false},
		{"exists", api.Toleration{Key: "k", Operator: "Exists"}, taint("k", "v", "NoExecute"), true, true},
		{"everything", api.Toleration{Operator: "Exists"}, taint("k", "v", "NoExecute"), true, true},
		{"no key but a value", api.Toleration{Value: "v"}, taint("k", "v", "NoExecute"), true, true},
		{"unknown operator", api.Toleration{Key: "k", Operator: "In", Value: "v"}, taint("k", "v", "NoSchedule"), false, false},
		{"below", api.Toleration{Key: "k", Operator: "Lt", Value: "10"}, taint("k", "9", "NoSchedule"), false, true},
		{"not below", api.Toleration{Key: "k", Operator: "Lt", Value: "10"}, taint("k", "10", "NoSchedule"), false, false},
		{"above", api.Toleration{Key: "k", Operator: "Gt", Value: "-10"}, taint("k", "-9", "NoSchedule"), false, true},
		{"leading zero", api.Toleration{Key: "k", Operator: "Gt", Value: "1"}, taint("k", "02", "NoSchedule"), false, false},
		{"plus sign", api.Toleration{Key: "k", Operator: "Gt", Value: "+1"}, taint("k", "2", "NoSchedule"), false, false},
		{"minus zero", api.Toleration{Key: "k", Operator: "Lt", Value: "1"}, taint("k", "-0", "NoSchedule"), false, false},
		{"zero", api.Toleration{Key: "k", Operator: "Lt", Value: "1"}, taint("k", "0", "NoSchedule"), false, true},
		{"beyond int64", api.Toleration{Key: "k", Operator: "Lt", Value: "9223372036854775808"}, taint("k", "1", "NoSchedule"), false, false},
		{"smallest int64", api.Toleration{Key: "k", Operator: "Lt", Value: "0"}, taint("k", "-9223372036854775808", "NoSchedule"), false, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tolerations := []api.Toleration{{Key: "another", Operator: "Exists"}, test.toleration}
			if got := match.Tolerates(tolerations, &test.taint, false); got != test.plain {
				t.Errorf("Tolerates(%+v, %+v) = %v, want %v", test.toleration, test.taint, got, test.plain)
			}
			if got := match.Tolerates(tolerations, &test.taint, true); got != test.comparing {
				t.Errorf("comparing numbers: Tolerates(%+v, %+v) = %v, want %v", test.toleration, test.taint, got, test.comparing)
			}
		})
	}
}

func TestTaintsAgainstOracle(t *testing.T) {
	key := rapid.SampledFrom([]string{"", "a", "b"})
	value := rapid.SampledFrom([]string{"", "1", "2", "02", "-1", "+1", "-0", "x", "9223372036854775808"})
	effect := rapid.SampledFrom([]api.TaintEffect{"", "NoSchedule", "PreferNoSchedule", "NoExecute"})
	operator := rapid.SampledFrom([]api.TolerationOperator{"", "Equal", "Exists", "Lt", "Gt", "In"})
	taint := rapid.Custom(func(t *rapid.T) api.Taint {
		return api.Taint{Key: key.Draw(t, "key"), Value: value.Draw(t, "value"), Effect: effect.Draw(t, "effect")}
	})
	toleration := rapid.Custom(func(t *rapid.T) api.Toleration {
		return api.Toleration{Key: key.Draw(t, "key"), Value: value.Draw(t, "value"), Effect: effect.Draw(t, "effect"), Operator: operator.Draw(t, "operator")}
	})
	rapid.Check(t, func(t *rapid.T) {
		taints := rapid.SliceOfN(taint, 0, 4).Draw(t, "taints")
		tolerations := rapid.SliceOfN(toleration, 0, 3).Draw(t, "tolerations")
		comparing := rapid.Bool().Draw(t, "comparing")
		var hard *api.Taint
		var soft int64
		for i := range taints {
			switch taint := &taints[i]; {
			case oracle.Tolerated(*taint, tolerations, comparing):
			case taint.Effect == "PreferNoSchedule":
				soft++
			case taint.Effect != "" && hard == nil:
				hard = taint
			}
		}
		if got := match.UntoleratedTaint(taints, tolerations, match.Comparison(comparing)); got != hard {
			t.Errorf("UntoleratedTaint(%+v, %+v) = %+v, want %+v", taints, tolerations, got, hard)
		}
		if got := match.UntoleratedPreferences(taints, tolerations, match.Comparison(comparing)); got != soft {
			t.Errorf("UntoleratedPreferences(%+v, %+v) = %d, want %d", taints, tolerations, got, soft)
		}
	})
}
