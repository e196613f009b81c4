package gang_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/gang"
)

// refusedProperly fails unless the error, if there is one, names object, field and value.
func refusedProperly(t *testing.T, err error) {
	t.Helper()
	var invalid *api.InvalidError
	if err != nil && (!errors.As(err, &invalid) || invalid.Object == "" || invalid.Field == "") {
		t.Errorf("error %v, want an InvalidError with object and field", err)
	}
}

// Whatever Koordinator's annotations and labels say, the gangs are decided about, or the
// error names the annotation.
func FuzzKoordinator(f *testing.F) {
	const strategies = `{"gatherStrategy":[{"layer":"rack","strategy":"MustGather","podCountMultiple":2},{"layer":"block","strategy":"PreferGather"}]}`
	f.Add("2", "4", "NonStrict", "10s", "only-waiting", `["default/a","default/b"]`, strategies, "1")
	f.Add("", "", "", "", "", "", "", "")
	f.Add("-1", "x", "Strict", "-3s", "once-satisfied", "{", `{"gatherStrategy":[{"layer":"moon"}]}`, "9999999999999999999")
	f.Add("9223372036854775807", "1", "strict", "1h", "waiting-and-running", "null", `{"gatherStrategy":[{"layer":"rack","strategy":"MustGather","podCountMultiple":-5}]}`, "-1")
	f.Fuzz(func(t *testing.T, least, total, mode, waiting, policy, groups, topology, index string) {
		s := racks(2, 1)
		var pods []*framework.PodInfo
		for _, name := range []string{"p-0", "p-1", "p-2"} {
			p := api.MakePod(name).Namespace("default").Requests("1", "1Gi").Obj()
			p.Annotations = map[string]string{"gang.scheduling.koordinator.sh/name": "a"}
			for key, text := range map[string]string{
				"min-available": least, "total-number": total, "mode": mode, "waiting-time": waiting, "match-policy": policy,
				"groups": groups, "network-topology-spec": topology, "network-topology-index": index,
			} {
				if text != "" {
					p.Annotations["gang.scheduling.koordinator.sh/"+key] = text
				}
			}
			pods = append(pods, info(s, p))
		}
		gangs, err := gang.KoordinatorGangs(pods, nil, []gang.KoordinatorLayer{{"block", block}, {"rack", rack}})
		refusedProperly(t, err)
		if err != nil {
			return
		}
		if len(gangs) != 1 || len(gangs[0].Pods) != len(pods) || gangs[0].Min < 0 || gangs[0].Total < gangs[0].Min || gangs[0].Waiting <= 0 {
			t.Fatalf("gangs %+v", gangs)
		}
		for _, satisfied := range []bool{false, true} {
			before := imageOf(s)
			_, err := placer(gang.Rules{Choice: gang.BestFit, Search: 50}).Try(s, gangs[0].Group(satisfied))
			refusedProperly(t, err)
			unchanged(t, s, before, "Try")
		}
	})
}

// Whatever Kueue's annotations say, the levels can be placed by, or the error names the
// annotation.
func FuzzKueue(f *testing.F) {
	f.Add(rack, "", "", rack, "2", "", "3")
	f.Add("", block, "", "", "", `[{"topology":"example.com/block","size":4},{"topology":"example.com/rack","size":2}]`, "4")
	f.Add("", "", "true", api.LabelHostname, "1", "", "2")
	f.Add("moon", "x", "maybe", "y", "-1", "[{}]", "0")
	f.Fuzz(func(t *testing.T, required, preferred, unconstrained, slice, size, slices, pods string) {
		annotations := map[string]string{}
		for key, text := range map[string]string{
			"required-topology": required, "preferred-topology": preferred, "unconstrained-topology": unconstrained,
			"slice-required-topology": slice, "slice-size": size, "slice-required-topology-constraints": slices,
		} {
			if text != "" {
				annotations["kueue.x-k8s.io/podset-"+key] = text
			}
		}
		levels, choice, err := gang.KueueLevels(annotations, []string{block, rack, api.LabelHostname})
		refusedProperly(t, err)
		if err != nil {
			return
		}
		s := racks(2, 1)
		g := &gang.Group{Name: "g", Pods: workers(s, 1+len(pods)%8, "1"), Topology: levels}
		before := imageOf(s)
		_, err = placer(gang.Rules{Choice: choice}).Try(s, g)
		if err != nil && !strings.Contains(err.Error(), "slice") {
			t.Errorf("Try refuses what KueueLevels returns: %v", err)
		}
		refusedProperly(t, err)
		unchanged(t, s, before, "Try")
	})
}
