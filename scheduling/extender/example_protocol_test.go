package extender_test

import (
	"encoding/json"
	"fmt"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/extender"
)

// show prints the transmitted text.
func show(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(data))
}

// A custom server decodes Args and answers with a FilterResult or a list of
// HostPriority. This client sends names only.
func ExampleArgs() {
	var args extender.Args
	if err := json.Unmarshal([]byte(`{"Pod": {"metadata": {"name": "web"}}, "NodeNames": ["a", "b"]}`), &args); err != nil {
		fmt.Println(err)
		return
	}
	fits := (*args.NodeNames)[:1]
	show(extender.FilterResult{NodeNames: &fits, FailedNodes: map[string]string{"b": "no driver"}})
	show([]extender.HostPriority{{Host: "a", Score: extender.MaxPriority}})
	// Output:
	// {"Nodes":null,"NodeNames":["a"],"FailedNodes":{"b":"no driver"},"FailedAndUnresolvableNodes":null,"Error":""}
	// [{"Host":"a","Score":10}]
}

// A client that is not nodeCacheCapable sends whole nodes. The server returns them
// unchanged, including unknown fields.
func ExampleNodeList() {
	var args extender.Args
	text := `{"Nodes": {"items": [{"metadata": {"name": "a"}, "status": {"phase": "Old"}}, {"metadata": {"name": "b"}}]}}`
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		fmt.Println(err)
		return
	}
	fits := extender.NodeList{}
	for _, n := range args.Nodes.Items {
		if n.Name == "a" {
			fits.Items = append(fits.Items, n)
		}
	}
	show(fits)
	// Output: {"items":[{"metadata":{"name":"a"},"status":{"phase":"Old"}}]}
}

// NodeOf converts a node of a snapshot to one to send.
func ExampleNode() {
	var n extender.Node
	n, err := extender.NodeOf(&api.Node{ObjectMeta: api.ObjectMeta{Name: "a"}})
	fmt.Println(n.Name, err)
	show(n)
	// Output:
	// a <nil>
	// {"metadata":{"name":"a"}}
}

func ExampleBindingArgs() {
	var args extender.BindingArgs
	text := `{"PodName": "web", "PodNamespace": "shop", "PodUID": "u-1", "Node": "a"}`
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(args.PodNamespace+"/"+args.PodName, "to", args.Node)
	show(extender.BindingResult{Error: "the driver is busy"})
	// Output:
	// shop/web to a
	// {"Error":"the driver is busy"}
}

// A server that cannot lose one of the victims drops the node from the list.
func ExamplePreemptionArgs() {
	args := extender.PreemptionArgs{
		Pod: api.MakePod("web").Priority(100).Obj(),
		NodeNameToVictims: map[string]*extender.Victims{
			"a": {Pods: []*api.Pod{api.MakePod("batch").UID("u-1").Obj()}},
			"b": {Pods: []*api.Pod{api.MakePod("db").UID("u-2").Obj()}, NumPDBViolations: 1},
		},
	}
	result := extender.PreemptionResult{NodeNameToMetaVictims: map[string]*extender.MetaVictims{}}
	for node, victims := range args.NodeNameToVictims {
		if victims.NumPDBViolations > 0 {
			continue
		}
		kept := &extender.MetaVictims{}
		for _, p := range victims.Pods {
			kept.Pods = append(kept.Pods, &extender.MetaPod{UID: p.UID})
		}
		result.NodeNameToMetaVictims[node] = kept
	}
	show(result)
	// Output: {"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"u-1"}],"NumPDBViolations":0}}}
}
