package framework_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/resource"
)

func drawRequests(t *rapid.T, label string) resource.List {
	var l resource.List
	for _, name := range []resource.Name{resource.CPU, resource.Memory, resource.EphemeralStorage, "example.com/gpu", "hugepages-2Mi", "local"} {
		if rapid.IntRange(0, 2).Draw(t, label+" has "+string(name)) > 0 {
			continue
		}
		if l == nil {
			l = resource.List{}
		}
		l[name] = resource.MustParse(rapid.SampledFrom([]string{
			"0", "1", "100m", "250m", "1500m", "7u", "3n", "2Gi", "0.5", "1e3", "9223372036854775807", "6E", "12345678901234567890",
		}).Draw(t, label+" "+string(name)))
	}
	return l
}

func drawContainers(t *rapid.T, label string, least int) []api.Container {
	list := make([]api.Container, rapid.IntRange(least, 3).Draw(t, label))
	for i := range list {
		list[i].Name = fmt.Sprint(label, i)
		list[i].Resources.Requests = drawRequests(t, list[i].Name)
		if label == "init" && rapid.Bool().Draw(t, "sidecar") {
			list[i].RestartPolicy = new(api.ContainerRestartPolicyAlways)
		}
	}
	return list
}

// drawStatuses repeats the requests of some containers, and now and then states others.
func drawStatuses(t *rapid.T, list []api.Container) (statuses []api.ContainerStatus) {
	for _, c := range list {
		s := api.ContainerStatus{Name: c.Name}
		state := func(label string) resource.List {
			switch rapid.IntRange(0, 5).Draw(t, label) {
			case 0:
				return nil
			case 1:
				return drawRequests(t, label)
			}
			return c.Resources.Requests.Clone()
		}
		s.AllocatedResources = state("allocated " + c.Name)
		if r := state("enforced " + c.Name); r != nil {
			s.Resources = &api.ResourceRequirements{Requests: r}
		}
		statuses = append(statuses, s)
	}
	return statuses
}

// The vectors of a PodInfo are those of the lists that package api adds up, whether or
// not the schema knows the names already.
func TestPodInfoAddsUpRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &api.Pod{ObjectMeta: api.ObjectMeta{Name: "p", Namespace: "default"}}
		p.Spec.Containers = drawContainers(t, "main", 1)
		p.Spec.InitContainers = drawContainers(t, "init", 0)
		if rapid.IntRange(0, 3).Draw(t, "overhead") == 0 {
			p.Spec.Overhead = drawRequests(t, "overhead")
		}
		if rapid.IntRange(0, 5).Draw(t, "pod level") == 0 {
			p.Spec.Resources = &api.ResourceRequirements{Requests: drawRequests(t, "pod")}
		}
		if rapid.Bool().Draw(t, "runs") {
			p.Status.ContainerStatuses = drawStatuses(t, p.Spec.Containers)
			p.Status.InitContainerStatuses = drawStatuses(t, p.Spec.InitContainers)
			if rapid.IntRange(0, 5).Draw(t, "infeasible") == 0 {
				p.Status.Conditions = []api.PodCondition{{Type: api.PodResizePending, Reason: api.PodReasonInfeasible}}
			}
		}
		schema := resource.NewSchema()
		for _, round := range []string{"new names", "known names"} {
			got, err := framework.NewPodInfo(p, schema)
			if err != nil {
				t.Fatal(err)
			}
			vector := func(o api.RequestOptions) resource.Vector { return schema.Vector(api.PodRequests(p, o)) }
			nonZero := vector(api.RequestOptions{PodLevel: true, Status: true, NonZero: true})
			want := framework.PodInfo{
				Requests:       vector(api.RequestOptions{PodLevel: true}),
				UsedRequests:   vector(api.RequestOptions{PodLevel: true, Status: true}),
				ScoredRequests: vector(api.RequestOptions{NonZero: true}),
				UsedNonZero:    [2]int64{nonZero.At(resource.IndexCPU), nonZero.At(resource.IndexMemory)},
			}
			for _, v := range []struct {
				name      string
				got, want resource.Vector
			}{
				{"Requests", got.Requests, want.Requests},
				{"UsedRequests", got.UsedRequests, want.UsedRequests},
				{"ScoredRequests", got.ScoredRequests, want.ScoredRequests},
				{"UsedNonZero", got.UsedNonZero[:], want.UsedNonZero[:]},
			} {
				if fmt.Sprint(v.got) != fmt.Sprint(v.want) {
					t.Fatalf("%s: %s = %v, want %v", round, v.name, v.got, v.want)
				}
			}
		}
	})
}
