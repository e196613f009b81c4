package scheduling

// A lesson is how classes have paid that were made while the loss was too large. Classes that come
// often must be made before those that come twice or thrice.
type lesson struct {
	enough  int // after how many of its pods a class is made, if more than extent.enough says
	earned  int // what kept answers have saved since this changed
	classes int // that were made since
	pods    int // whose class was not made since, although there was something to spare
}

// made notes that a class was made. More pods of a class must have come from now on if the last
// ones have not paid, fewer if they have.
func (l *lesson) made(x extent) {
	if l.classes++; l.classes < lessonClasses {
		return
	}
	enough := l.enough / 2
	if l.earned < l.classes*x.classPrice() {
		enough = min(2*max(l.enough, x.enough()), enoughMost)
	}
	*l = lesson{enough: enough}
}

// refused notes that a pod's class was not made. If that goes on, fewer pods must have come.
func (l *lesson) refused() {
	if l.pods++; l.pods == lessonPods {
		*l = lesson{enough: l.enough / 2}
	}
}

// After lessonClasses that were made, or lessonPods that were refused, a lesson changes how many
// pods of a class must have come: at most enoughMost.
const lessonClasses, lessonPods, enoughMost = 8, 64, 32
