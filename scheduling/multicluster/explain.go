package multicluster

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/berth-sched/berth/estimator/capacity"
)

// An Explanation says, as data, why a workload goes to its clusters, or to none. Its
// JSON form is stable.
type Explanation struct {
	Workload string `json:"workload"`
	Replicas int64  `json:"replicas"`
	// Targets and Affinity are the decision. If there is none, Error is the text of
	// the error.
	Targets  []Target `json:"targets,omitempty"`
	Affinity string   `json:"affinity,omitempty"`
	Error    string   `json:"error,omitempty"`
	// Clusters holds every cluster, by name.
	Clusters []ClusterExplanation `json:"clusters"`
	// Selection says which of the feasible clusters were chosen. If several
	// affinities were tried, Selection and Division belong to the last one. They are
	// nil if the decision did not get so far.
	Selection *Selection `json:"selection,omitempty"`
	// Division says how the replicas were divided.
	Division *Division `json:"division,omitempty"`
}

// A ClusterExplanation is one cluster's part of an Explanation.
type ClusterExplanation struct {
	Cluster  string `json:"cluster"`
	Feasible bool   `json:"feasible"`
	// Plugin names the filter that rejected the cluster, and Reasons say why.
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// Tier is the overflow tier of the cluster, 0 if the affinity itself selects it.
	Tier int `json:"tier,omitempty"`
	// Scores holds the scores by plugin, and Score is their sum.
	Scores []PluginScore `json:"scores,omitempty"`
	Score  int64         `json:"score"`
	// Available is how many more replicas the cluster can take. AvailableBy names
	// the estimator that gave the number, "" if none has an opinion. Estimates says
	// why.
	Available   int64                    `json:"available"`
	AvailableBy string                   `json:"availableBy,omitempty"`
	Estimates   []capacity.ClusterReport `json:"estimates,omitempty"`
	// EstimateError is the text of the errors of estimators that failed.
	EstimateError string `json:"estimateError,omitempty"`
}

// A PluginScore is the score that one scorer gave.
type PluginScore struct {
	Plugin string `json:"plugin"`
	Score  int64  `json:"score"`
}

// write writes how the division was made, tier by tier if there are tiers.
func (d *Division) write(w io.Writer) error {
	for i := range d.Tiers {
		if _, err := fmt.Fprintf(w, "tier %d, ", d.Tiers[i].Tier); err != nil {
			return err
		}
		if err := d.Tiers[i].write(w); err != nil {
			return err
		}
	}
	if len(d.Tiers) > 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s: %d divided by %d weights\n", d.Step, d.Divided, len(d.Weights))
	return err
}

func (x *Explanation) find(cluster string) *ClusterExplanation {
	for i := range x.Clusters {
		if x.Clusters[i].Cluster == cluster {
			return &x.Clusters[i]
		}
	}
	return nil
}

// WriteTable writes the explanation for people: one line for each cluster, then the
// exchanges of clusters and the division.
func (x *Explanation) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CLUSTER\tSCORE\tAVAILABLE\tREPLICAS\tREASON")
	placed := byCluster(x.Targets)
	chosen := map[string]bool{}
	if x.Selection != nil {
		for _, name := range x.Selection.Clusters {
			chosen[name] = true
		}
	}
	for _, c := range x.Clusters {
		if !c.Feasible {
			fmt.Fprintf(t, "%s\t-\t-\t-\t%s\n", c.Cluster, strings.Join(c.Reasons, ", "))
			continue
		}
		reason := "not chosen"
		if chosen[c.Cluster] {
			reason = "chosen"
		}
		if len(c.Estimates) > 0 && c.Estimates[0].Limit != "" {
			reason += ", limited by " + string(c.Estimates[0].Limit)
		}
		if c.EstimateError != "" {
			reason += ", " + c.EstimateError
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%s\n", c.Cluster, c.Score, c.Available, placed[c.Cluster], reason)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if x.Selection != nil {
		for _, s := range x.Selection.Swaps {
			if _, err := fmt.Fprintf(w, "%s made room for %s\n", s.Out, s.In); err != nil {
				return err
			}
		}
	}
	if x.Division != nil {
		if err := x.Division.write(w); err != nil {
			return err
		}
	}
	if x.Error != "" {
		_, err := fmt.Fprintln(w, x.Error)
		return err
	}
	return nil
}
