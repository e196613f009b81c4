package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/berth-sched/berth/scheduling/config"
)

// A command is one question.
type command struct {
	name, args string
	// short says what is asked, yes what exit status 0 means.
	short, yes string
	// long is the help, example one or more command lines without "berth".
	long    string
	example []string
	// input is what the question reads.
	input inputKind
	// question adds the flags of its own and returns what finds the answer.
	question func(flags *flag.FlagSet) func(s *session) (*answer, error)
}

// An inputKind says what a question reads.
type inputKind int

const (
	readsCluster inputKind = iota
	readsTrace             // a trace; the flags of the rules stay
	readsConfig            // a configuration file alone
)

// commands returns all questions, in the order of the help.
func commands() []*command {
	return []*command{
		&placeCommand, &explainCommand, &whyNotCommand, &headroomCommand, &drainCommand, &nodesNeededCommand,
		&consolidateCommand, &compareCommand, &sweepCommand, &simulateCommand, &replayCommand, &configCommand,
	}
}

// find returns the question of that name, nil if there is none.
func find(name string) *command {
	list := commands()
	i := slices.IndexFunc(list, func(c *command) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	return list[i]
}

// failed returns the exit status for an error: a configuration with faults is an answer.
func (c *command) failed(err error) int {
	var faults *config.Error
	if c.input == readsConfig && errors.As(err, &faults) {
		return statusNo
	}
	return statusUnknown
}

// flagsOf returns all flags of a question.
func (c *command) flagsOf() *flag.FlagSet {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	new(session).addFlags(flags, c)
	c.question(flags)
	return flags
}

// writeOverview lists the questions.
func writeOverview(w io.Writer, name string) {
	fmt.Fprintf(w, "Ask kube-scheduler about a cluster, from what kubectl prints.\n\n  %s QUESTION [-f FILE]... [FLAGS] [ARGUMENTS]\n\n", name)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(t, "  %s\t%s\n", c.name, c.short)
	}
	fmt.Fprintf(t, "  completion\tcompletion for bash, zsh or fish\n")
	t.Flush() // the writer of a terminal; there is nobody to tell
	fmt.Fprintf(w, "\n  kubectl get nodes,pods -A -o yaml | %s place\n  %s place -sample\n\n\"%s help QUESTION\" explains one. Exit status: 0 yes, 1 no, 2 no answer.\n", name, name, name)
}

// writeHelp explains the question.
func (c *command) writeHelp(w io.Writer, name string) {
	fmt.Fprintf(w, "%s %s", name, c.name)
	if c.args != "" {
		fmt.Fprintf(w, " %s", c.args)
	}
	fmt.Fprintf(w, " [FLAGS]\n\n%s\n\nExit status 0: %s; 1: no; 2: no answer.\n\nExample:\n\n", strings.TrimSpace(c.long), c.yes)
	for _, line := range c.example {
		fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(line, "berth", name))
	}
	fmt.Fprint(w, "\nFlags:\n\n")
	flags := c.flagsOf()
	flags.SetOutput(w)
	flags.PrintDefaults()
}

// help writes the overview, or the help of a question.
func help(args []string, name string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		writeOverview(stdout, name)
		return statusYes
	}
	c := find(args[0])
	if c == nil {
		fmt.Fprintf(stderr, "%s: %q: no such question; %q lists them\n", name, args[0], name+" help")
		return statusUnknown
	}
	c.writeHelp(stdout, name)
	return statusYes
}
