package api

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
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
	decides := func(t reflect.Type, known ...string) { rules[t] = valueRule{known, true} }
	decides(reflect.TypeFor[UnsatisfiableConstraintAction](), string(DoNotSchedule), string(ScheduleAnyway))
	decides(reflect.TypeFor[NodeInclusionPolicy](), string(NodeInclusionPolicyHonor), string(NodeInclusionPolicyIgnore))
	decides(reflect.TypeFor[Protocol](), string(ProtocolTCP), string(ProtocolUDP), string(ProtocolSCTP))
	decides(reflect.TypeFor[ContainerRestartPolicy](), string(ContainerRestartPolicyAlways), string(ContainerRestartPolicyOnFailure), string(ContainerRestartPolicyNever))
	decides(reflect.TypeFor[PreemptionPolicy](), string(PreemptLowerPriority), string(PreemptNever))
	decides(reflect.TypeFor[TaintEffect](), string(TaintEffectNoSchedule), string(TaintEffectPreferNoSchedule), string(TaintEffectNoExecute))
	decides(reflect.TypeFor[TolerationOperator](), string(TolerationOpExists), string(TolerationOpEqual), string(TolerationOpLt), string(TolerationOpGt))
	decides(reflect.TypeFor[LabelSelectorOperator](), string(LabelSelectorOpIn), string(LabelSelectorOpNotIn), string(LabelSelectorOpExists), string(LabelSelectorOpDoesNotExist))
	decides(reflect.TypeFor[NodeSelectorOperator](), string(NodeSelectorOpIn), string(NodeSelectorOpNotIn), string(NodeSelectorOpExists), string(NodeSelectorOpDoesNotExist), string(NodeSelectorOpGt), string(NodeSelectorOpLt))
	decides(reflect.TypeFor[PodPhase](), string(PodPending), string(PodRunning), string(PodSucceeded), string(PodFailed), string(PodUnknown))
	decides(reflect.TypeFor[VolumeBindingMode](), string(VolumeBindingImmediate), string(VolumeBindingWaitForFirstConsumer))
	decides(reflect.TypeFor[PersistentVolumeAccessMode](), string(ReadWriteOnce), string(ReadOnlyMany), string(ReadWriteMany), string(ReadWriteOncePod))
	decides(reflect.TypeFor[PersistentVolumeMode](), string(PersistentVolumeFilesystem), string(PersistentVolumeBlock))
	decides(reflect.TypeFor[DeviceAllocationMode](), string(DeviceAllocationModeExactCount), string(DeviceAllocationModeAll))
	decides(reflect.TypeFor[DeviceTaintEffect](), string(DeviceTaintEffectNone), string(DeviceTaintEffectNoSchedule), string(DeviceTaintEffectNoExecute))
	decides(reflect.TypeFor[DeviceTolerationOperator](), string(DeviceTolerationOpExists), string(DeviceTolerationOpEqual))

	unread := func(t reflect.Type, known ...string) { rules[t] = valueRule{known: known} }
	unread(reflect.TypeFor[RestartPolicy](), string(RestartPolicyAlways), string(RestartPolicyOnFailure), string(RestartPolicyNever))
	unread(reflect.TypeFor[ContainerRestartRuleAction](), string(ContainerRestartRuleActionRestart), string(ContainerRestartRuleActionRestartAllContainers))
	unread(reflect.TypeFor[OSName](), string(Linux), string(Windows))
	unread(reflect.TypeFor[PullPolicy](), string(PullAlways), string(PullIfNotPresent), string(PullNever))
	return rules
}

// Validate returns an [*InvalidError] for each value that Kubernetes 1.37 does not know,
// joined, in the fields that decide where pods go: operators, effects, policies, modes and
// phases. A field that must be set may not be empty. The scheduler of Kubernetes does not
// check them, because its API server does: a filter ignores whenUnsatisfiable: Never, and
// the pod is placed as if the constraint were not there. Call Validate on manifests before
// you schedule them.
//
// [Objects.Warnings] lists unknown values of fields that decide nothing. Nil objects are
// ignored.
func (o *Objects) Validate() error {
	var faults []error
	o.eachValue(func(v foundValue) {
		if v.rule.decides {
			faults = append(faults, &InvalidError{Object: v.kind() + " " + v.key(), Field: v.path(false), Value: v.value, Err: v.problem()})
		}
	})
	return errors.Join(faults...)
}

func (v *foundValue) problem() error {
	if v.value == "" {
		return errors.New("is missing; want " + v.rule.list())
	}
	return errors.New("unknown value; want " + v.rule.list())
}

// list writes the known values for people.
func (r *valueRule) list() string {
	last := len(r.known) - 1
	return strings.Join(r.known[:last], ", ") + " or " + r.known[last]
}

// unknownValues returns the warnings about fields that decide nothing, each line once.
func (o *Objects) unknownValues() []string {
	counts := map[string]int{}
	var lines []string
	o.eachValue(func(v foundValue) {
		if v.rule.decides || v.value == "" || len(lines) >= maxSkippedFields {
			return
		}
		name := reflect.TypeOf(v.object).Elem().Name()
		line := fmt.Sprintf("%s: %s: %s: unknown value; want %s", name, v.path(true), quoteShort(v.value), v.rule.list())
		if counts[line]++; counts[line] == 1 {
			lines = append(lines, line)
		}
	})
	for i, line := range lines {
		if n := counts[line]; n > 1 {
			lines[i] = strings.Replace(line, "unknown value", fmt.Sprintf("unknown value, %d times", n), 1)
		}
	}
	slices.Sort(lines)
	return lines
}

// A foundValue is a value that its rule does not know.
type foundValue struct {
	object object
	steps  []string // such as "spec", "containers", "[0]"
	value  string
	rule   *valueRule
}

// path writes where the value is, without indexes if they do not matter.
func (v *foundValue) path(general bool) string {
	var b strings.Builder
	for _, step := range v.steps {
		switch index := step[0] == '['; {
		case index && general:
			continue
		case !index && b.Len() > 0:
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

func (v *foundValue) kind() string {
	return strings.ToLower(reflect.TypeOf(v.object).Elem().Name())
}

func (v *foundValue) key() string {
	m := v.object.objectMeta()
	if m.Namespace == "" {
		return m.Name
	}
	return m.Namespace + "/" + m.Name
}

// eachValue calls f for each value that its rule does not know, in the order of the kinds
// and objects.
func (o *Objects) eachValue(f func(foundValue)) {
	p := valuePlanner{rules: valueRules(), plans: map[reflect.Type]*valuePlan{}}
	all := reflect.ValueOf(o).Elem()
	for i := range all.NumField() {
		list := all.Field(i)
		if list.Kind() != reflect.Slice {
			continue
		}
		plan := p.plan(list.Type().Elem())
		if plan == nil {
			continue
		}
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
	elem   *valuePlan // of a pointer or list
	fields []valueField
}

type valueField struct {
	index    int
	name     string // "" for an embedded struct
	required bool
	plan     *valuePlan
}

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
		if plan.fields = p.fields(t); len(plan.fields) == 0 {
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
		for _, f := range p.fields {
			inner := path
			if f.name != "" {
				inner = append(path, f.name)
			}
			x := v.Field(f.index)
			if f.required && x.String() == "" {
				w.found(foundValue{w.object, inner, "", f.plan.rule})
				continue
			}
			w.visit(f.plan, x, inner)
		}
	case reflect.String:
		if text := v.String(); text != "" && !slices.Contains(p.rule.known, text) {
			w.found(foundValue{w.object, path, text, p.rule})
		}
	}
}
