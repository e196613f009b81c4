package koordinator16

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	berth "github.com/berth-sched/berth/estimator"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/replay/loadaware"
)

// Compare plays random cases with both, by the rules of the imported version of
// Koordinator. Arguments are in one of the given versions of the configuration. It
// returns how many cases were played and how many of these differ. It writes
// differences to out, the first ones with the whole case.
func Compare(rules berth.Rules, versions []string, seed uint64, cases int, out io.Writer) (played, mismatches int) {
	const shown = 3
	for i := range cases {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		c := loadaware.Random(r, time.Now().UTC().Round(0))
		c.ID = i
		if ambiguous(c) {
			continue
		}
		played++
		diff := age(c, versions[r.IntN(len(versions))])
		if diff == nil {
			diff = play(c, rules)
		}
		if len(diff) == 0 {
			continue
		}
		if mismatches++; mismatches <= shown {
			text, _ := json.Marshal(c)
			fmt.Fprintf(out, "case %d: %s\n%s\n", i, strings.Join(diff, "\n\t"), text)
		}
	}
	return played, mismatches
}

// play returns the differences in one case.
func play(c *loadaware.Case, rules berth.Rules) []string {
	ours, err := loadaware.Run(c, rules)
	if err != nil {
		return []string{"berth: " + err.Error()}
	}
	theirs, err := Rival(c)
	if err != nil {
		return []string{"Koordinator: " + err.Error()}
	}
	theirs.DefaultedArgs = ours.DefaultedArgs
	return loadaware.Diff(theirs, ours)
}

// later lists the arguments that came after 1.6.
var later = []string{
	"dominantResourceWeight", "prodUsageIncludeSys", "estimatedSecondsAfterPodScheduled",
	"estimatedSecondsAfterInitialized", "allowCustomizeEstimation", "supportedResources",
}

// age changes the case so that the version can play it.
func age(c *loadaware.Case, version string) []string {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return []string{err.Error()}
	}
	for _, name := range later {
		delete(args, name)
	}
	args["kind"] = json.RawMessage(`"LoadAwareSchedulingArgs"`)
	args["apiVersion"] = json.RawMessage(`"kubescheduler.config.k8s.io/` + version + `"`)
	c.Args, _ = json.Marshal(args) // a map decoded just before
	metrics := slices.Clone(c.NodeMetrics)
	for i := range c.Events {
		if m := c.Events[i].Metric; m != nil {
			metrics = append(metrics, m)
		}
	}
	for _, m := range metrics {
		m.Status.PodsMetric = slices.DeleteFunc(m.Status.PodsMetric, func(r *api.PodMetricInfo) bool { return r == nil })
	}
	return nil
}

// ambiguous reports whether two pods of the case have one name, or a pod changes its
// node.
func ambiguous(c *loadaware.Case) bool {
	pods := slices.Clone(c.Pods)
	for i := range c.Events {
		switch e := &c.Events[i]; e.Type {
		case loadaware.PodAdd, loadaware.PodUpdate, loadaware.PodDelete:
			pods = append(pods, e.Pod)
		}
	}
	names, nodes := map[string]api.UID{}, map[api.UID]string{}
	for _, p := range pods {
		if uid, ok := names[p.Key()]; ok && uid != p.UID {
			return true
		}
		names[p.Key()] = p.UID
		if node := p.Spec.NodeName; node != "" {
			if before := nodes[p.UID]; before != "" && before != node {
				return true
			}
			nodes[p.UID] = node
		}
	}
	return false
}
