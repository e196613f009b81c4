package golden

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/berth-sched/berth/filter"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/devices"
	"github.com/berth-sched/berth/internal/devices/expr"
	"github.com/berth-sched/berth/scoring"
)

// recorded is when the cases are decided. Their time stamps are years before or after.
var recorded = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// CheckDevices takes the pods of a case through the plugin DynamicResources and returns
// one line for each difference. If the original is random, it must have gone that way
// once.
func CheckDevices(c *DeviceCase) []string {
	if !c.Random {
		var expects []DeviceExpect
		for i := range c.Steps {
			if c.Steps[i].Pod != nil {
				expects = append(expects, c.Steps[i].Expect)
			}
		}
		return checkDevices(c, expects)
	}
	var all []string
	for _, expects := range c.Alternatives {
		differences := checkDevices(c, expects)
		if len(differences) == 0 {
			return nil
		}
		all = append(all, differences[0])
	}
	return []string{"none of the alternatives: " + strings.Join(all, "; ")}
}

func checkDevices(c *DeviceCase, expects []DeviceExpect) []string {
	s, err := c.Snapshot()
	if err != nil {
		return []string{"snapshot: " + err.Error()}
	}
	s.SetNow(recorded)
	k := &deviceChecker{c: c, s: s}
	for i := range c.Steps {
		step := &c.Steps[i]
		if step.Pod == nil {
			if err := free(s, step.Free); err != nil {
				return append(k.list, err.Error())
			}
			continue
		}
		if len(expects) == 0 {
			return append(k.list, "the case has too few answers")
		}
		k.name = fmt.Sprintf("step %d: ", i)
		k.step(step, &expects[0])
		expects = expects[1:]
	}
	return k.list
}

// A deviceChecker compares the answers for one case.
type deviceChecker struct {
	differences
	c     *DeviceCase
	s     *framework.Snapshot
	cycle framework.Cycle
	name  string
	had   map[string]bool // claims that were reserved for the pod before
}

// handle gives PreEnqueue the snapshot.
type handle struct {
	framework.Handle
	snapshot *framework.Snapshot
}

func (h handle) Snapshot() *framework.Snapshot { return h.snapshot }

func (k *deviceChecker) compare(what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		k.addf("%s%s = %s, want %s", k.name, what, asText(got), asText(want))
	}
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// compareStatus compares a status with an expected one; nil is success.
func (k *deviceChecker) compareStatus(what string, got framework.Status, want *Status) {
	w := Status{Code: "Success"}
	if want != nil {
		w = *want
	}
	g := StatusOf(got)
	k.compare(what, Status{Code: g.Code, Reasons: cut(g.Reasons)}, Status{Code: w.Code, Reasons: cut(w.Reasons)})
}

// cut leaves out what the compiler says of an expression.
func cut(reasons []string) []string {
	reasons = slices.Clone(reasons)
	for i, r := range reasons {
		for _, mark := range []string{"CEL compile error", "CEL runtime error"} {
			if at := strings.Index(r, mark); at >= 0 {
				reasons[i] = r[:at+len(mark)]
			}
		}
	}
	return reasons
}

