package kube

import (
	"reflect"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scoring"
)

// nothing compiles no selector; two of different names differ.
type nothing struct{ name string }

func (nothing) CompileDeviceSelector(string) (api.CompiledDeviceSelector, error) { return nil, nil }

// Every plugin that has a field for a compiler gets the one of the configuration, unless it
// has its own.
func TestDeviceSelectors(t *testing.T) {
	given, own := nothing{"given"}, nothing{"own"}
	s := &Scheduler{config: Config{DeviceSelectors: given}}
	p := scheduling.Kubernetes137()
	for i, w := range p.Score {
		if fit, ok := w.Plugin.(scoring.NodeResourcesFit); ok {
			fit.DeviceSelectors = own
			p.Score[i].Plugin = fit
		}
	}
	seen := map[string]int{}
	profile := reflect.ValueOf(s.withSelectors(p))
	for i := range profile.NumField() {
		list := profile.Field(i)
		if list.Kind() != reflect.Slice {
			continue
		}
		for k := range list.Len() {
			plugin, ok := list.Index(k).Interface().(framework.Plugin)
			if w, weighted := list.Index(k).Interface().(scheduling.Weighted); weighted {
				plugin, ok = w.Plugin, true
			}
			if !ok || reflect.TypeOf(plugin).Kind() != reflect.Struct {
				continue
			}
			field := reflect.ValueOf(plugin).FieldByName("DeviceSelectors")
			if !field.IsValid() {
				continue
			}
			want := given
			if _, fit := plugin.(scoring.NodeResourcesFit); fit {
				want = own
			}
			at := profile.Type().Field(i).Name + " of " + plugin.Name()
			if got := field.Interface(); got != want {
				t.Errorf("%s has the compiler %v, want %v", at, got, want)
			}
			seen[plugin.Name()]++
		}
	}
	for _, name := range []string{"DynamicResources", "NodeResourcesFit", "NodeResourcesBalancedAllocation"} {
		if seen[name] == 0 {
			t.Errorf("%s has no field for a compiler: %v", name, seen)
		}
	}
}
