package scheduling

import (
	"testing"

	"github.com/berth-sched/berth/framework"
)

// TestCommonKey: pods are of one class, too, if questions about them change the keys of all.
func TestCommonKey(t *testing.T) {
	a, b, c := &framework.PodInfo{}, &framework.PodInfo{}, &framework.PodInfo{}
	for _, tt := range []struct {
		what string
		key  func(p *framework.PodInfo, asked int) (string, bool)
		want string
	}{
		{"one class", func(*framework.PodInfo, int) (string, bool) { return "x", true }, "x"},
		{"found at the first question", func(_ *framework.PodInfo, asked int) (string, bool) {
			return map[bool]string{true: "early", false: "x"}[asked == 0], true
		}, "x"},
		{"found at the second one", func(_ *framework.PodInfo, asked int) (string, bool) {
			return map[bool]string{true: "early", false: "x"}[asked < 2], true
		}, "x"},
		{"two classes", func(p *framework.PodInfo, _ int) (string, bool) {
			return map[bool]string{true: "x", false: "y"}[p == c], true
		}, ""},
		{"no class", func(p *framework.PodInfo, _ int) (string, bool) { return "x", p != b }, ""},
	} {
		asked := 0
		key, ok, err := commonKey([]*framework.PodInfo{a, b, c}, func(p *framework.PodInfo) (string, bool, error) {
			k, ok := tt.key(p, asked)
			asked++
			return k, ok, nil
		})
		if key != tt.want || ok != (tt.want != "") || err != nil {
			t.Errorf("%s: class %q, %t, %v, want %q", tt.what, key, ok, err, tt.want)
		}
	}
}