func (k *deviceChecker) step(step *DeviceStep, want *DeviceExpect) {
	pod, err := k.s.NewPodInfo(step.Pod)
	if err != nil {
		k.addf("%spod: %v", k.name, err)
		return
	}
	plugin := filter.DynamicResources{Handle: handle{snapshot: k.s}}
	k.compareStatus("PreEnqueue", plugin.PreEnqueue(context.Background(), pod), want.PreEnqueue)
	k.cycle.Reset(pod, k.s, 0, 0)
	bound, status := plugin.PreFilter(&k.cycle)
	k.compareStatus("PreFilter", status, want.PreFilter)
	rejections := map[string]framework.Status{}
	var passed []*framework.NodeInfo
	if status.IsSuccess() || status.IsSkip() {
		for _, object := range k.c.Nodes {
			node := k.s.Node(object.Name)
			if status.IsSuccess() {
				rejections[node.Name()] = bound.Filter.Filter(pod, node)
			}
			if rejections[node.Name()].IsSuccess() {
				passed = append(passed, node)
			}
		}
	}
	finder, _ := devices.FinderOf(k.s, pod, devices.Options{BindingTimeout: 10 * time.Minute})
	if status.IsSuccess() {
		k.toAllocate(finder, passed, want)
		k.unavailable(finder, rejections, want)
	}
	if isTwice(want) {
		return
	}
	for _, object := range k.c.Nodes {
		if w, ok := want.Nodes[object.Name]; ok || status.IsSuccess() {
			k.compareStatus("Filter of "+object.Name, rejections[object.Name], w.Filter)
		}
	}
	if status.IsSuccess() || status.IsSkip() {
		k.scores(passed, want)
		k.resources(want)
	}
	if len(want.PostFilter) > 0 {
		k.postFilter(plugin, rejections, want.PostFilter)
	}
	if step.Node != "" && step.Then != "none" && (status.IsSuccess() || status.IsSkip()) {
		k.reserve(plugin, step, want)
	}
}

// toAllocate compares what each node that passed would give.
func (k *deviceChecker) toAllocate(finder *devices.Finder, passed []*framework.NodeInfo, want *DeviceExpect) {
	names := want.ToAllocate
	if isTwice(want) {
		names = names[:1]
	}
	for _, n := range passed {
		var found devices.Found
		if status := finder.Find(n, &found); !status.IsSuccess() {
			k.addf("%sFind on %s = %v, though Filter passes", k.name, n.Name(), status)
			continue
		}
		w := want.Nodes[n.Name()]
		if isTwice(want) {
			if len(w.Allocations) == 0 {
				continue // there were devices for one of the two
			}
			w.Allocations = w.Allocations[:1]
		}
		var got []string
		for _, c := range found.Claims {
			got = append(got, c.Claim.Name)
		}
		if len(found.Claims) > 0 || len(w.Allocations) > 0 {
			k.compare("claims allocated on "+n.Name(), got, names)
		}
		k.compare("allocations on "+n.Name(), normal(found.Allocations), normal(w.Allocations))
		k.compare("requests on "+n.Name(), normal(found.Requests), normal(w.ExtendedRequests))
		var mappings []DeviceMapping
		for _, m := range found.Mappings {
			mappings = append(mappings, DeviceMapping{m.Container, string(m.Resource), m.Request})
		}
		k.compare("mappings on "+n.Name(), mappings, w.Mappings)
	}
}

// isTwice reports whether a pod names a claim twice: it is allocated twice by the
// original, and once here.
func isTwice(want *DeviceExpect) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(want.ToAllocate)))) < len(want.ToAllocate)
}

