package koordinator_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/klog/v2"

	"github.com/berth-sched/berth/internal/proof/parity/koordinator18"
)

// A quick check; cmd/compare plays as many cases as you like.
func TestCompare(t *testing.T) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		if n := koordinator.Compare(3, 500, &out); n != 0 {
			t.Errorf("%d of 500 cases of seed 3 differ:\n%s", n, &out)
		}
	})
}

// TestCompareUse is a quick check of the descheduler's classes of nodes.
func TestCompareUse(t *testing.T) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	var out strings.Builder
	n, evicted := koordinator.CompareUse(3, 600, &out)
	if evicted < 100 {
		t.Errorf("both evict only %d pods; the test shows too little", evicted)
	}
	if n != 0 {
		t.Errorf("%d of 600 cases of seed 3 differ:\n%s", n, &out)
	}
}
