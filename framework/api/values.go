package api

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/berth-sched/berth/internal/errtext"
)

// A valueRule says which values the fields of a type may have.
type valueRule struct {
	known []string
	// decides is set if placements depend on the value.
	decides bool
}

// valueRules returns the rules by type. Types without a rule are open (names of conditions,
// media of volumes), or are states that a cluster reports.
func valueRules() map[reflect.Type]valueRule {
	rules := map[reflect.Type]valueRule{}
	for _, known := range [][]any{
		{DoNotSchedule, ScheduleAnyway},
		{NodeInclusionPolicyHonor, NodeInclusionPolicyIgnore},
		{ProtocolTCP, ProtocolUDP, ProtocolSCTP},
		{ContainerRestartPolicyAlways, ContainerRestartPolicyOnFailure, ContainerRestartPolicyNever},
		{PreemptLowerPriority, PreemptNever},
		{IfHealthyBudget, AlwaysAllow},
		{OrderedReadyPodManagement, ParallelPodManagement},
		{NonIndexedCompletion, IndexedCompletion},
		{TaintEffectNoSchedule, TaintEffectPreferNoSchedule, TaintEffectNoExecute},
		{TolerationOpExists, TolerationOpEqual, TolerationOpLt, TolerationOpGt},
		{LabelSelectorOpIn, LabelSelectorOpNotIn, LabelSelectorOpExists, LabelSelectorOpDoesNotExist},
		{NodeSelectorOpIn, NodeSelectorOpNotIn, NodeSelectorOpExists, NodeSelectorOpDoesNotExist, NodeSelectorOpGt, NodeSelectorOpLt},
		{PodPending, PodRunning, PodSucceeded, PodFailed, PodUnknown},
		{VolumeBindingImmediate, VolumeBindingWaitForFirstConsumer},
		{ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod},
		{PersistentVolumeFilesystem, PersistentVolumeBlock},
		{DeviceAllocationModeExactCount, DeviceAllocationModeAll},
		{DeviceTaintEffectNone, DeviceTaintEffectNoSchedule, DeviceTaintEffectNoExecute},
		{DeviceTolerationOpExists, DeviceTolerationOpEqual},
	} {
		rules[reflect.TypeOf(known[0])] = valueRule{texts(known), true}
	}
	for _, known := range [][]any{ // nobody reads these
		{RestartPolicyAlways, RestartPolicyOnFailure, RestartPolicyNever},
		{ContainerRestartRuleActionRestart, ContainerRestartRuleActionRestartAllContainers},
		{Linux, Windows},
		{PullAlways, PullIfNotPresent, PullNever},
	} {
		rules[reflect.TypeOf(known[0])] = valueRule{texts(known), false}
	}
	return rules
}

func texts(values []any) (list []string) {
	for _, v := range values {
		list = append(list, fmt.Sprint(v))
	}
	return list
}

// Validate returns an [*InvalidError] for each value that Kubernetes 1.37 does not know,
// joined, in the fields that decide where pods go: operators, effects, policies, modes and
// phases. A field that must be set may not be empty. Gt and Lt have one value, that of a
// toleration a decimal integer. A host port is at most 65535 and not negative, and a
// namespace has no slash. The scheduler of Kubernetes does not check them, because
// its API server does: a filter ignores whenUnsatisfiable: Never, and the pod is placed as
// if the constraint were not there. Call Validate on manifests before you schedule them.
// It returns at most 500 errors.
//
// [Objects.Doubts] lists values that are as wrong, but decide nothing or pass the API
// server. Nil objects are ignored.
func (o *Objects) Validate() error {
	var faults []error
	o.eachValue(func(v foundValue) {
		if v.decides && len(faults) < maxFaults {
			faults = append(faults, v.invalid())
		}
	})
	return errors.Join(faults...)
}

// Doubts returns an error for each value that Kubernetes 1.37 does not know in the fields
// that decide nothing, and for each Gt or Lt of a node affinity whose value is no integer:
// the API server takes it, but the pod then fits nowhere. It also returns one for each
// amount of a resource that has neither a domain nor a name that Kubernetes defines for
// containers or nodes: the API server refuses such a request, a scheduler ignores it. It
// returns at most 500.
func (o *Objects) Doubts() (list []*InvalidError) {
	o.eachValue(func(v foundValue) {
		if v.isDoubt() && len(list) < maxSkippedFields {
			list = append(list, v.invalid())
		}
	})
	return list
}

// maxFaults bounds the errors of Validate.
const maxFaults = 500

func (v *foundValue) isDoubt() bool { return !v.decides && v.value != "" }

func (v *foundValue) invalid() *InvalidError {
	return &InvalidError{Object: v.walk.objectName(), Field: v.path(false), Value: v.value, Err: errors.New(v.problem)}
}

// problem says what is wrong with a value.
func (r *valueRule) problem(value string) string {
	if value == "" {
		return "is missing; want " + r.list()
	}
	return "unknown value; want " + r.list()
}

// list writes the known values for people.
func (r *valueRule) list() string {
	last := len(r.known) - 1
	return strings.Join(r.known[:last], ", ") + " or " + r.known[last]
}

