//go:build full

package estimator

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Ending a watch that does not exist changes nothing, whether or not others watch
// the name.
func TestCensusUnwatchWithoutWatch(t *testing.T) {
	c := &census{owner: new(ledgerOwner)}
	name := podName{"default", "p"}
	c.unwatch(1, []podName{name})
	c.own(name.hash()).watchers = map[podName][]int{name: {2, 3}}
	c.unwatch(1, []podName{name, {"default", "q"}})
	if diff := cmp.Diff([]int{2, 3}, c.shard(name.hash()).watchers[name]); diff != "" {
		t.Errorf("who watches (-want +got)\n%s", diff)
	}
	c.unwatch(2, []podName{name})
	c.unwatch(3, []podName{name})
	if n := len(c.shard(name.hash()).watchers); n != 0 {
		t.Errorf("%d names are watched, want none", n)
	}
}