// normal returns a value as its JSON would be read, with numbers in place of quantities
// and without the names of shares.
func normal(v any) any {
	if list, ok := v.([]*api.AllocationResult); ok {
		var copied []*api.AllocationResult
		for _, a := range list {
			copied = append(copied, withoutShares(a))
		}
		v = copied
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var x any
	if err := json.Unmarshal(text, &x); err != nil {
		return err
	}
	return x
}

func (k *deviceChecker) unavailable(finder *devices.Finder, rejections map[string]framework.Status, want *DeviceExpect) {
	var got []string
	for _, c := range finder.Unavailable(func(n *framework.NodeInfo) bool {
		return slices.Contains(rejections[n.Name()].Reasons(), string(devices.ErrUnavailable))
	}) {
		got = append(got, c.Name)
	}
	k.compare("unavailable claims", got, want.Unavailable)
}

// scores compares the scores of the nodes that passed.
func (k *deviceChecker) scores(passed []*framework.NodeInfo, want *DeviceExpect) {
	scorer, status := scoring.DynamicResources{}.PreScore(&k.cycle, passed)
	if !status.IsSuccess() && !status.IsSkip() {
		k.addf("%sPreScore = %v", k.name, status)
		return
	}
	raw := make([]int64, len(passed))
	for i, n := range passed {
		if scorer != nil {
			raw[i] = scorer.Score(k.cycle.Pod, n)
		}
	}
	norm := normalize(scoring.DynamicResources{}, scorer, passed, raw)
	for i, n := range passed {
		w := want.Nodes[n.Name()]
		if w.Score == nil || w.Normalized == nil {
			k.addf("%s%s passes, but has no score", k.name, n.Name())
			continue
		}
		k.compare("Score of "+n.Name(), raw[i], *w.Score)
		k.compare("NormalizeScore of "+n.Name(), norm[i], *w.Normalized)
	}
}

// resources compares what NodeResourcesFit and NodeResourcesBalancedAllocation say.
func (k *deviceChecker) resources(want *DeviceExpect) {
	c := Case{Config: k.c.Config}
	var all []*framework.NodeInfo
	for _, object := range k.c.Nodes {
		all = append(all, k.s.Node(object.Name))
	}
	fits := slices.Contains([]string{"extended", "containers", "scored"}, k.c.Family)
	if fits {
		if p, ok := k.build(&c, "NodeResourcesFit", Filters["NodeResourcesFit"]).(framework.PreFilterPlugin); ok {
			bound, _ := p.PreFilter(&k.cycle)
			for _, n := range all {
				got := StatusOf(bound.Filter.Filter(k.cycle.Pod, n))
				slices.Sort(got.Reasons)
				w := Status{Code: "Success"}
				if x := want.Nodes[n.Name()].Fit; x != nil {
					w = *x
				}
				k.compare("NodeResourcesFit of "+n.Name(), got, w)
			}
		}
	}
	score := func(name string, of func(DeviceNodeExpect) *int64) {
		p, ok := k.build(&c, name, Scorers[name]).(framework.PreScorePlugin)
		if !ok {
			return
		}
		scorer, status := p.PreScore(&k.cycle, all)
		if !status.IsSuccess() {
			scorer = nil
		}
		for _, n := range all {
			if w := of(want.Nodes[n.Name()]); w != nil {
				got := int64(-1)
				if scorer != nil {
					got = scorer.Score(k.cycle.Pod, n)
				}
				k.compare(name+" of "+n.Name(), got, *w)
			}
		}
	}
	if k.c.Family == "scored" {
		score("NodeResourcesFit", func(w DeviceNodeExpect) *int64 { return w.FitScore })
		score("NodeResourcesBalancedAllocation", func(w DeviceNodeExpect) *int64 { return w.BalancedScore })
	}
}

// rejected is the Verdicts of a case.
type rejected map[string]framework.Status

func (r rejected) Verdict(n *framework.NodeInfo) (string, framework.Status) {
	return "DynamicResources", r[n.Name()]
}

func (k *deviceChecker) postFilter(plugin filter.DynamicResources, rejections rejected, want []DevicePostFilter) {
	result, status := plugin.PostFilter(context.Background(), &k.cycle, rejections)
	got := DevicePostFilter{Code: status.Code().String(), Message: status.Message()}
	for _, c := range result.Claims {
		_, name, _ := strings.Cut(c.Claim, "/")
		if c.Delete {
			got.Deleted = name
		} else {
			got.Freed = name
		}
	}
	if !slices.Contains(want, got) {
		k.addf("%sPostFilter = %+v, want one of %+v", k.name, got, want)
	}
}

// reserve reserves the node and does what comes then.
func (k *deviceChecker) reserve(plugin filter.DynamicResources, step *DeviceStep, want *DeviceExpect) {
	node := k.s.Node(step.Node)
	before := asText(framework.List[api.ResourceClaim](k.s))
	k.had = map[string]bool{}
	for _, c := range framework.List[api.ResourceClaim](k.s) {
		k.had[c.Name] = c.Status.Allocation != nil && devices.IsReservedFor(c, k.cycle.Pod.Pod)
	}
	k.compareStatus("Reserve", plugin.Reserve(&k.cycle, node), want.Reserve)
	claims, _ := filter.DeviceClaimsKey.Get(&k.cycle)
	switch step.Then {
	case "unreserve":
		plugin.Unreserve(&k.cycle, node)
		if after := asText(framework.List[api.ResourceClaim](k.s)); after != before {
			k.addf("%sUnreserve changes the claims from %s to %s", k.name, before, after)
		}
	case "bind":
		var bound []DeviceBound
		for _, c := range claims.Claims {
			next, err := k.write(c)
			if err != nil {
				k.compareStatus("PreBind", framework.AsStatus(err), want.Bind)
				return
			}
			bound = append(bound, k.boundOf(next))
		}
		if want.Bind != nil && slices.ContainsFunc(want.Bind.Reasons, isMended) {
			return
		}
		k.compareStatus("PreBind", framework.Status{}, want.Bind)
		k.compare("claims written", normalBound(bound), normalBound(k.written(want.Bound)))
	}
}

// isMended reports whether an error of the original is one that does not happen here.
func isMended(reason string) bool {
	return strings.HasPrefix(reason, "nil or empty request mappings") || strings.HasSuffix(reason, "got allocated elsewhere in the meantime")
}

// write writes a claim as PreBind would.
func (k *deviceChecker) write(c filter.DeviceClaim) (*api.ResourceClaim, error) {
	var current *api.ResourceClaim
	if c.Entry == "" {
		current = framework.Lookup[api.ResourceClaim](k.s, c.Claim.Key())
	}
	next, err := c.Write(current, k.cycle.Pod.Pod, recorded)
	if err != nil {
		return nil, err
	}
	if c.Entry == devices.ExtendedClaimName {
		next.Name = k.cycle.Pod.Pod.Name + "-extended-resources-*"
		next.UID = api.UID("made-" + next.Name)
	}
	return next, framework.Put(k.s, next)
}

func (k *deviceChecker) boundOf(c *api.ResourceClaim) DeviceBound {
	b := DeviceBound{Claim: c.Name, Allocation: withoutShares(c.Status.Allocation)}
	for _, r := range c.Status.ReservedFor {
		b.ReservedFor = append(b.ReservedFor, string(r.UID))
	}
	return b
}

// written leaves out the claims that were reserved for the pod before: they are not
// written again.
func (k *deviceChecker) written(list []DeviceBound) []DeviceBound {
	var rest []DeviceBound
	for _, b := range list {
		if !k.had[b.Claim] {
			rest = append(rest, b)
		}
	}
	return rest
}

func normalBound(list []DeviceBound) any {
	for i := range list {
		list[i].Finalizers = nil // the writer adds it
	}
	slices.SortFunc(list, func(a, b DeviceBound) int { return strings.Compare(a.Claim, b.Claim) })
	return normal(list)
}

// CheckSelector evaluates a selector. refused names what the built-in compiler does not
// take.
func CheckSelector(s *Selector) (difference, refused string) {
	var r *expr.RefusedError
	p, err := expr.Compile(s.Expression)
	switch {
	case errors.As(err, &r):
		return "", r.What
	case (err != nil) != (s.CompileError != ""):
		return fmt.Sprintf("Compile(%s) = %v, want %q", s.Expression, err, s.CompileError), ""
	case err != nil:
		return "", ""
	}
	got, _, err := p.Match(expr.NewDevice(s.Driver, &s.Device))
	switch {
	case errors.As(err, &r):
		return "", r.What
	case got != s.Match || (err != nil) != (s.RuntimeError != ""):
		return fmt.Sprintf("%s on %s = %v, %v, want %v, %q", s.Expression, s.Device.Name, got, err, s.Match, s.RuntimeError), ""
	}
	return "", ""
}
