package framework

// A Notebook is where a runner, such as a scheduler, notes what it found out
// about a pod, so that it need not look it up again. A pod keeps one note, that
// of the notebook that was written to last: a note may be gone at any time.
//
// Make one with [NewNotebook]. Reading and writing is safe for concurrent use.
type Notebook[T any] struct{ _ byte } // with a size, so that each has its own address

// NewNotebook returns an empty notebook.
func NewNotebook[T any]() *Notebook[T] { return new(Notebook[T]) }

type note struct {
	of    any // the notebook
	value any
}

// Read returns what was noted about the pod, nil for nothing.
func (b *Notebook[T]) Read(p *PodInfo) *T {
	if n := p.note.Load(); n != nil && n.of == any(b) {
		return n.value.(*T)
	}
	return nil
}

// Write notes something about the pod. What is noted must not change, unless
// the reader takes care of that.
func (b *Notebook[T]) Write(p *PodInfo, v *T) { p.note.Store(&note{b, v}) }
