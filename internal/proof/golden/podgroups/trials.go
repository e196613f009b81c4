package podgroups

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/proof/golden"
	"github.com/berth-sched/berth/scheduling/gang"
)

// checkTrials compares every placement, and which are best.
func (k *checker) checkTrials() {
	if k.Expect.Placements == nil && k.Expect.Generate == nil {
		return // refused before any placement
	}
	detailed, err := k.placer(true).Try(k.snapshot, k.group())
	var invalid *api.InvalidError
	if errors.As(err, &invalid) {
		return // malformed for the pure call: checkAttempt compares it
	}
	if err != nil {
		k.differ("Try: %v", err)
		return
	}
	if want := k.Expect.Generate; want != nil {
		k.compareGenerated(detailed, want)
		return
	}
	var best []string
	var total int64 = -1
	got := map[string]*gang.Trial{}
	for _, t := range detailed.Trials {
		got[t.Name()] = t
		switch {
		case !t.Succeeded:
		case t.Total > total:
			best, total = []string{t.Name()}, t.Total
		case t.Total == total:
			best = append(best, t.Name())
		}
	}
	k.compare("number of placements", len(detailed.Trials), len(k.Expect.Placements))
	for i := range k.Expect.Placements {
		want := &k.Expect.Placements[i]
		if t := got[want.Name]; t != nil {
			k.compareTrial(t, want)
		} else {
			k.differ("placement %q is missing", want.Name)
		}
	}
	slices.Sort(best)
	wanted := slices.Sorted(slices.Values(k.Expect.Best))
	if len(best)+len(wanted) > 0 {
		k.compare("best placements", best, wanted)
	}
	k.compareCounted(detailed)
}

// compareCounted compares what counts say with what trials pod by pod said.
func (k *checker) compareCounted(detailed *gang.Outcome) {
	counted, err := k.placer(false).Try(k.snapshot, k.group())
	if err != nil {
		k.differ("Try by counts: %v", err)
		return
	}
	k.compare("status by counts", counted.Status, detailed.Status)
	k.compare("text by counts", counted.Text, detailed.Text)
	k.compare("placed by counts", fmt.Sprint(counted.Placed), fmt.Sprint(detailed.Placed))
	for i, t := range counted.Trials {
		d := detailed.Trials[i]
		k.compare("scores by counts of "+t.Name(), t.Scores, d.Scores)
		k.compare("success by counts of "+t.Name(), t.Succeeded, d.Succeeded)
		k.compare("pods by counts of "+t.Name(), t.Pods, d.Pods)
	}
}

func (k *checker) compareGenerated(got *gang.Outcome, want *golden.Status) {
	code := "Unschedulable"
	if got.Status == gang.Stuck {
		code = "Error"
	}
	k.compare("generated: code", code, want.Code)
	if len(want.Reasons) == 1 && sorted(got.Text) != sorted(want.Reasons[0]) {
		k.differ("generated: %q, want %q", got.Text, want.Reasons[0])
	}
}

var twoDomains = regexp.MustCompile(`(more than 1 domain found for pod group: )(.*), (.*)$`)

// sorted sorts the two values in a text, whose order is arbitrary.
func sorted(text string) string {
	m := twoDomains.FindStringSubmatch(text)
	if m == nil || m[2] <= m[3] {
		return text
	}
	return twoDomains.ReplaceAllString(text, "${1}${3}, ${2}")
}

func (k *checker) compareTrial(t *gang.Trial, want *golden.PodGroupPlacement) {
	what := "placement " + want.Name + ": "
	k.compare(what+"success", t.Succeeded, want.Status.Code == "Success")
	if len(want.Status.Reasons) > 0 {
		k.compare(what+"text", t.Text, want.Status.Reasons[0])
	}
	if want.Nodes != nil {
		k.compare(what+"nodes", t.Nodes, len(want.Nodes))
	}
	got := map[string]golden.PodGroupTry{}
	for _, p := range t.Placed {
		name := k.pods[p.Index()].Pod.Name
		got[name] = golden.PodGroupTry{Pod: name, Node: p.Node}
	}
	for _, l := range t.Left {
		name := k.pods[l.Index()].Pod.Name
		got[name] = golden.PodGroupTry{Pod: name, Text: l.Err.Error()}
	}
	for _, w := range want.Pods {
		w.Code = ""
		k.compare(what+"pod "+w.Pod, got[w.Pod], w)
		delete(got, w.Pod)
	}
	for _, g := range got {
		k.differ(what+"pod %s = %v, want none", g.Pod, g)
	}
	if want.Scores == nil {
		return
	}
	scores := map[string]int64{}
	for _, s := range t.Scores {
		scores[s.Plugin] = s.Weighted
	}
	k.compare(what+"scores", scores, want.Scores)
	k.compare(what+"total", t.Total, want.Total)
}
