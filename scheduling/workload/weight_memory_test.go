//go:build full

package workload_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/internal/volumes"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/workload"
)

// parts are the parts of a template that may be many: the text of one, with its number, and what is before and after.
var parts = map[string]struct{ before, one, after string }{
	"labels":                {`"metadata":{"labels":{`, `"k%d":"v"`, `}},"spec":{"containers":[{"name":"c"}]}`},
	"annotations":           {`"metadata":{"annotations":{`, `"k%d":"v"`, `}},"spec":{"containers":[{"name":"c"}]}`},
	"node selector":         {`"spec":{"containers":[{"name":"c"}],"nodeSelector":{`, `"k%d":"v"`, `}}`},
	"tolerations":           {`"spec":{"containers":[{"name":"c"}],"tolerations":[`, `{"key":"k%d"}`, `]}`},
	"containers":            {`"spec":{"containers":[`, `{"name":"k%d"}`, `]}`},
	"images":                {`"spec":{"containers":[`, `{"name":"c%[1]d","image":"k%[1]d"}`, `]}`},
	"limits":                {`"spec":{"containers":[`, `{"name":"k%d","resources":{"limits":{"cpu":"1m"}}}`, `]}`},
	"many limits":           {`"spec":{"containers":[{"name":"c","resources":{"limits":{`, `"example.com/k%d":"1"`, `}}}]}`},
	"requests":              {`"spec":{"containers":[{"name":"c","resources":{"requests":{`, `"example.com/k%d":"1"`, `}}}]}`},
	"init containers":       {`"spec":{"containers":[{"name":"c"}],"initContainers":[`, `{"name":"k%d"}`, `]}`},
	"sidecars":              {`"spec":{"containers":[{"name":"c"}],"initContainers":[`, `{"name":"k%d","restartPolicy":"Always","resources":{"limits":{"cpu":"1m"}}}`, `]}`},
	"ports":                 {`"spec":{"containers":[{"name":"c","ports":[`, `{"containerPort":1%d}`, `]}]}`},
	"host ports":            {`"spec":{"containers":[{"name":"c","ports":[`, `{"containerPort":1%[1]d,"hostPort":1%[1]d}`, `]}]}`},
	"ports, host's network": {`"spec":{"hostNetwork":true,"containers":[{"name":"c","ports":[`, `{"containerPort":1%d}`, `]}]}`},
	"secrets":               {`"spec":{"containers":[{"name":"c"}],"volumes":[`, `{"name":"k%d","secret":{"secretName":"s"}}`, `]}`},
	"claims":                {`"spec":{"containers":[{"name":"c"}],"volumes":[`, `{"name":"k%[1]d","persistentVolumeClaim":{"claimName":"c%[1]d"}}`, `]}`},
	"EBS":                   {`"spec":{"containers":[{"name":"c"}],"volumes":[`, `{"name":"k%[1]d","awsElasticBlockStore":{"volumeID":"c%[1]d"}}`, `]}`},
	"GCE":                   {`"spec":{"containers":[{"name":"c"}],"volumes":[`, `{"name":"k%[1]d","gcePersistentDisk":{"pdName":"c%[1]d"}}`, `]}`},
	"ISCSI":                 {`"spec":{"containers":[{"name":"c"}],"volumes":[`, `{"name":"k%[1]d","iscsi":{"targetPortal":"c%[1]d","iqn":"i"}}`, `]}`},
	"RBD":                   {`"spec":{"containers":[{"name":"c"}],"volumes":[`, `{"name":"k%[1]d","rbd":{"image":"c%[1]d","monitors":["m"]}}`, `]}`},
	"monitors of RBD":       {`"spec":{"containers":[{"name":"c"}],"volumes":[{"name":"k","rbd":{"image":"c","monitors":[`, `"m%d"`, `]}}]}`},
	"CSI":                   {`"spec":{"containers":[{"name":"c"}],"volumes":[`, `{"name":"k%d","csi":{"driver":"d"}}`, `]}`},
	"ephemeral volumes":     {`"spec":{"containers":[{"name":"c"}],"volumes":[`, `{"name":"k%d","ephemeral":{"volumeClaimTemplate":{"spec":{}}}}`, `]}`},
	"device claims":         {`"spec":{"containers":[{"name":"c"}],"resourceClaims":[`, `{"name":"k%[1]d","resourceClaimName":"c%[1]d"}`, `]}`},
	"gates":                 {`"spec":{"containers":[{"name":"c"}],"schedulingGates":[`, `{"name":"k%d"}`, `]}`},
	"overhead":              {`"spec":{"containers":[{"name":"c"}],"overhead":{`, `"example.com/k%d":"1"`, `}}`},
	"constraints":           {`"spec":{"containers":[{"name":"c"}],"topologySpreadConstraints":[`, `{"maxSkew":1,"topologyKey":"k%d","whenUnsatisfiable":"ScheduleAnyway"}`, `]}`},
	"anti-affinity":         {`"spec":{"containers":[{"name":"c"}],"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[`, `{"topologyKey":"k%d","labelSelector":{}}`, `]}}}`},
	"preferred affinity":    {`"spec":{"containers":[{"name":"c"}],"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[`, `{"weight":1,"podAffinityTerm":{"topologyKey":"k%d","labelSelector":{}}}`, `]}}}`},
	"node affinity":         {`"spec":{"containers":[{"name":"c"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[`, `{"matchExpressions":[{"key":"k%d","operator":"DoesNotExist"}]}`, `]}}}}`},
	"preferred nodes":       {`"spec":{"containers":[{"name":"c"}],"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[`, `{"weight":1,"preference":{"matchExpressions":[{"key":"k%d","operator":"DoesNotExist"}]}}`, `]}}}`},
}

