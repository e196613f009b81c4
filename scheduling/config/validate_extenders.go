package config

import (
	"fmt"

	"github.com/berth-sched/berth/resource"
	"github.com/berth-sched/berth/scheduling/args"
)

// validateExtenders checks each extender, and the extenders against each other.
func validateExtenders(extenders []Extender) []args.FieldError {
	var errs []args.FieldError
	binders := 0
	seen := make(map[string]bool)
	for i := range extenders {
		e := &extenders[i]
		path := fmt.Sprintf("extenders[%d]", i)
		if e.PrioritizeVerb != "" && e.Weight <= 0 {
			errs = append(errs, args.Invalid(path+".weight", e.Weight, "must have a positive weight applied to it"))
		}
		if e.BindVerb != "" {
			binders++
		}
		for j, r := range e.ManagedResources {
			at := fmt.Sprintf("%s.managedResources[%d].name", path, j)
			errs = append(errs, validateExtended(at, r.Name)...)
			if seen[r.Name] {
				errs = append(errs, args.Invalid(at, r.Name, "duplicate extender managed resource name"))
			}
			seen[r.Name] = true
		}
	}
	if binders > 1 {
		errs = append(errs, args.Invalid("extenders", fmt.Sprintf("found %d extenders implementing bind", binders), "only one extender can implement bind"))
	}
	return errs
}

// validateExtended checks that a name is an extended resource's.
func validateExtended(path, name string) []args.FieldError {
	var errs []args.FieldError
	for _, msg := range args.QualifiedName(name) {
		errs = append(errs, args.Invalid(path, resource.Name(name), msg))
	}
	if len(errs) == 0 && !resource.Name(name).IsExtended() {
		errs = append(errs, args.Invalid(path, name, "is an invalid extended resource name"))
	}
	return errs
}
