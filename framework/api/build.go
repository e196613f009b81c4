package api

import (
	"fmt"
	"maps"
	"strings"

	"github.com/berth-sched/berth/resource"
)

// pairs returns a copy of m with the keys and values in kv added. If a key has no
// value, it panics and names the method.
func pairs(method string, m map[string]string, kv []string) map[string]string {
	if len(kv)%2 != 0 {
		panic(fmt.Sprintf("api: %s takes pairs of key and value, got %d strings", method, len(kv)))
	}
	m = maps.Clone(m)
	if m == nil {
		m = make(map[string]string, len(kv)/2)
	}
	for i := 0; i < len(kv); i += 2 {
		m[kv[i]] = kv[i+1]
	}
	return m
}

// withQuantity returns a copy of l with one more entry. It returns l unchanged if
// quantity is empty, and panics if it is malformed.
func withQuantity(l resource.List, name resource.Name, quantity string) resource.List {
	if quantity == "" {
		return l
	}
	l = l.Clone()
	if l == nil {
		l = resource.List{}
	}
	l[name] = resource.MustParse(quantity)
	return l
}

// mustTaint reads a taint in the notation of "kubectl taint": key=value:effect or
// key:effect. It panics on any other text.
func mustTaint(text string) (t Taint, hasValue bool) {
	rest, effect, _ := strings.Cut(text, ":")
	t.Key, t.Value, hasValue = strings.Cut(rest, "=")
	switch t.Effect = TaintEffect(effect); t.Effect {
	case TaintEffectNoSchedule, TaintEffectPreferNoSchedule, TaintEffectNoExecute:
	default:
		panic(fmt.Sprintf("api: taint %q: want key=value:effect or key:effect, the effect being NoSchedule, PreferNoSchedule or NoExecute", text))
	}
	if t.Key == "" {
		panic(fmt.Sprintf("api: taint %q has no key", text))
	}
	return t, hasValue
}

// must panics if err is not nil.
func must[T any](x T, err error) T {
	if err != nil {
		panic("api: " + err.Error())
	}
	return x
}
