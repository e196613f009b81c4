package framework_test

import (
	"testing"

	"github.com/berth-sched/berth/framework"
)

// named is a plugin that can do nothing else.
type named struct{ name string }

func (n named) Name() string { return n.name }

// normalizing is a plugin with one optional method.
type normalizing struct{ named }

func (normalizing) NormalizeScore(raw, _, largest int64) int64 { return 100 * raw / max(1, largest) }

// counted wraps a plugin and hides its methods, as a wrapper that counts calls
// would.
type counted struct{ inner framework.Plugin }

func (c counted) Name() string             { return "Counted" + c.inner.Name() }
func (c counted) Unwrap() framework.Plugin { return c.inner }

// overriding wraps a plugin and has the optional method itself.
type overriding struct{ counted }

func (overriding) NormalizeScore(int64, int64, int64) int64 { return 50 }

func TestAs(t *testing.T) {
	inner := normalizing{named{"Inner"}}
	tests := []struct {
		name   string
		plugin framework.Plugin
		ok     bool
		want   int64 // NormalizeScore(3, 0, 4)
	}{
		{"itself", inner, true, 75},
		{"wrapped", counted{inner}, true, 75},
		{"wrapped twice", counted{counted{inner}}, true, 75},
		{"the outer one wins", overriding{counted{inner}}, true, 50},
		{"the outermost of the inner ones wins", counted{overriding{counted{inner}}}, true, 50},
		{"missing", named{"Plain"}, false, 0},
		{"missing in all", counted{counted{named{"Plain"}}}, false, 0},
		{"nil", nil, false, 0},
		{"wrapped nil", counted{nil}, false, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n, ok := framework.As[framework.RangeNormalizer](test.plugin)
			if ok != test.ok {
				t.Fatalf("As found it: %t, want %t", ok, test.ok)
			}
			if !ok {
				if n != nil {
					t.Errorf("As returned %v beside false, want nil", n)
				}
				return
			}
			if got := n.NormalizeScore(3, 0, 4); got != test.want {
				t.Errorf("NormalizeScore(3, 0, 4) = %d, want %d", got, test.want)
			}
		})
	}
}

// As also finds a concrete type, so that a test can look inside a wrapper.
func TestAsConcreteType(t *testing.T) {
	if got, ok := framework.As[named](counted{named{"Plain"}}); !ok || got.name != "Plain" {
		t.Errorf("As[named] = %v, %t, want {Plain}, true", got, ok)
	}
}

func TestScoreBounds(t *testing.T) {
	if framework.MinNodeScore != 0 || framework.MaxNodeScore != 100 {
		t.Errorf("scores go from %d to %d, want 0 to 100", framework.MinNodeScore, framework.MaxNodeScore)
	}
}
