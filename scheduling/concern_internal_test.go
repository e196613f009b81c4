//go:build full

package scheduling

import (
	"testing"

	"github.com/berth-sched/berth/framework"
)

// Two plugins together concern the pods that one of them concerns.
func TestConcernOfTwo(t *testing.T) {
	const every, claims, extended = concern(0), concern(framework.PartClaims), concern(framework.PartExtended)
	for _, tt := range []struct{ a, b, want concern }{
		{every, every, every},
		{every, claims, every},
		{claims, every, every},
		{claims, claims, claims},
		{claims, extended, claims | extended},
	} {
		if got := tt.a.or(tt.b); got != tt.want {
			t.Errorf("concern %b or %b = %b, want %b", tt.a, tt.b, got, tt.want)
		}
	}
}
