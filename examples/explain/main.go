// Explain says why a pod goes to its node, or to none. For every node it prints the
// plugin that rejects it and the reason, or each plugin's score, the total and the
// rank.
//
//	go run ./examples/explain
//	go run ./examples/explain -nodes nodes.json -pods pods.json -pod shop/api
//	go run ./examples/explain -nodes cluster.yaml -pod shop/api -o json
//
// Without files it explains the two pending pods of cluster.yaml. If the pod already
// runs, Explain first takes it off its node and then decides again.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/berth-sched/berth/examples/internal/input"
	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
)

//go:embed cluster.yaml
var small []byte

// limit bounds the nodes in a table; JSON lists them all.
const limit = 30

func main() {
	switch err := run(os.Args[1:], os.Stdout, os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "explain:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("explain", flag.ContinueOnError)
	name := flags.String("pod", "", "the pod to explain, as `namespace/name`; without files by default every pod that waits")
	var shared input.Flags
	if err := shared.Parse(flags, args, stderr); err != nil {
		return err
	}

	cluster := &input.Cluster{}
	var err error
	if shared.Nodes == "" && shared.Pods == "" {
		err = cluster.Add("cluster.yaml", small)
	} else if cluster, err = input.Load(shared.Nodes, shared.Pods); err == nil && *name == "" {
		err = errors.New("-pod: name the pod to explain")
	}
	if err != nil {
		return err
	}
	cluster.Warn(stderr)
	snap, pending, err := cluster.Snapshot()
	if err != nil {
		return err
	}
	if *name != "" {
		pod, err := find(snap, pending, *name)
		if err != nil {
			return err
		}
		pending = []*framework.PodInfo{pod}
	}
	s, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		return err
	}
	for i, pod := range pending {
		if i > 0 {
			fmt.Fprintln(stdout)
		}
		if err := write(stdout, s.Explain(snap, pod), shared.JSON); err != nil {
			return err
		}
	}
	return nil
}

// find returns the pod with that name, ready to be placed. If it runs, find takes it
// off its node.
func find(snap *framework.Snapshot, pending []*framework.PodInfo, name string) (*framework.PodInfo, error) {
	if !strings.Contains(name, "/") {
		name = "default/" + name
	}
	for _, pod := range pending {
		if pod.Pod.Key() == name {
			return pod, nil
		}
	}
	for _, node := range snap.All() {
		for _, pod := range node.Pods {
			if pod.Pod.Key() == name {
				if err := snap.RemovePod(pod, node.Name()); err != nil {
					return nil, err
				}
				free := api.Clone(pod.Pod)
				free.Spec.NodeName, free.Status = "", api.PodStatus{}
				return snap.NewPodInfo(free)
			}
		}
	}
	return nil, fmt.Errorf("-pod: %q: no such pod waits or runs", name)
}

func write(w io.Writer, e *scheduling.Explanation, asJSON bool) error {
	if !asJSON {
		return e.WriteTable(w, limit)
	}
	j := json.NewEncoder(w)
	j.SetEscapeHTML(false)
	j.SetIndent("", "  ")
	return j.Encode(e)
}
