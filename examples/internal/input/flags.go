package input

import (
	"flag"
	"fmt"
	"io"
)

// Flags are the flags that the examples share.
type Flags struct {
	// Nodes and Pods are file names, "" if not given.
	Nodes, Pods string
	// JSON asks for JSON output in place of a table.
	JSON bool
}

// Parse adds -nodes, -pods and -o to the flags of a program and parses args, which
// must hold nothing else. If args ask for help, Parse writes it to stderr and
// returns [flag.ErrHelp]. Every other error is one line.
func (f *Flags) Parse(flags *flag.FlagSet, args []string, stderr io.Writer) error {
	flags.StringVar(&f.Nodes, "nodes", "", "`file` with nodes: JSON or YAML, or the node table of the OpenB trace")
	flags.StringVar(&f.Pods, "pods", "", "`file` with pods or workloads: JSON or YAML, or the pod table of the OpenB trace")
	format := flags.String("o", "table", "`format` of the output: table or json")
	flags.SetOutput(io.Discard)
	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp {
			flags.SetOutput(stderr)
			flags.Usage()
		}
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q: name files with -nodes and -pods", flags.Arg(0))
	}
	if f.JSON = *format == "json"; !f.JSON && *format != "table" {
		return fmt.Errorf("-o: %q: want table or json", *format)
	}
	return nil
}
