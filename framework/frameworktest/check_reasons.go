package frameworktest

import (
	"fmt"

	"github.com/berth-sched/berth/framework"
)

// checkReasons reads the reasons of all rejections at once and again after
// other cycles, which use the same memory.
func (k *kit) checkReasons() *Failure {
	type said struct {
		pod    *framework.PodInfo
		node   string
		status framework.Status
		text   string
	}
	var all []said
	var c framework.Cycle
	for _, p := range k.pods {
		a := k.ask(&c, k.snapshot, p, nil)
		list := []said{{p, "", a.preFilter, ""}, {p, "", a.preScore, ""}}
		for _, n := range k.snapshot.All() {
			list = append(list, said{p, n.Name(), a.verdicts[n.Name()].status, ""})
		}
		for i := range list {
			s := &list[i]
			k.node = s.node
			if err := selfCompare(s.status); err != nil {
				return k.fail("comparing the reasons with themselves", err.Error(), "reasons that == can compare")
			}
			s.text = s.status.String()
		}
		all = append(all, list...)
	}
	for _, s := range all {
		k.pod, k.node = s.pod, s.node
		if got := s.status.String(); got != s.text {
			return k.fail("status, read after the cycle", got, s.text)
		}
	}
	return nil
}

// selfCompare returns an error unless == works on the status's reasons.
func selfCompare(s framework.Status) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("a panic: %v", v)
		}
	}()
	t := s
	_ = t == s
	return nil
}
