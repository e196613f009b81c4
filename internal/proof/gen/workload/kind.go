package workload

import (
	"fmt"
	"strings"
)

// Kind names a workload. It is also the value of the label "app" of its pods.
type Kind string

// The workloads. All pods have one container of 100m CPU and 500Mi of memory.
const (
	Basic            Kind = "basic"             // nothing else
	NodeAffinity     Kind = "nodeaffinity"      // must be in one of five of the ten zones
	SpreadHard       Kind = "spread-hard"       // zones within a skew of 5, or not at all
	SpreadSoft       Kind = "spread-soft"       // zones within a skew of 5 preferred
	PrefAffinity     Kind = "pref-affinity"     // prefers nodes with pods of its workload
	PrefAntiAffinity Kind = "pref-antiaffinity" // avoids nodes with pods of its workload
	ReqAntiAffinity  Kind = "req-antiaffinity"  // at most one pod of its group per node, 50 groups
	Mixed            Kind = "mixed"             // pod i is pod i of the workload above number i mod 7
)

// pure lists the workloads that Mixed cycles through, in that order.
var pure = [...]Kind{Basic, NodeAffinity, SpreadHard, SpreadSoft, PrefAffinity, PrefAntiAffinity, ReqAntiAffinity}

// Kinds returns all workloads in the order of the tables.
func Kinds() []Kind { return append(pure[:len(pure):len(pure)], Mixed) }

// Parse returns the workload with that name. An error lists the names.
func Parse(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if string(k) == name {
			return k, nil
		}
		names = append(names, string(k))
	}
	return "", fmt.Errorf("no workload %q: there are %s", name, strings.Join(names, ", "))
}