// texts are the parts of a template that may be a long text.
var texts = []string{
	`"metadata":{"labels":{"k":%q}},"spec":{"containers":[{"name":"c"}]}`,
	`"metadata":{"annotations":{"k":%q}},"spec":{"containers":[{"name":"c"}]}`,
	`"spec":{"containers":[{"name":"c"}],"nodeSelector":{"k":%q}}`,
	`"spec":{"containers":[{"name":"c"}],"tolerations":[{"key":%q}]}`,
	`"spec":{"containers":[{"name":%q}]}`,
	`"spec":{"containers":[{"name":"c","image":%q}]}`,
	`"spec":{"containers":[{"name":"c","resources":{"requests":{%q:"1"}}}]}`,
	`"spec":{"containers":[{"name":"c","ports":[{"containerPort":1,"hostPort":1,"hostIP":%q}]}]}`,
	`"spec":{"containers":[{"name":"c"}],"volumes":[{"name":%q,"secret":{"secretName":"s"}}]}`,
	`"spec":{"containers":[{"name":"c"}],"volumes":[{"name":%q,"ephemeral":{"volumeClaimTemplate":{"spec":{}}}}]}`,
	`"spec":{"containers":[{"name":"c"}],"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":%q}}]}`,
	`"spec":{"containers":[{"name":"c"}],"volumes":[{"name":"v","csi":{"driver":%q}}]}`,
	`"spec":{"containers":[{"name":"c"}],"volumes":[{"name":"v","iscsi":{"targetPortal":"c","iqn":%q}}]}`,
	`"spec":{"containers":[{"name":"c"}],"resourceClaims":[{"name":"c","resourceClaimName":%q}]}`,
	`"spec":{"containers":[{"name":"c"}],"schedulingGates":[{"name":%q}]}`,
	`"spec":{"containers":[{"name":"c"}],"schedulerName":%q}`,
	`"spec":{"containers":[{"name":"c"}],"nodeName":%q}`,
	`"spec":{"containers":[{"name":"c"}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":%q,"whenUnsatisfiable":"DoNotSchedule"}]}`,
	`"spec":{"containers":[{"name":"c"}],"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":%q,"labelSelector":{}}]}}}`,
	`"spec":{"containers":[{"name":"c"}],"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"t","labelSelector":{"matchLabels":{"k":%q}}}]}}}`,
	`"spec":{"containers":[{"name":"c"}],"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"NotIn","values":[%q]}]}]}}}}`,
}

// templates are the texts of templates with many of a part, or with a long text, by what they have.
func templates() map[string]string {
	const many, long = 1000, 64 << 10
	all := map[string]string{}
	for name, part := range parts {
		list := make([]string, many)
		for i := range list {
			list[i] = fmt.Sprintf(part.one, i)
		}
		all[fmt.Sprint(many, " ", name)] = part.before + strings.Join(list, ",") + part.after
	}
	for _, text := range texts {
		all[text] = fmt.Sprintf(text, strings.Repeat("v", long))
	}
	return all
}

// TestWeightOfAll measures what pods of a template with a thousand of something, or a long text, take, each its own memory. A plain pod takes
// 2 to 3 KB, and these take no more than twice that for each pod that they count as.
func TestWeightOfAll(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory")
	}
	const pods, most = 100, 6 << 10
	all := templates()
	for kind, spec := range map[string]string{
		"Deployment": `"replicas":100,`, "StatefulSet": `"replicas":100,`, "DaemonSet": "", "Job": `"completionMode":"Indexed","parallelism":100,"completions":100,`,
	} {
		for name, template := range all {
			o, err := api.Decode(fmt.Appendf(nil, `{"kind":%q,"metadata":{"name":"d","namespace":"x"},"spec":{%s"template":{%s}}}`, kind, spec, template))
			if err != nil {
				t.Fatal(name, err)
			}
			for i := range pods {
				o.Nodes = append(o.Nodes, api.MakeNode(fmt.Sprint("n", i), "64", "64Gi").Obj())
			}
			before := heap()
			kept := place(t, o)
			each := int(heap()-before) / pods
			runtime.KeepAlive(kept)
			if weight := workload.WeightOf(workload.Of(o)[0].Template); each > most*weight || weight > 1000 {
				t.Errorf("%s with %s: a pod takes %d bytes, and counts as %d, want at most %d bytes for each", kind, name, each, weight, most)
			}
		}
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// place makes the pods of the workload, tries to place each, and returns all that is kept of them.
func place(t *testing.T, o *api.Objects) []any {
	w := workload.Of(o)[0]
	pods, err := w.Pods(o.Nodes)
	if err != nil {
		t.Fatal(err)
	}
	s, _, err := framework.SnapshotOf(&api.Objects{Nodes: o.Nodes}, framework.Arrival)
	if err != nil {
		t.Fatal(err)
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		t.Fatal(err)
	}
	kept := []any{pods, s, sched}
	for i, p := range pods {
		if w.NumberPod(p, i); w.Kind == "DaemonSet" {
			p.Name = fmt.Sprint("d-", i)
		}
		if err := api.DefaultPod(p, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := volumes.MakeClaims(s, p); err != nil {
			t.Fatal(err)
		}
		info, err := s.NewPodInfo(p)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, info)
		_, _ = sched.Place(s, info) // most fit nowhere
	}
	return kept
}
