package karmada

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	clusterapi "github.com/karmada-io/karmada/pkg/apis/cluster"
	"github.com/karmada-io/karmada/pkg/apis/cluster/mutation"
	clusterv1 "github.com/karmada-io/karmada/pkg/apis/cluster/v1alpha1"
	"github.com/karmada-io/karmada/pkg/apis/cluster/validation"
	"github.com/karmada-io/karmada/pkg/modeling"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-sched/berth/estimator/capacity"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"

	"github.com/berth-sched/berth/internal/proof/parity/karmada113/live"
	"github.com/berth-sched/berth/internal/proof/parity/karmada113/random"
)

// spoil breaks well-formed models in one of many ways.
func spoil(r *rand.Rand, ms []clusterv1.ResourceModel) []clusterv1.ResourceModel {
	i := r.IntN(len(ms))
	m := &ms[i]
	j := r.IntN(len(m.Ranges))
	switch r.IntN(9) {
	case 0:
		m.Grade = ms[max(0, i-1)].Grade
	case 1:
		m.Ranges = m.Ranges[:len(m.Ranges)-1]
	case 2:
		m.Ranges[j].Max = m.Ranges[j].Min
	case 3:
		m.Ranges[j].Min = random.Quantity(random.Pick(r, "0", "1", "100m", "-1"))
	case 4:
		m.Ranges[j].Name = random.Pick(r, m.Ranges[j].Name, "storage")
	case 5:
		m.Ranges[j].Max = random.Quantity(random.Pick(r, "9223372036854775807", "9223372036854775806", "8Ei", "10E", "5"))
	case 6:
		slices.Reverse(m.Ranges)
	case 7:
		slices.Reverse(ms)
	case 8:
		// The same number, written differently.
		m.Ranges[j].Min = random.Quantity(fmt.Sprintf("%dm", m.Ranges[j].Min.MilliValue()))
	}
	return ms
}

func validate(r *rand.Rand) live.Outcome {
	ms := random.Models(r)
	if random.Chance(r, 70) {
		ms = spoil(r, ms)
	}
	data := live.Encode(ms)
	want := ""
	if err := validation.ValidateClusterResourceModels(field.NewPath("spec", "resourceModels"), live.Convert[[]clusterapi.ResourceModel](ms)); err != nil {
		want = err.Detail
	}
	if got := detail(capacity.ValidateModelsJSON(data)); got != want {
		return live.Differ("ValidateModelsJSON", want, got, ms)
	}
	if got := detail(capacity.ValidateModels(live.Convert[[]api.ResourceModel](ms))); got != want {
		if !strings.Contains(want, "contiguous") {
			return live.Differ("ValidateModels", want, got, ms)
		}
		return live.Outcome{Fault: "as written"}
	}
	return live.Outcome{}
}

func detail(err error) string {
	if err == nil {
		return ""
	}
	return err.(*api.InvalidError).Err.Error()
}

func standardize(r *rand.Rand) live.Outcome {
	ms := random.Models(r)
	if random.Chance(r, 50) {
		ms = spoil(r, ms)
	}
	r.Shuffle(len(ms), func(i, j int) { ms[i], ms[j] = ms[j], ms[i] })
	seen := map[uint]bool{}
	for _, m := range ms {
		if seen[m.Grade] {
			return live.Outcome{} // the sort is unstable
		}
		seen[m.Grade] = true
	}
	got := capacity.StandardizeModels(live.Convert[[]api.ResourceModel](ms))
	theirs := live.Convert[[]clusterapi.ResourceModel](ms)
	mutation.StandardizeClusterResourceModels(theirs)
	want := live.Convert[[]api.ResourceModel](theirs)
	if string(live.Encode(got)) != string(live.Encode(want)) {
		return live.Differ("StandardizeModels", want, got, ms)
	}
	return live.Outcome{}
}

func grades(r *rand.Rand) live.Outcome {
	ms := random.Models(r)
	summary, err := modeling.InitSummary(ms)
	if err != nil {
		panic(err)
	}
	grader, err := capacity.NewGrader(live.Convert[[]api.ResourceModel](ms))
	if err != nil {
		return live.Differ("NewGrader", "no error", err.Error(), ms)
	}
	var lists []resource.List
	for range r.IntN(30) {
		free := corev1.ResourceList{}
		for _, m := range ms[r.IntN(len(ms))].Ranges {
			q := m.Min
			switch r.IntN(4) {
			case 0:
				q.Sub(random.Quantity("1m"))
			case 1:
				q.Add(random.Quantity(random.Pick(r, "1m", "1", "1Gi")))
			case 2:
				continue
			}
			free[m.Name] = q
		}
		summary.AddToResourceSummary(modeling.NewClusterResourceNode(free))
		lists = append(lists, live.Convert[resource.List](free))
	}
	var got, want []int
	for _, m := range summary.RMs {
		want = append(want, m.Quantity)
	}
	for _, m := range grader.Count(lists) {
		got = append(got, m.Count)
	}
	if !slices.Equal(got, want) {
		return live.Differ("Count", want, got, ms)
	}
	return live.Outcome{}
}