// doubts returns the warnings about values, each line once.
func (o *Objects) doubts() []string {
	type warning struct{ where, problem string }
	counts := map[warning]int{}
	o.eachValue(func(v foundValue) {
		if !v.isDoubt() {
			return
		}
		name := reflect.TypeOf(v.walk.object).Elem().Name()
		w := warning{fmt.Sprintf("%s: %s: %s: ", name, printable(errtext.Cut(v.path(true), maxErrorName)), quoteShort(v.value)), v.problem}
		if counts[w] > 0 || len(counts) < maxSkippedFields {
			counts[w]++
		}
	})
	var lines []string
	for w, n := range counts {
		if what, rest, ok := strings.Cut(w.problem, "; "); ok && n > 1 && strings.HasPrefix(what, "unknown ") {
			w.problem = fmt.Sprintf("%s, %d times; %s", what, n, rest)
		}
		lines = append(lines, w.where+w.problem)
	}
	slices.Sort(lines)
	return lines
}

// A foundValue is a value with a problem.
type foundValue struct {
	walk    *valueWalk
	steps   []string // such as "spec", "containers", "[0]"
	value   string
	problem string
	decides bool // placements depend on the value, and the API server refuses it
}

// path writes where the value is, without the indexes of lists if they do not matter.
func (v *foundValue) path(general bool) string {
	var b strings.Builder
	for _, step := range v.steps {
		switch inside := step[0] == '['; {
		case inside && general && strings.Trim(step, "[0123456789]") == "":
			continue
		case !inside && b.Len() > 0:
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// eachValue calls f for each value that its rule does not know, in the order of the kinds
// and objects.
func (o *Objects) eachValue(f func(foundValue)) {
	all := reflect.ValueOf(o).Elem()
	for i, plan := range valuePlans() {
		if plan == nil {
			continue
		}
		list := all.Field(i)
		for k := range list.Len() {
			if x := list.Index(k); !x.IsNil() {
				w := valueWalk{object: x.Interface().(object), found: f}
				w.visit(plan, x, nil)
			}
		}
	}
}

// A valuePlan says where in the values of a type values with a rule are.
type valuePlan struct {
	rule   *valueRule
	check  func(w *valueWalk, v reflect.Value, path []string) // of a struct with rules of its own; may be nil
	elem   *valuePlan                                         // of a pointer or list
	fields []valueField
}

type valueField struct {
	index    int
	name     string // "" for an embedded struct
	required bool
	plan     *valuePlan
}

// valuePlans returns the plans for the fields of Objects, nil where there is nothing to look
// at. They are made once, because Warnings may be called for every object of a file.
var valuePlans = sync.OnceValue(func() (plans []*valuePlan) {
	p := valuePlanner{rules: valueRules(), plans: map[reflect.Type]*valuePlan{}}
	t := reflect.TypeFor[Objects]()
	for i := range t.NumField() {
		var plan *valuePlan
		if list := t.Field(i).Type; list.Kind() == reflect.Slice {
			plan = p.plan(list.Elem())
		}
		plans = append(plans, plan)
	}
	return plans
})

// A valuePlanner makes plans, one for a type.
type valuePlanner struct {
	rules map[reflect.Type]valueRule
	plans map[reflect.Type]*valuePlan
}

// plan returns nil if there is nothing to look at.
func (p *valuePlanner) plan(t reflect.Type) *valuePlan {
	if plan, ok := p.plans[t]; ok {
		return plan
	}
	p.plans[t] = nil
	plan := new(valuePlan)
	switch rule, ok := p.rules[t]; {
	case ok:
		plan.rule = &rule
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice:
		if plan.elem = p.plan(t.Elem()); plan.elem == nil {
			return nil
		}
	case t.Kind() == reflect.Struct:
		plan.check = checkOf(t)
		if plan.fields = p.fields(t); len(plan.fields) == 0 && plan.check == nil {
			return nil
		}
	default:
		return nil
	}
	p.plans[t] = plan
	return plan
}

func (p *valuePlanner) fields(t reflect.Type) (list []valueField) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" && !field.Anonymous {
			continue
		}
		if plan := p.plan(field.Type); plan != nil {
			list = append(list, valueField{i, name, options == "" && plan.rule != nil, plan})
		}
	}
	return list
}

// A valueWalk looks at one object.
type valueWalk struct {
	object object
	found  func(foundValue)
	name   string // as errors name the object; "" before the first
}

// objectName returns the kind and the key of the object. All errors about it share the text,
// because a name may be as long as the input.
func (w *valueWalk) objectName() string {
	if w.name == "" {
		m := w.object.objectMeta()
		w.name = strings.ToLower(reflect.TypeOf(w.object).Elem().Name()) + " " + m.Key()
	}
	return w.name
}

func (w *valueWalk) visit(p *valuePlan, v reflect.Value, path []string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			w.visit(p.elem, v.Elem(), path)
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.visit(p.elem, v.Index(i), append(path, "["+strconv.Itoa(i)+"]"))
		}
	case reflect.Struct:
		if p.check != nil {
			p.check(w, v, path)
		}
		for _, f := range p.fields {
			inner := path
			if f.name != "" {
				inner = append(path, f.name)
			}
			x := v.Field(f.index)
			if f.required && x.String() == "" {
				w.found(foundValue{w, inner, "", f.plan.rule.problem(""), f.plan.rule.decides})
				continue
			}
			w.visit(f.plan, x, inner)
		}
	case reflect.String:
		if text := v.String(); text != "" && !slices.Contains(p.rule.known, text) {
			w.found(foundValue{w, path, text, p.rule.problem(text), p.rule.decides})
		}
	}
}
