// Explain reads a small cluster in YAML and says why one pod goes to its node, and why
// another fits nowhere: every score of every node, every filter that rejects one, and what
// would have to change.
//
//	go run ./examples/explain
//
// "berth explain" and "berth why-not" do this for the output of kubectl, see
// examples/berth.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"os"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/config"
	"github.com/berth-sched/berth/scheduling/whatif"
)

//go:embed cluster.yaml
var text []byte

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "explain:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	documents, err := config.YAMLToJSON(text)
	if err != nil {
		return err
	}
	objects, err := api.Decode(bytes.Join(documents, []byte("\n")))
	if err != nil {
		return err
	}
	if err := objects.Default(); err != nil { // what the API server would fill in
		return err
	}
	snapshot, pending, err := framework.SnapshotOf(objects, framework.ZoneInterleaved)
	if err != nil {
		return err
	}
	sched, err := scheduling.New(scheduling.Kubernetes137())
	if err != nil {
		return err
	}
	plan, err := whatif.New(scheduling.Kubernetes137(), snapshot)
	if err != nil {
		return err
	}
	for _, pod := range pending {
		if err := sched.ExplainAll(snapshot, pod).WriteTable(w, 0); err != nil {
			return err
		}
		why, err := plan.WhyNot(pod, "gpu-b")
		if err != nil {
			return err
		}
		fmt.Fprintln(w, "\nWhy not gpu-b?")
		if err := why.WriteTable(w); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	return nil
}
