package scheduling

// KeepFromTheFirst makes kept answers begin with the first decision.
func KeepFromTheFirst() { beginsLate = false }
