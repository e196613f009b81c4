// Command compare plays random cases of load-aware scheduling with berth and with
// the real plugin of Koordinator, and counts the cases with different answers. With
// -family lownodeload it compares the descheduler's classes of nodes.
//
//	go run ./cmd/compare -seed 1 -cases 20000
//	go run ./cmd/compare -family lownodeload
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
	family := flag.String("family", "loadaware", "loadaware: filter and score; lownodeload: the descheduler's classes of nodes")
	short := flag.Bool("short", false, "play 1000 cases at most, of both families")
	flag.Parse()
	if *family != "loadaware" && *family != "lownodeload" {
		fmt.Fprintf(os.Stderr, "-family %s: want loadaware or lownodeload\n", *family)
		os.Exit(2)
	}
	if *short {
		*cases = min(*cases, 1000)
	}
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)

	mismatches, err := 0, error(nil)
	if *family == "loadaware" {
		err = koordinator.WithClock(func() { mismatches = koordinator.Compare(*seed, *cases, os.Stderr) })
	}
	if *family == "lownodeload" || *short {
		n, _ := koordinator.CompareUse(*seed, *cases, os.Stderr)
		mismatches += n
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%d cases, %d mismatches\n", *cases, mismatches)
	if mismatches > 0 {
		os.Exit(1)
	}
}
