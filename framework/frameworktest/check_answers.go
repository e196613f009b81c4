package frameworktest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/incremental"
)

// checkName wants a name that stays.
func (k *kit) checkName() *Failure {
	if k.name == "" {
		return k.fail("Name()", `""`, "a name")
	}
	for _, p := range k.pods {
		k.ask(new(framework.Cycle), k.snapshot, p, nil)
		k.calling = "Name"
		if got := k.plugin.Name(); got != k.name {
			return k.fail("Name(), asked again", got, k.name)
		}
	}
	return nil
}

// checkDeterminism asks twice, and once more with the nodes in another order.
func (k *kit) checkDeterminism() *Failure {
	shuffled := *k.objects
	shuffled.Nodes = slices.Clone(k.objects.Nodes)
	k.random().Shuffle(len(shuffled.Nodes), func(i, j int) {
		shuffled.Nodes[i], shuffled.Nodes[j] = shuffled.Nodes[j], shuffled.Nodes[i]
	})
	other, _, err := framework.SnapshotOf(&shuffled, framework.Arrival)
	if err != nil {
		return k.fail("the cluster in another order", err.Error(), "no error")
	}
	other.SetNow(k.snapshot.Now())
	if err := k.prepare(other); err != nil {
		return k.fail("the cluster in another order", err.Error(), "no error")
	}
	for _, p := range k.pods {
		want := k.ask(new(framework.Cycle), k.snapshot, p, nil)
		if f := k.same(want, k.ask(new(framework.Cycle), k.snapshot, p, nil), "asked again"); f != nil {
			return f
		}
		twin, err := other.NewPodInfo(p.Pod)
		if err != nil {
			return k.fail("the pod in another snapshot", err.Error(), "no error")
		}
		if f := k.same(want, k.ask(new(framework.Cycle), other, twin, nil), "with the nodes in another order"); f != nil {
			return f
		}
	}
	return nil
}

// checkBounds wants normalized scores from 0 to 100, and one result where there
// are two ways to it.
func (k *kit) checkBounds() *Failure {
	for _, p := range k.pods {
		a := k.ask(new(framework.Cycle), k.snapshot, p, nil)
		what := "normalized score"
		if byRange, byNodes := k.normalizers(a.scorer); byRange == nil && byNodes == nil {
			what = "score, which nothing normalizes,"
		}
		for i, score := range a.normalized {
			if score < framework.MinNodeScore || score > framework.MaxNodeScore {
				k.node = a.feasible[i].Name()
				return k.fail(what, fmt.Sprint(score), fmt.Sprintf("%d to %d", framework.MinNodeScore, framework.MaxNodeScore))
			}
		}
		if f := k.normalizersAgree(a); f != nil {
			return f
		}
	}
	return nil
}

func (k *kit) normalizersAgree(a *answers) *Failure {
	if len(a.raw) == 0 {
		return nil
	}
	byRange, ok := a.scorer.(framework.RangeNormalizer)
	byNodes, too := a.scorer.(framework.ScoreNormalizer)
	if !ok && !too {
		byRange, byNodes = k.byRange, k.byNodes
	}
	if byRange == nil || byNodes == nil {
		return nil
	}
	want, got := slices.Clone(a.raw), slices.Clone(a.raw)
	k.normalizeByRange(byRange, want)
	k.calling = "NormalizeScores"
	byNodes.NormalizeScores(slices.Clone(a.feasible), got)
	return k.sameScores("score by NormalizeScores", a.feasible, want, a.feasible, got, "beside NormalizeScore")
}

// wrongCode reports whether no point before Permit may answer so.
func wrongCode(s framework.Status) bool {
	return s.IsWait() || errors.Is(s.Err(), framework.ErrUnknownCode)
}

