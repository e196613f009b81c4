package scheduling

// KeepFromTheFirst makes kept answers begin with the first decision.
func KeepFromTheFirst() { beginsLate = false }

// BeginLate makes kept answers of the scheduler begin as users have them.
func BeginLate(s *Scheduler) {
	s.incremental.balances.all.late, s.incremental.balances.long.late = true, true
}
