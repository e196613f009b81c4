// Berth answers questions about a cluster from what kubectl prints: where pods go, why,
// why not, what would help, what if. It needs no cluster to ask.
//
//	kubectl get nodes,pods -A -o yaml | berth place
//	berth why-not -f cluster.yaml shop/web worker-3
//	berth drain -f cluster.yaml worker-3 -o html >drain.html
//
// "berth help" lists the questions, "berth help drain" explains one, with an example. The
// answers are those of kube-scheduler; package whatif and package simulate find them.
//
// # Input
//
// Files of -f, or standard input, hold what kubectl prints, as YAML or JSON: objects, lists
// of them, or several documents. Manifests and tables of the OpenB trace are read too.
// Workloads without pods (Deployment, Job and so on) stand for the pods that they would
// make. Text is read as it comes, so that a dump may be larger than the memory it takes.
// An error names the file, the line, the object, the field and the value. A field that
// looks misspelt is an error, too, unless -validate says otherwise.
//
// # Output
//
// A table for a terminal (-o table), data for programs (-o json, see JSON.md), or one HTML
// file with pictures (-o html) that fetches nothing and runs no script. Progress of long
// work goes to standard error. The exit status is 0 for yes, 1 for no, 2 if there is no
// answer; the help of a question says what yes means. Standard error says why there is
// none, and with -o json the field faults does, too.
//
// Under the name kubectl-berth it is a plugin of kubectl: "kubectl berth place".
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/berth-sched/berth/examples/internal/display"
)

// The exit statuses.
const (
	statusYes, statusNo, statusUnknown = 0, 1, 2
)

// gcPercent lets the collector run more often than usual, because a dump may be large.
const gcPercent = 50

func main() {
	debug.SetGCPercent(gcPercent)
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is main with its streams. args[0] is the name of the program.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	name := "berth"
	if strings.HasPrefix(filepath.Base(args[0]), "kubectl-") {
		name = "kubectl berth"
	}
	if len(args) < 2 {
		writeOverview(stderr, name)
		return statusUnknown
	}
	switch args[1] {
	case "help", "-h", "-help", "--help":
		return help(args[2:], name, stdout, stderr)
	case "completion":
		return completion(args[2:], name, stdout, stderr)
	}
	c := find(args[1])
	if c == nil {
		fmt.Fprintf(stderr, "%s: %q: no such question; %q lists them\n", name, args[1], name+" help")
		return statusUnknown
	}
	s := &session{name: name, stdin: stdin, stderr: stderr}
	yes, err := s.ask(c, args[2:], stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		c.writeHelp(stdout, name)
		return statusYes
	case err != nil:
		display.Fail(stderr, name+" "+c.name, err)
		if s.output == "json" {
			out := Output{Command: c.name, Faults: faultsOf(err)}
			if err := out.write(stdout); err != nil {
				return statusUnknown
			}
		}
		return c.failed(err)
	case yes:
		return statusYes
	}
	return statusNo
}

// ask answers the question and writes the answer.
func (s *session) ask(c *command, args []string, stdout io.Writer) (yes bool, err error) {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	s.addFlags(flags, c)
	question := c.question(flags)
	if s.args, err = parse(flags, args); err != nil {
		return false, err
	}
	if err := s.checkFlags(c); err != nil {
		return false, err
	}
	if s.output == "html" && !given(flags, "limit") {
		s.limit = 0
	}
	stop := s.watch(c.name)
	a, err := question(s)
	stop()
	if err != nil {
		return false, err
	}
	out := bufio.NewWriter(stdout)
	if err := s.write(out, c, a); err != nil {
		return false, err
	}
	return a.yes, out.Flush()
}

// given reports whether a flag was given.
func given(flags *flag.FlagSet, name string) (found bool) {
	flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

// parse reads flags and arguments in any order.
func parse(flags *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		if flags.NArg() == 0 {
			return rest, nil
		}
		if read := len(args) - flags.NArg(); read > 0 && args[read-1] == "--" {
			return append(rest, flags.Args()...), nil
		}
		rest = append(rest, flags.Arg(0))
		args = flags.Args()[1:]
	}
}
