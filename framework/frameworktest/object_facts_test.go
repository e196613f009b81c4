package frameworktest_test

import (
	"reflect"
	"testing"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/framework/frameworktest"
)

// Whatever kinds there are, the kit sees all but pods and nodes as objects.
func TestObjectKinds(t *testing.T) {
	kinds := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[api.Objects]()) {
		if f.Type.Kind() == reflect.Slice {
			kinds++
		}
	}
	if want := kinds - 2; frameworktest.ObjectKinds != want {
		t.Errorf("the kit looks at %d kinds of objects, want %d: add the new one to objectKinds", frameworktest.ObjectKinds, want)
	}
}
