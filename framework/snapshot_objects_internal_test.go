//go:build full

package framework

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework/api"
)

// TestChangesOfObjectsAreBounded changes objects that nobody lists any more.
func TestChangesOfObjectsAreBounded(t *testing.T) {
	s := NewSnapshot(Arrival)
	put := func(i int) {
		if err := Put(s, &api.Namespace{ObjectMeta: api.ObjectMeta{Name: fmt.Sprint(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	const n = 1000
	for i := range n {
		put(i)
	}
	List[api.Namespace](s)
	for i := range n / 10 {
		put(i)
	}
	table := tableOf[api.Namespace](s)
	if table.before == nil || len(table.changed) != n/10 {
		t.Fatalf("%d changes are known of a list that is kept: %t; want %d and true", len(table.changed), table.before != nil, n/10)
	}
	for i := range n {
		put(i)
	}
	if table.before != nil || len(table.changed) > 0 {
		t.Errorf("%d changes are known of a list that is kept: %t; want none", len(table.changed), table.before != nil)
	}
}
