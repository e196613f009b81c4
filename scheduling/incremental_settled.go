package scheduling

// settle notes whether the balance of all decisions is at its bounds in searches of the extent: nothing
// is lost, and there cannot be more to spare. Then it is settled, and a kept answer that saves
// something changes nothing of it but what a lesson has earned. So most decisions need not look
// at it.
func (f *incrementalPath) settle(x extent) {
	f.settled = extent{}
	b, most := &f.balances.all, workShare*x.limitAtLast()
	switch {
	case b.loss > 0 || b.key > 0 || b.spare < spareClasses*x.classPrice():
	case b.late && (b.work < most || f.balances.long.work < most):
	default:
		f.settled = x
	}
}

// bookSettled is book for a decision that leaves the balance settled; false if it does not.
func (f *incrementalPath) bookSettled(evaluated, saved int) bool {
	if f.settled.nodes == 0 || f.spelled > 0 || f.long || saved == 0 {
		return false
	}
	gain := f.settled.gain(saved) - f.settled.weigh(evaluated)
	if gain < 0 {
		return false
	}
	f.balances.all.lesson.earned += gain
	return true
}
