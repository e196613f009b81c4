package args_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/args"
)

// TestDefaults compares the JSON form of the defaults with what kube-scheduler
// 1.37 prints.
func TestDefaults(t *testing.T) {
	meta := func(plugin, rest string) string {
		return `{"kind":"` + plugin + `Args","apiVersion":"kubescheduler.config.k8s.io/v1"` + rest + `}`
	}
	want := map[string]string{
		"DefaultPreemption":               meta("DefaultPreemption", `,"minCandidateNodesPercentage":10,"minCandidateNodesAbsolute":100`),
		"DynamicResources":                meta("DynamicResources", `,"filterTimeout":"10s","bindingTimeout":"10m0s"`),
		"InterPodAffinity":                meta("InterPodAffinity", `,"hardPodAffinityWeight":1,"ignorePreferredTermsOfExistingPods":false`),
		"NodeAffinity":                    meta("NodeAffinity", ``),
		"NodeResourcesBalancedAllocation": meta("NodeResourcesBalancedAllocation", `,"resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]`),
		"NodeResourcesFit":                meta("NodeResourcesFit", `,"scoringStrategy":{"type":"LeastAllocated","resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]}`),
		"PodTopologySpread":               meta("PodTopologySpread", `,"defaultingType":"System"`),
		"VolumeBinding":                   meta("VolumeBinding", `,"bindTimeoutSeconds":600,"shape":[{"utilization":0,"score":10},{"utilization":100,"score":0}]`),
	}
	constructed := map[string]any{
		"DefaultPreemption":               args.NewDefaultPreemption(),
		"DynamicResources":                args.NewDynamicResources(),
		"InterPodAffinity":                args.NewInterPodAffinity(),
		"NodeAffinity":                    args.NewNodeAffinity(),
		"NodeResourcesBalancedAllocation": args.NewNodeResourcesBalancedAllocation(),
		"NodeResourcesFit":                args.NewNodeResourcesFit(),
		"PodTopologySpread":               args.NewPodTopologySpread(),
		"VolumeBinding":                   args.NewVolumeBinding(),
	}
	decoders := args.InTree()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(decoders))); diff != "" {
		t.Errorf("InTree (-want +got):\n%s", diff)
	}
	for name, decode := range decoders {
		for _, raw := range []string{"", "null", "{}", `{"kind": "` + name + `Args"}`} {
			a, errs := decode([]byte(raw))
			if errs != nil {
				t.Errorf("%s from %q: %v", name, raw, errs)
			}
			if diff := cmp.Diff(constructed[name], a); diff != "" {
				t.Errorf("%s from %q (-constructed +decoded):\n%s", name, raw, diff)
			}
			text, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want[name], string(text)); diff != "" {
				t.Errorf("%s from %q (-want +got):\n%s", name, raw, diff)
			}
			if errs := a.(args.Validator).Validate(""); errs != nil {
				t.Errorf("the defaults of %s: %v", name, errs)
			}
		}
	}
}

