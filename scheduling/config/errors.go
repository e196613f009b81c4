package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/berth-sched/berth/internal/errtext"
	"github.com/berth-sched/berth/scheduling/args"
)

// A Stage is a step of loading.
type Stage string

// The stages, in their order.
const (
	StageDecode   Stage = "decode"   // the text becomes values
	StageValidate Stage = "validate" // the rules for values
	StageBuild    Stage = "build"    // profiles are resolved
)

// A Class is the category of a [Problem]. Validation problems, and decoding problems
// of one field, have the types of package args as classes, such as
// "FieldValueInvalid" and "UnknownField".
type Class string

// The classes of decoding, besides those of package args.
const (
	TooLarge       Class = "TooLarge"       // text longer than LoadConfig.MaxBytes
	DuplicateKey   Class = "DuplicateKey"   // a key is given twice in a YAML mapping
	MissingKind    Class = "MissingKind"    // the file has no kind
	MissingVersion Class = "MissingVersion" // the file has no apiVersion
	UnknownKind    Class = "UnknownKind"    // no such kind in this version, or no such version
	WrongKind      Class = "WrongKind"      // a known kind, not KubeSchedulerConfiguration
	ArgsKind       Class = "ArgsKind"       // arguments of another plugin
)

// The classes of the build.
const (
	ExtenderTLS            Class = "Extender"               // the client of an extender, or its TLS settings
	FitConfigMissing       Class = "FitConfigMissing"       // ignoredByScheduler without NodeResourcesFit
	InitPlugin             Class = "InitPlugin"             // a constructor failed
	UnknownPlugin          Class = "UnknownPlugin"          // no plugin of that name
	NotExtending           Class = "NotExtending"           // a plugin at a point that it does not serve
	AlreadyRegistered      Class = "AlreadyRegistered"      // a plugin twice at a point
	QueueSortCount         Class = "QueueSortCount"         // not exactly one queue sort plugin
	NoBind                 Class = "NoBind"                 // no bind plugin
	PlacementGenerateCount Class = "PlacementGenerateCount" // more than one placement generator
	WeightOverflow         Class = "WeightOverflow"         // the weights may overflow a total
	NoWeight               Class = "NoWeight"               // a score plugin whose own name has no weight
	QueueSortDiffers       Class = "QueueSortDiffers"       // profiles sort the queue by different plugins
	QueueSortArgsDiffer    Class = "QueueSortArgsDiffer"    // or by different arguments
)

// A Problem is one reason why a configuration was rejected.
type Problem struct {
	Stage Stage
	Class Class
	// Field is the path of the field, such as "profiles[0].plugins.score"; empty if
	// the problem does not concern a field.
	Field string
	// Line is the line of the field in the file, or of the innermost value around it
	// that the file contains, counted from 1. Of a problem without a field it is the line
	// to look at: of a list that disables too much, or where the file begins. 0 means
	// that no line is known.
	Line int
	// Profile and Plugin are the names that a build problem is about.
	Profile string
	Plugin  string
	// Text describes the problem, in upstream's words where it has any.
	Text string

	other string // a field that stands for Field if the file does not have that
	err   error
}

// Error returns the text, prefixed with the line if there is one.
func (p Problem) Error() string {
	if p.Line == 0 {
		return p.Text
	}
	return "line " + strconv.Itoa(p.Line) + ": " + p.Text
}

// Unwrap returns the cause: an [args.FieldError] for a field, the error of a
// plugin's Check, or nil.
func (p Problem) Unwrap() error { return p.err }

// An Error lists why a configuration was rejected. All problems are of one stage;
// there is at least one. Of more than 100 problems, the first 100 are listed.
type Error struct {
	Stage    Stage
	Problems []Problem
}

// Error returns the problems, one per line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the problems.
func (e *Error) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i, p := range e.Problems {
		errs[i] = p
	}
	return errs
}

// problems collects the problems of one stage.
type problems struct {
	stage Stage
	list  []Problem
}

// maxProblems bounds the problems of an [Error].
const maxProblems = 100

// maxProblemText bounds the text of a problem, in bytes: names may be as long as the file.
const maxProblemText = 2 << 10

func (p *problems) add(q Problem) {
	if len(p.list) < maxProblems {
		q.Stage, q.Text = p.stage, errtext.Cut(q.Text, maxProblemText)
		p.list = append(p.list, q)
	}
}

// fields adds errors of fields below a path.
func (p *problems) fields(path string, errs []args.FieldError) {
	for _, e := range errs {
		if p.full() {
			return
		}
		switch {
		case path == "":
		case e.Field == "":
			e.Field = path
		default:
			e.Field = path + "." + e.Field
		}
		p.add(Problem{Class: Class(e.Type), Field: e.Field, Text: e.Error(), err: e})
	}
}

// located returns the problems as an error, with the lines of their fields, or nil
// if there are none.
func (p *problems) located(lines func() *place) error {
	if len(p.list) == 0 {
		return nil
	}
	var root *place
	for i := range p.list {
		if q := &p.list[i]; q.Line == 0 {
			if root == nil {
				root = lines()
			}
			q.Line = cmp.Or(root.find(q.Field), root.find(q.other), root.line)
		}
	}
	return &Error{Stage: p.stage, Problems: p.list}
}

// full reports whether no more problems are listed, so that none is worth finding.
func (p *problems) full() bool { return len(p.list) == maxProblems }

// hopeless reports whether nothing more is worth finding: no more problems are listed, or a
// list has more elements than are read.
func (p *problems) hopeless() bool {
	return p.full() ||
		slices.ContainsFunc(p.list, func(q Problem) bool { return q.Class == Class(args.TooMany) })
}
