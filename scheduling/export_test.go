package scheduling

// KeepFromTheFirst makes kept answers begin with the first decision, in small clusters too.
func KeepFromTheFirst() { smallMost = 0 }
