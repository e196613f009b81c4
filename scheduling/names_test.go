package scheduling_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/queueing"
	"github.com/berth-sched/berth/scheduling"
)

// nameless is a plugin for every point whose method Name panics.
type nameless struct{ framework.ReservePlugin }

func (nameless) Name() string { panic("no name") }

func (nameless) Filter(*framework.PodInfo, *framework.NodeInfo) framework.Status {
	return framework.Status{}
}

func (nameless) Score(*framework.PodInfo, *framework.NodeInfo) int64 { return 0 }

func (nameless) Less(_, _ *queueing.QueuedPod) bool { return false }

// selfless is a plugin whose check of itself panics, or returns an error that does.
type selfless struct {
	nameless
	err error
}

func (selfless) Name() string { return "selfless" }

func (s selfless) Validate() error {
	if s.err == nil {
		panic("no check")
	}
	return s.err
}

// hollow is an error that panics for the nil pointer.
type hollow struct{ text string }

func (h *hollow) Error() string { return h.text }

// TestNewWithPluginsThatPanic: New reports plugins that panic when they are asked for their
// names, or to check themselves.
func TestNewWithPluginsThatPanic(t *testing.T) {
	var none *hollow
	for _, tt := range []struct {
		plugin framework.Plugin
		want   string
	}{
		{nameless{}, "the plugin (scheduling_test.nameless) has no name: Name: panic: no name"},
		{selfless{}, `plugin "selfless": in Validate: panic: no check`},
		{selfless{err: none}, `plugin "selfless": an error of type *scheduling_test.hollow panics`},
		{selfless{err: errors.Join(none)}, `plugin "selfless": an error of type`},
	} {
		one := []framework.Plugin{tt.plugin}
		for point, p := range map[string]scheduling.Profile{
			"Filter[0]":    {Filter: one, PreFilter: []framework.Plugin{}},
			"Score[0]":     {Score: []scheduling.Weighted{{Plugin: tt.plugin}}, PreScore: []framework.Plugin{}},
			"Reserve[0]":   {Reserve: one},
			"QueueSort[0]": {QueueSort: tt.plugin},
		} {
			t.Run(fmt.Sprintf("%s/%T", point, tt.plugin), func(t *testing.T) {
				if _, err := scheduling.New(p); err == nil || !strings.Contains(err.Error(), point+": "+tt.want) {
					t.Errorf("New: %v, want %s: %s", err, point, tt.want)
				}
			})
		}
	}
}
