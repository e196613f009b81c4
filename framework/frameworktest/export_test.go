package frameworktest

import "github.com/berth-sched/berth/framework"

// CheckOnly makes one check of those that apply.
func CheckOnly(name string, p framework.Plugin, c Config) *Failure {
	s, err := newSession(p, c)
	if err != nil {
		return err.(*Failure)
	}
	for _, c := range s.checks {
		if c.name == name {
			f, _ := s.run(c)
			return f
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
