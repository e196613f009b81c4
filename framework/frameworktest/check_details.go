package frameworktest

import (
	"fmt"
	"reflect"

	"github.com/berth-sched/berth/framework"
)

// checkDetails wants numbers that explain a rejection, the same when asked again, and
// none for a node that the filter accepts.
func (k *kit) checkDetails() *Failure {
	for _, p := range k.pods {
		a := k.ask(new(framework.Cycle), k.snapshot, p, nil)
		d, ok := a.bound.(framework.Detailer)
		if !ok {
			continue
		}
		for _, n := range k.snapshot.All() {
			k.node, k.calling = n.Name(), "Filter"
			accepted := a.bound.Filter(p, n).IsSuccess()
			k.calling = "Details"
			list := d.Details(p, n)
			if accepted && len(list) > 0 {
				return k.fail("Details of an accepted node", list[0].String(), "none")
			}
			if again := d.Details(p, n); !reflect.DeepEqual(list, again) {
				return k.fail("Details, asked again", fmt.Sprint(again), fmt.Sprint(list))
			}
			for _, x := range list {
				if x.Subject == "" || (x.Asked != 0 || x.Used != 0 || x.Limit != 0) && x.Asked <= x.Free() {
					return k.fail("Details of a rejected node", fmt.Sprintf("%+v", x), "a subject, and numbers of which asked and used exceed the limit")
				}
			}
		}
	}
	return nil
}
