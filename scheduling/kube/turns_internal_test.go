package kube

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// A namespace with thousands of writes that wait delays one of another namespace by one turn.
func TestTurnsOfNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many = 1000
		turns := newTurns(1)
		end, err := turns.take(t.Context(), "other")
		if err != nil {
			t.Fatal(err)
		}
		var order []string // one writes at a time
		queue := func(namespace string, n int) {
			for i := range n {
				go func() {
					_ = turns.do(t.Context(), namespace, func() error {
						order = append(order, fmt.Sprint(namespace, i))
						return nil
					})
				}()
				synctest.Wait()
			}
		}
		queue("many", many)
		queue("few", 2)
		queue("one", 1)
		end()
		synctest.Wait()
		want := []string{"many0", "few0", "one0", "many1", "few1"}
		for i := 2; i < many; i++ {
			want = append(want, fmt.Sprint("many", i))
		}
		if !slices.Equal(order, want) {
			t.Errorf("the turns are %.40v ..., want %v ...", order, want[:6])
		}
	})
}

// A modelTurns is what turns are, as plainly as can be.
type modelTurns struct {
	free  int
	lines [][]int // ids, by namespace
	next  []int   // namespaces, in the order of their turns
	has   []int   // ids that have a turn
}

func (m *modelTurns) take(id, namespace int) {
	if m.free > 0 {
		m.free--
		m.has = append(m.has, id)
		return
	}
	if m.lines[namespace] = append(m.lines[namespace], id); len(m.lines[namespace]) == 1 {
		m.next = append(m.next, namespace)
	}
}

func (m *modelTurns) end(id int) {
	m.has = without(m.has, id)
	if len(m.next) == 0 {
		m.free++
		return
	}
	namespace := m.next[0]
	m.next = m.next[1:]
	m.has = append(m.has, m.lines[namespace][0])
	if m.lines[namespace] = m.lines[namespace][1:]; len(m.lines[namespace]) > 0 {
		m.next = append(m.next, namespace)
	}
}

func (m *modelTurns) cancel(id int) {
	for namespace, line := range m.lines {
		if m.lines[namespace] = without(line, id); len(m.lines[namespace]) == 0 {
			m.next = without(m.next, namespace)
		}
	}
}

func without(list []int, x int) []int {
	return slices.DeleteFunc(slices.Clone(list), func(y int) bool { return x == y })
}

// Turns are taken, ended and no longer waited for in any order, as in the model.
func TestTurnsAsModel(t *testing.T) {
	const namespaces = 4
	gone := errors.New("nobody wants it any more")
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			most := 1 + random.IntN(3)
			turns, model := newTurns(most), modelTurns{free: most, lines: make([][]int, namespaces)}
			var (
				mu      sync.Mutex
				has     = map[int]func(){}
				failed  = map[int]error{}
				cancels = map[int]context.CancelCauseFunc{}
			)
			check := func(what string) {
				t.Helper()
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				ok := len(has) == len(model.has) && len(has)+turns.free == most
				for _, id := range model.has {
					ok = ok && has[id] != nil
				}
				if !ok {
					t.Fatalf("seed %d, %s: %d have a turn, %d are free; want %v, %d free", seed, what, len(has), turns.free, model.has, model.free)
				}
			}
			end := func(id int) {
				mu.Lock()
				ends := has[id]
				delete(has, id)
				mu.Unlock()
				ends()
				ends() // does nothing
				model.end(id)
			}
			for id := range 200 {
				switch op := random.IntN(7); {
				case op < 4:
					namespace := random.IntN(namespaces)
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					cancels[id] = cancel
					go func() {
						end, err := turns.take(ctx, fmt.Sprint(namespace))
						mu.Lock()
						defer mu.Unlock()
						if failed[id] = err; err == nil {
							has[id] = end
						}
					}()
					model.take(id, namespace)
					check(fmt.Sprint("take ", id))
				case op < 6 && len(model.has) > 0:
					ended := model.has[random.IntN(len(model.has))]
					end(ended)
					check(fmt.Sprint("end ", ended))
				case len(model.next) > 0:
					line := model.lines[model.next[random.IntN(len(model.next))]]
					left := line[random.IntN(len(line))]
					cancels[left](gone)
					model.cancel(left)
					check(fmt.Sprint("cancel ", left))
					if failed[left] != gone {
						t.Fatalf("seed %d: take returns %v, want %v", seed, failed[left], gone)
					}
				}
			}
			for len(model.has) > 0 {
				end(model.has[0])
				check("the end")
			}
			if turns.lines.Len()+len(turns.of) > 0 {
				t.Fatalf("seed %d: %d lines and %d namespaces are left", seed, turns.lines.Len(), len(turns.of))
			}
		})
	}
}

// Turns that end while who waits for them gives up are neither lost nor given twice.
func TestTurnsRace(t *testing.T) {
	const most, writers, writes = 3, 16, 500
	turns := newTurns(most)
	var running, done, left atomic.Int64
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range writes {
				ctx, cancel := context.WithCancel(context.Background())
				if i%2 == 0 {
					go cancel()
				}
				err := turns.do(ctx, fmt.Sprint(w%5), func() error {
					if n := running.Add(1); n > most {
						t.Errorf("%d writes run at once, want at most %d", n, most)
					}
					done.Add(1)
					running.Add(-1)
					return nil
				})
				cancel()
				if err != nil {
					left.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if turns.free != most || turns.lines.Len()+len(turns.of) > 0 || done.Load()+left.Load() != writers*writes || left.Load() > writers*writes/2 {
		t.Errorf("%d turns are free, %d lines are left; %d have written and %d not", turns.free, turns.lines.Len(), done.Load(), left.Load())
	}
}

// A write that panics ends its turn, and so does who leaves as the turn comes. Where the context has
// ended, nothing is written.
func TestTurnsEnd(t *testing.T) {
	turns := newTurns(1)
	func() {
		defer func() { _ = recover() }()
		_ = turns.do(t.Context(), "a", func() error { panic("a fault") })
	}()
	why := errors.New("the pod is gone")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := turns.do(ended, "a", func() error { t.Error("it writes"); return nil }); err != why {
		t.Errorf("with a context that has ended: %v, want %v", err, why)
	}
	failure := errors.New("refused")
	if err := turns.do(t.Context(), "a", func() error { return failure }); err != failure {
		t.Errorf("a write that fails: %v, want %v", err, failure)
	}
	end, err := turns.take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	turns.mu.Lock()
	_, leave := turns.join("a")
	turns.mu.Unlock()
	end()
	leave() // its turn has come meanwhile
	if turns.free != 1 {
		t.Errorf("%d turns are free, want 1", turns.free)
	}
}
