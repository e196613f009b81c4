package framework

// A Notebook is where a runner, such as a scheduler, notes what it found out
// about a pod, so that it need not look it up again. A pod keeps one note, that
// of the notebook that was written to last: a note may be gone at any time.
//
// Make one with [NewNotebook]. Reading and writing is safe for concurrent use.
type Notebook[T any] struct{ _ byte } // with a size, so that each has its own address

// NewNotebook returns an empty notebook.
func NewNotebook[T any]() *Notebook[T] { return new(Notebook[T]) }

// A Page of a notebook holds a note, which many pods may share.
type Page struct{ of, value any }

// Page returns a page on which v is noted. What is noted must not change, unless
// its readers take care of that.
func (b *Notebook[T]) Page(v *T) *Page { return &Page{b, v} }

// Read returns what was noted about the pod, nil for nothing.
func (b *Notebook[T]) Read(p *PodInfo) *T {
	if n := p.note.Load(); n != nil && n.of == any(b) {
		return n.value.(*T)
	}
	return nil
}

// Write puts a page of this notebook to the pod.
func (b *Notebook[T]) Write(p *PodInfo, page *Page) { p.note.Store(page) }
