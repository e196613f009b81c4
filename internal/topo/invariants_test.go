package topo

type fataler interface {
	Helper()
	Fatal(args ...any)
}

// checkTables compares the state of the tables with a recount without indexes.
func checkTables(m fataler, t *Tables) {
	m.Helper()
	if err := t.Check(t.snapshot); err != nil {
		m.Fatal(err)
	}
}