// TestCompletion checks the result of decoding partial arguments.
func TestCompletion(t *testing.T) {
	tests := []struct{ plugin, raw, want string }{ // want: fields besides kind and apiVersion
		{"NodeResourcesFit", `{"scoringStrategy": {}}`, `"scoringStrategy":{"resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]}`},
		{"NodeResourcesFit", `{"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu"}, {"name": "x/y", "weight": 3}]}}`, `"scoringStrategy":{"type":"MostAllocated","resources":[{"name":"cpu","weight":1},{"name":"x/y","weight":3}]}`},
		{"NodeResourcesFit", `{"scoringStrategy": null, "ignoredResources": ["a"]}`, `"ignoredResources":["a"],"scoringStrategy":{"type":"LeastAllocated","resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]}`},
		{"NodeResourcesBalancedAllocation", `{"resources": [{"name": "x/y", "weight": 0}]}`, `"resources":[{"name":"x/y","weight":1}]`},
		{"NodeResourcesBalancedAllocation", `{"resources": []}`, `"resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]`},
		{"DefaultPreemption", `{"minCandidateNodesPercentage": 0}`, `"minCandidateNodesPercentage":0,"minCandidateNodesAbsolute":100`},
		{"DefaultPreemption", `{"minCandidateNodesPercentage": null}`, `"minCandidateNodesPercentage":10,"minCandidateNodesAbsolute":100`},
		{"InterPodAffinity", `{"hardPodAffinityWeight": 0}`, `"hardPodAffinityWeight":0,"ignorePreferredTermsOfExistingPods":false`},
		{"DynamicResources", `{"filterTimeout": "0s", "bindingTimeout": null}`, `"filterTimeout":"0s","bindingTimeout":"10m0s"`},
		{"VolumeBinding", `{"bindTimeoutSeconds": 0, "shape": []}`, `"bindTimeoutSeconds":0,"shape":[{"utilization":0,"score":10},{"utilization":100,"score":0}]`},
		{"PodTopologySpread", `{"defaultingType": ""}`, `"defaultingType":"System"`},
	}
	for _, tt := range tests {
		a, errs := args.InTree()[tt.plugin]([]byte(tt.raw))
		if errs != nil {
			t.Errorf("%s from %s: %v", tt.plugin, tt.raw, errs)
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(strings.TrimSuffix(string(text), "}"), `/v1",`)
		if got != tt.want {
			t.Errorf("%s from %s:\n got %s\nwant %s", tt.plugin, tt.raw, got, tt.want)
		}
	}
	a, errs := args.DecodeVolumeBindingUnscored(nil)
	if diff := cmp.Diff(&args.VolumeBinding{TypeMeta: api.TypeMeta{Kind: "VolumeBindingArgs", APIVersion: args.APIVersion}, BindTimeoutSeconds: 600}, a); diff != "" || errs != nil {
		t.Errorf("without storage scoring: %v (-want +got):\n%s", errs, diff)
	}
	b, errs := args.DecodePodTopologySpreadListed([]byte(`{"defaultConstraints": []}`))
	if got := b.(*args.PodTopologySpread).DefaultingType; got != args.ListDefaulting || errs != nil {
		t.Errorf("defaulting of 1.18 is %q, %v, want List", got, errs)
	}
}

const (
	badName  = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	badValue = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)

// TestValidate has a case for each rule; the messages are upstream's.
func TestValidate(t *testing.T) {
	tests := []struct {
		plugin, raw string
		want        []string
	}{
		{"DefaultPreemption", `{"minCandidateNodesPercentage": 101, "minCandidateNodesAbsolute": -1}`, []string{
			"minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]",
			"minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)",
		}},
		{"DefaultPreemption", `{"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0}`, []string{
			"minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute",
			"minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage",
		}},
		{"InterPodAffinity", `{"hardPodAffinityWeight": -1}`, []string{"hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100]"}},
		{"NodeResourcesBalancedAllocation", `{"resources": [{"name": "cpu", "weight": 2}, {"name": "cpu"}]}`, []string{
			"resources[0].weight: Invalid value: 2: must be 1", `resources[1].name: Duplicate value: "cpu"`,
		}},
		{"DynamicResources", `{"filterTimeout": "-1s", "bindingTimeout": "999ms"}`, []string{
			`filterTimeout: Invalid value: "-1s": must be zero or positive`, `bindingTimeout: Invalid value: "999ms": must be at least 1 second`,
		}},
		{"VolumeBinding", `{"bindTimeoutSeconds": -1, "shape": [{"utilization": 10, "score": 0}, {"utilization": 5, "score": 11}]}`, []string{
			"bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value",
			"shape[1].utilization: Invalid value: 5: values must be sorted in increasing order",
			"shape[1].score: Invalid value: 11: not in valid range [0, 10]",
		}},
		{"NodeResourcesFit", `{"ignoredResources": ["bad name", "/x"], "ignoredResourceGroups": ["a/b", ""]}`, []string{
			`ignoredResources[0]: Invalid value: "bad name": ` + badName,
			`ignoredResources[1]: Invalid value: "/x": prefix part must be non-empty`,
			`ignoredResourceGroups[0]: Invalid value: "a/b": resource group name can't contain '/'`,
			`ignoredResourceGroups[1]: Invalid value: "": name part must be non-empty`,
			`ignoredResourceGroups[1]: Invalid value: "": ` + badName,
		}},
		{"NodeResourcesFit", `{"scoringStrategy": {"type": "X", "resources": [{"name": "cpu", "weight": 101}]}}`, []string{
			`scoringStrategy.type: Unsupported value: "X": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"`,
			`scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of cpu not in valid range (0, 100]`,
		}},
		{"NodeResourcesFit", `{"scoringStrategy": {"type": "RequestedToCapacityRatio"}}`, []string{
			"scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is RequestedToCapacityRatio",
		}},
		{"NodeResourcesFit", `{"scoringStrategy": {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {}}}`, []string{
			"scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must be specified",
		}},
		{"NodeResourcesFit", `{"scoringStrategy": {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": [{"utilization": -1}, {"utilization": -1}, {"utilization": -5}, {"utilization": 101}]}}}`, []string{
			"scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: -1: values must be sorted in increasing order",
			"scoringStrategy.requestedToCapacityRatio.shape[0].utilization: Invalid value: -1: not in valid range [0, 100]",
			"scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: -1: not in valid range [0, 100]",
			"scoringStrategy.requestedToCapacityRatio.shape[2].utilization: Invalid value: -5: not in valid range [0, 100]",
			"scoringStrategy.requestedToCapacityRatio.shape[3].utilization: Invalid value: 101: not in valid range [0, 100]",
		}},
		{"NodeResourcesFit", `{"scoringStrategy": {"type": "LeastAllocated", "requestedToCapacityRatio": {}}}`, []string{
			"scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio",
		}},
		{"PodTopologySpread", `{"defaultingType": "X"}`, []string{`defaultingType: Unsupported value: "X": supported values: "System", "List"`}},
		{"PodTopologySpread", `{"defaultConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]}`, []string{
			`defaultingType: Invalid value: "System": when .defaultConstraints are not empty`,
		}},
		{"PodTopologySpread", `{"defaultingType": "List", "defaultConstraints": [
			{}, {"maxSkew": -1, "topologyKey": "a b", "whenUnsatisfiable": "X"},
			{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}, "minDomains": -4},
			{"maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]}`, []string{
			"defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
			"defaultConstraints[0].topologyKey: Required value: can not be empty",
			"defaultConstraints[0].whenUnsatisfiable: Required value: can not be empty",
			"defaultConstraints[1].maxSkew: Invalid value: -1: not in valid range (0, inf)",
			`defaultConstraints[1].topologyKey: Invalid value: "a b": ` + badName,
			`defaultConstraints[1].whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"`,
			"defaultConstraints[2].labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod",
			`defaultConstraints[3]: Duplicate value: "{zone, DoNotSchedule}"`,
		}},
		{"NodeAffinity", `{"addedAffinity": {
			"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{}, {"matchExpressions": [
				{"key": "zone", "operator": "In"}, {"key": "b d", "operator": "Exists", "values": ["x"]},
				{"key": "n", "operator": "Gt", "values": ["1", "x y"]}, {"key": "n", "operator": "Nope"}]}]},
			"preferredDuringSchedulingIgnoredDuringExecution": [
				{"weight": 0, "preference": {"matchFields": [{"key": "x", "operator": "Nope"}]}},
				{"weight": 1, "preference": {"matchFields": [{"key": "x", "operator": "In", "values": ["a", "b"]}, {"key": "x", "operator": "Exists"}]}}]}}`, []string{
			"addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
			`addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[1].key: Invalid value: "b d": ` + badName,
			`addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[1].values: Invalid value: ["x"]: values set must be empty for exists and does not exist`,
			`addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[2].values: Invalid value: ["1","x y"]: for 'Gt', 'Lt' operators, exactly one value is required`,
			`addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[2].values[1]: Invalid value: "x y": for 'Gt', 'Lt' operators, the value must be an integer`,
			`addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[2].values[1][n]: Invalid value: "x y": ` + badValue,
			`addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[1].matchExpressions[3].operator: Unsupported value: "Nope": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"`,
			`addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].matchFields[0].values: Invalid value: ["a","b"]: must have one element`,
			`addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[1].matchFields[1].operator: Unsupported value: "Exists": supported values: "In", "NotIn"`,
		}},
	}
	for _, tt := range tests {
		a, errs := args.InTree()[tt.plugin]([]byte(tt.raw))
		if errs != nil {
			t.Errorf("%s: %v", tt.plugin, errs)
			continue
		}
		for _, path := range []string{"", "args"} {
			var got []string
			for _, e := range a.(args.Validator).Validate(path) {
				got = append(got, strings.TrimPrefix(e.Error(), path+"."))
			}
			if path == "" {
				got = nil
				for _, e := range a.(args.Validator).Validate(path) {
					got = append(got, e.Error())
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s %s below %q (-want +got):\n%s", tt.plugin, tt.raw, path, diff)
			}
		}
	}
	if got := (&args.NodeResourcesFit{}).Validate("")[0].Error(); got != "scoringStrategy: Required value: ScoringStrategy field is required" {
		t.Errorf("no strategy: %s", got)
	}
}

// TestStrict checks that unknown fields are also found in nested objects.
func TestStrict(t *testing.T) {
	tests := map[string]string{
		"NodeAffinity":      `{"addedAffinity": {"preferred": []}}`,
		"PodTopologySpread": `{"defaultConstraints": [{"maxskew": 1}]}`,
		"NodeResourcesFit":  `{"scoringStrategy": {"resources": [{"Name": "cpu"}]}}`,
	}
	want := map[string]string{
		"NodeAffinity":      `unknown field "addedAffinity.preferred"`,
		"PodTopologySpread": `unknown field "defaultConstraints[0].maxskew"`,
		"NodeResourcesFit":  `unknown field "scoringStrategy.resources[0].Name"`,
	}
	for plugin, raw := range tests {
		_, errs := args.InTree()[plugin]([]byte(raw))
		if len(errs) != 1 || errs[0].Error() != want[plugin] {
			t.Errorf("%s from %s: %v, want %s", plugin, raw, errs, want[plugin])
		}
	}
}

func TestJoin(t *testing.T) {
	a, b := args.Required("x", ""), args.Invalid("y", int32(1), "must be 2")
	for _, tt := range []struct {
		errs []args.FieldError
		want string
	}{
		{[]args.FieldError{a}, "x: Required value"},
		{[]args.FieldError{a, b, a}, "[x: Required value, y: Invalid value: 1: must be 2]"},
		{[]args.FieldError{a, a}, "x: Required value"},
	} {
		err := args.Join(tt.errs)
		if err.Error() != tt.want {
			t.Errorf("Join(%v) = %v, want %s", tt.errs, err, tt.want)
		}
		var e args.FieldError
		if !errors.As(err, &e) || e.Field != "x" {
			t.Errorf("Join(%v) does not unwrap", tt.errs)
		}
	}
	if args.Join(nil) != nil {
		t.Error("Join(nil) is an error")
	}
}

func TestFieldErrorText(t *testing.T) {
	for _, tt := range []struct {
		err  args.FieldError
		want string
	}{
		{args.Invalid("a", "x\n", "d"), `a: Invalid value: "x\n": d`},
		{args.Invalid("", 5, ""), "Invalid value: 5"},
		{args.Invalid("a", api.Duration{Duration: time.Second}, "d"), `a: Invalid value: "1s": d`},
		{args.Invalid("a", func() {}, "d"), "a: Invalid value: (func())(0x"},
		{args.Forbidden("a", "d"), "a: Forbidden: d"},
		{args.Duplicate("a", []string(nil)), "a: Duplicate value: null"},
		{args.NotSupported("a", "x", []string{"y", "z"}), `a: Unsupported value: "x": supported values: "y", "z"`},
	} {
		if got := tt.err.Error(); !strings.HasPrefix(got, tt.want) {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestQualifiedName(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	const badDNS = "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
	tests := map[string][]string{
		"cpu":                  nil,
		"example.com/My_name":  nil,
		"a.b-c/1":              nil,
		long(63):               nil,
		long(253) + "/x":       nil,
		"":                     {"name part must be non-empty", badName},
		"-x":                   {badName},
		"x.":                   {badName},
		"é":                    {badName},
		long(64):               {"name part must be no more than 63 bytes"},
		"/x":                   {"prefix part must be non-empty"},
		"x/":                   {"name part must be non-empty", badName},
		"A.com/x":              {badDNS},
		"a..b/x":               {badDNS},
		"-a/x":                 {badDNS},
		long(254) + "/x":       {"prefix part must be no more than 253 bytes"},
		"a/b/c":                {"a valid label key " + strings.TrimPrefix(badName, "name part ") + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
		strings.Repeat("/", 5): {"a valid label key " + strings.TrimPrefix(badName, "name part ") + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"},
	}
	for name, want := range tests {
		if diff := cmp.Diff(want, args.QualifiedName(name)); diff != "" {
			t.Errorf("QualifiedName(%.20q) (-want +got):\n%s", name, diff)
		}
	}
}
