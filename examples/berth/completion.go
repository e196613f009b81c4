package main

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// completion writes a script for a shell.
func completion(args []string, name string, stdout, stderr io.Writer) int {
	shells := map[string]func(io.Writer){"bash": bash, "zsh": zsh, "fish": fish}
	if len(args) == 1 && shells[args[0]] != nil {
		shells[args[0]](stdout)
		return statusYes
	}
	fmt.Fprintf(stderr, "%s completion: name one shell: bash, zsh or fish; for example\n  source <(%s completion bash)\n", name, name)
	return statusUnknown
}

// words returns the names of all questions, and of what else comes first.
func words() string {
	list := []string{"help", "completion"}
	for _, c := range commands() {
		list = append(list, c.name)
	}
	return strings.Join(list, " ")
}

// eachFlag calls f for the flags of a question, sorted by name.
func eachFlag(c *command, f func(x *flag.Flag)) { c.flagsOf().VisitAll(f) }

func bash(w io.Writer) {
	fmt.Fprintf(w, "# source <(berth completion bash)\n_berth() {\n  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n  COMPREPLY=()\n")
	fmt.Fprintf(w, "  if ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W '%s' -- \"$word\")); return; fi\n", words())
	fmt.Fprint(w, "  case $before in\n")
	for _, v := range flagValues {
		fmt.Fprintf(w, "  -%s) COMPREPLY=($(compgen -W '%s' -- \"$word\")); return ;;\n", v.flag, v.values)
	}
	fmt.Fprint(w, "  esac\n  if [[ $word != -* ]]; then COMPREPLY=($(compgen -f -- \"$word\")); return; fi\n  case ${COMP_WORDS[1]} in\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %s) COMPREPLY=($(compgen -W '", c.name)
		eachFlag(c, func(x *flag.Flag) { fmt.Fprintf(w, "-%s ", x.Name) })
		fmt.Fprint(w, "' -- \"$word\")) ;;\n")
	}
	fmt.Fprint(w, "  help) COMPREPLY=() ;;\n  esac\n}\ncomplete -o filenames -F _berth berth kubectl-berth\n")
}

func zsh(w io.Writer) {
	fmt.Fprint(w, "#compdef berth kubectl-berth\n# source <(berth completion zsh)\n_berth() {\n  local -a questions\n  questions=(\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "    '%s:%s'\n", c.name, strings.ReplaceAll(c.short, "'", ""))
	}
	fmt.Fprint(w, "    'help:explain a question'\n    'completion:completion for a shell'\n  )\n  if ((CURRENT == 2)); then _describe question questions; return; fi\n  case ${words[2]} in\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %s) _arguments", c.name)
		eachFlag(c, func(x *flag.Flag) {
			_, usage := flag.UnquoteUsage(x)
			usage, _, _ = strings.Cut(strings.NewReplacer("'", "", "[", "(", "]", ")", ":", " ").Replace(usage), "\n")
			fmt.Fprintf(w, " \\\n    '-%s[%s]%s'", x.Name, usage, zshValue(x))
		})
		fmt.Fprint(w, " \\\n    '*:file:_files' ;;\n")
	}
	fmt.Fprint(w, "  esac\n}\ncompdef _berth berth kubectl-berth 2>/dev/null\n")
}

// zshValue describes the value of a flag, nothing if it has none.
func zshValue(x *flag.Flag) string {
	if b, ok := x.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
		return ""
	}
	for _, v := range flagValues {
		if v.flag == x.Name {
			return ":value:(" + v.values + ")"
		}
	}
	return ":value:_files"
}

func fish(w io.Writer) {
	fmt.Fprint(w, "# berth completion fish | source\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "complete -c berth -n __fish_use_subcommand -a %s -d %q\n", c.name, c.short)
		eachFlag(c, func(x *flag.Flag) {
			fmt.Fprintf(w, "complete -c berth -n '__fish_seen_subcommand_from %s' -o %s", c.name, x.Name)
			for _, v := range flagValues {
				if v.flag == x.Name {
					fmt.Fprintf(w, " -x -a '%s'", v.values)
				}
			}
			fmt.Fprintln(w)
		})
	}
	fmt.Fprintf(w, "complete -c berth -n '__fish_seen_subcommand_from completion' -x -a 'bash zsh fish'\ncomplete -c berth -n '__fish_seen_subcommand_from help' -x -a '%s'\n", words())
}

// flagValues are the values of flags that have few.
var flagValues = []struct{ flag, values string }{
	{"o", "table json html"},
	{"profile", "1.18 1.34 1.37"},
	{"with", "1.18 1.34 1.37"},
	{"validate", "strict warn ignore"},
}
