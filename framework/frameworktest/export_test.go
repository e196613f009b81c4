package frameworktest

import "github.com/berth-sched/berth/framework"

// CheckOnly makes one check of those that apply.
func CheckOnly(name string, p framework.Plugin, o Config) *Failure {
	list, err := checksOf(p)
	if err != nil {
		return err.(*Failure)
	}
	for _, c := range list {
		if c.name == name {
			return c.run(p, o)
		}
	}
	return nil
}

// ObjectKinds is how many kinds of objects the kit compares.
var ObjectKinds = len(objectKinds)

// CheckNames lists all checks.
func CheckNames() []string {
	var names []string
	for _, c := range checks {
		names = append(names, c.name)
	}
	return names
}
