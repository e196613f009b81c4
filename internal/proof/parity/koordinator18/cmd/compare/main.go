// Command compare plays random cases of load-aware scheduling with berth and with
// the real plugin of Koordinator, and counts the cases with different answers.
//
//	go run ./cmd/compare -seed 1 -cases 20000
//	go run ./cmd/compare -short
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"k8s.io/klog/v2"

	"github.com/berth-sched/berth/internal/proof/parity/koordinator18"
)

func main() {
	seed := flag.Uint64("seed", 1, "what the cases are made from")
	cases := flag.Int("cases", 20000, "how many cases to play")
	short := flag.Bool("short", false, "play 1000 cases at most")
	flag.Parse()
	if *short {
		*cases = min(*cases, 1000)
	}
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)

	mismatches := 0
	err := koordinator.WithClock(func() { mismatches = koordinator.Compare(*seed, *cases, os.Stderr) })
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d cases, %d mismatches\n", *cases, mismatches)
	if mismatches > 0 {
		os.Exit(1)
	}
}
