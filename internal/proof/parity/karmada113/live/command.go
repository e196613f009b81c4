package live

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"

	"k8s.io/klog/v2"
)

// Quiet turns Karmada's log off.
func Quiet() {
	logs := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(logs)
	for name, value := range map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := logs.Set(name, value); err != nil {
			panic(err) // klog has these flags
		}
	}
	klog.SetOutput(io.Discard)
}

// Command is the command compare, with its arguments, for some kinds of cases. It
// prints the differences, how often each fault of Karmada occurred, and "N cases, M
// mismatches" last. It returns the exit code: 1 if anything differs.
func Command(kinds []Kind, args []string, w io.Writer) int {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.SetOutput(w)
	seed := flags.Uint64("seed", 1, "seed of the random cases")
	cases := flags.Uint64("cases", 20000, "number of cases")
	short := flags.Bool("short", false, "run 2000 cases at most")
	only := flags.Int64("case", -1, "run this case only")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	Quiet()
	first, last := uint64(0), *cases
	if *short {
		last = min(last, 2000)
	}
	if *only >= 0 {
		first, last = uint64(*only), uint64(*only)+1
	}
	run, faults := map[string]int{}, map[string]int{}
	mismatches := 0
	for n := first; n < last; n++ {
		kind, o := Case(kinds, *seed, n)
		run[kind]++
		if o.Fault != "" {
			faults[kind+": "+o.Fault]++
		}
		if o.Mismatch != "" {
			if mismatches++; mismatches <= 5 {
				fmt.Fprintf(w, "case %d, %s: %s\n\n", n, kind, o.Mismatch)
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(run)) {
		fmt.Fprintf(w, "%-12s %d cases\n", kind, run[kind])
	}
	for _, fault := range slices.Sorted(maps.Keys(faults)) {
		fmt.Fprintf(w, "fault of the original, %s: %d cases\n", fault, faults[fault])
	}
	fmt.Fprintf(w, "%d cases, %d mismatches\n", last-first, mismatches)
	if mismatches > 0 {
		return 1
	}
	return 0
}
