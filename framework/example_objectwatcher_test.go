package framework_test

import (
	"fmt"
	"maps"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// budgets knows which disruption budgets there are as they come and go.
type budgets struct{ there map[string]bool }

func (b *budgets) Fork(*framework.Snapshot) framework.Extension {
	return &budgets{maps.Clone(b.there)}
}

func (b *budgets) ObjectChanged(_ *framework.Snapshot, key string, obj any) {
	if pdb, ok := obj.(*api.PodDisruptionBudget); ok {
		b.there[key] = pdb != nil
	}
}

var (
	_          framework.ObjectWatcher = (*budgets)(nil)
	budgetsKey                         = framework.NewExtensionKey(func(*framework.Snapshot) *budgets { return &budgets{map[string]bool{}} })
)

// An extension that follows one kind of objects.
func ExampleObjectWatcher() {
	s := framework.NewSnapshot(framework.Arrival)
	b := budgetsKey.Of(s)
	pdb := &api.PodDisruptionBudget{ObjectMeta: api.ObjectMeta{Namespace: "shop", Name: "web"}}
	if err := framework.Put(s, pdb); err != nil {
		fmt.Println(err)
	}
	fmt.Println(b.there)
	framework.Delete[api.PodDisruptionBudget](s, "shop/web")
	fmt.Println(b.there)
	// Output:
	// map[shop/web:true]
	// map[shop/web:false]
}
