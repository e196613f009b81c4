// Command compare runs random cases through berth and through Karmada v1.13.0
// and counts the differences. It exits with 1 if there are any.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"

	"k8s.io/klog/v2"

	"github.com/berth-sched/berth/internal/parity/karmada"
)

func main() {
	seed := flag.Uint64("seed", 1, "seed of the random cases")
	cases := flag.Uint64("cases", 20000, "number of cases")
	only := flag.Int64("case", -1, "run this case only")
	logs := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(logs)
	for name, value := range map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := logs.Set(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
	}
	klog.SetOutput(io.Discard)
	flag.Parse()

	run, faults := map[string]int{}, map[string]int{}
	mismatches := 0
	first, last := uint64(0), *cases
	if *only >= 0 {
		first, last = uint64(*only), uint64(*only)+1
	}
	for n := first; n < last; n++ {
		kind, o := karmada.Case(*seed, n)
		run[kind]++
		if o.Fault != "" {
			faults[kind+": "+o.Fault]++
		}
		if o.Mismatch != "" {
			if mismatches++; mismatches <= 5 {
				fmt.Printf("case %d, %s: %s\n\n", n, kind, o.Mismatch)
			}
		}
	}
	for _, kind := range sorted(run) {
		fmt.Printf("%-12s %d cases\n", kind, run[kind])
	}
	for _, fault := range sorted(faults) {
		fmt.Printf("fault of the original, %s: %d cases\n", fault, faults[fault])
	}
	fmt.Printf("%d cases, %d mismatches\n", last-first, mismatches)
	if mismatches > 0 {
		os.Exit(1)
	}
}

func sorted(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