// checkCodes wants codes that the points may answer with.
func (k *kit) checkCodes() *Failure {
	for _, p := range k.pods {
		a := k.ask(new(framework.Cycle), k.snapshot, p, nil)
		k.node = ""
		if wrongCode(a.preFilter) {
			return k.fail("code of PreFilter", a.preFilter.String(), "Success, Skip, a rejection or Error")
		}
		if wrongCode(a.preScore) {
			return k.fail("code of PreScore", a.preScore.String(), "Success, Skip, a rejection or Error")
		}
		for _, n := range k.snapshot.All() {
			v := a.verdicts[n.Name()]
			if c := v.status.Code(); v.where == "Filter" && !v.passes() && !v.status.IsRejected() && (c != framework.Error || wrongCode(v.status)) {
				k.node = n.Name()
				return k.fail("code of Filter", c.String(), "Success, a rejection or Error")
			}
		}
	}
	return nil
}

// checkBatch compares FilterNodes with Filter, and ScoreNodes with Score, also
// for parts of the nodes.
func (k *kit) checkBatch() *Failure {
	for _, p := range k.pods {
		a := k.ask(new(framework.Cycle), k.snapshot, p, nil)
		if batch, ok := a.bound.(incremental.BatchFilter); ok {
			if f := k.checkFilterNodes(batch, p); f != nil {
				return f
			}
		}
		batch, ok := a.scorer.(incremental.BatchScorer)
		if !ok {
			continue
		}
		backwards := slices.Clone(a.feasible)
		slices.Reverse(backwards)
		lists := [][]*framework.NodeInfo{a.feasible, backwards, nil}
		for i := range a.feasible {
			lists = append(lists, a.feasible[i:i+1])
		}
		for _, nodes := range lists {
			const untouched = -7_777_777
			got := slices.Repeat([]int64{untouched}, len(nodes))
			k.calling = "ScoreNodes"
			batch.ScoreNodes(p, slices.Clone(nodes), got)
			for i, n := range nodes {
				k.node = n.Name()
				k.calling = "Score"
				if want := batch.Score(p, n); got[i] != want {
					return k.fail(fmt.Sprintf("score by ScoreNodes of %d nodes", len(nodes)), fmt.Sprint(got[i]), fmt.Sprintf("%d, as Score says", want))
				}
			}
		}
	}
	return nil
}

// checkFilterNodes wants the nodes that Filter does not let pass, in order.
func (k *kit) checkFilterNodes(batch incremental.BatchFilter, p *framework.PodInfo) *Failure {
	var nodes []*framework.NodeInfo
	for _, n := range k.snapshot.All() {
		nodes = append(nodes, n)
	}
	for range 2 {
		for from := range len(nodes) + 1 {
			want := []int{-1} // what was there before stays
			k.calling = "Filter"
			for i, n := range nodes[from:] {
				if !batch.Filter(p, n).IsSuccess() {
					want = append(want, i)
				}
			}
			k.calling = "FilterNodes"
			got := batch.FilterNodes(p, slices.Clone(nodes[from:]), []int{-1})
			if !slices.Equal(got, want) {
				return k.fail(fmt.Sprintf("nodes rejected by FilterNodes of %d nodes", len(nodes)-from), fmt.Sprint(got), fmt.Sprintf("%v, as Filter says", want))
			}
		}
		slices.Reverse(nodes)
	}
	return nil
}

// checkRestrict wants names in order, and a filter that agrees with them.
func (k *kit) checkRestrict() *Failure {
	for _, p := range k.pods {
		a := k.ask(new(framework.Cycle), k.snapshot, p, nil)
		if !a.restrict {
			continue
		}
		k.node = ""
		for i := 1; i < len(a.names); i++ {
			if a.names[i-1] >= a.names[i] {
				return k.fail("NodeNames of PreFilter", fmt.Sprintf("%q before %q", a.names[i-1], a.names[i]), "sorted names, each once")
			}
		}
		if a.bound == nil {
			continue
		}
		for _, n := range k.snapshot.All() {
			k.node, k.calling = n.Name(), "Filter"
			if _, listed := slices.BinarySearch(a.names, n.Name()); !listed && a.bound.Filter(p, n).IsSuccess() {
				return k.fail("Filter of a node that PreFilter leaves out", "Success", "a rejection")
			}
		}
	}
	return nil
}
