package soak

import "testing"

func TestRoadsAgree(t *testing.T) {
	steps := 30_000
	if testing.Short() {
		steps = 6_000
	}
	res, err := Run(steps, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range res.Differences {
		t.Error(d)
	}
	if res.Placed == 0 || res.Unschedulable == 0 {
		t.Errorf("%d placed and %d unschedulable: the history tests too little", res.Placed, res.Unschedulable)
	}
}
