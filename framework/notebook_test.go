package framework_test

import (
	"fmt"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A pod has one note, and shows it to the notebook that it is of.
func TestNotebook(t *testing.T) {
	s := snapshotOf(t, framework.Arrival, "n")
	p, q := podInfo(t, s, plainPod("p")), podInfo(t, s, plainPod("q"))
	a, b, words := framework.NewNotebook[int](), framework.NewNotebook[int](), framework.NewNotebook[string]()
	seven, word := 7, "word"
	a.Write(p, a.Page(&seven))
	if a.Read(p) != &seven || a.Read(q) != nil || b.Read(p) != nil || words.Read(p) != nil {
		t.Errorf("notes of p: %v, %v, %v; of q: %v; want only the first", a.Read(p), b.Read(p), words.Read(p), a.Read(q))
	}
	words.Write(p, words.Page(&word))
	if words.Read(p) != &word || a.Read(p) != nil {
		t.Errorf("notes of p: %v and %v, want the last one alone", words.Read(p), a.Read(p))
	}
}

func ExampleNotebook() {
	s := framework.NewSnapshot(framework.Arrival)
	pod, err := s.NewPodInfo(api.MakePod("web").Obj())
	if err != nil {
		fmt.Println(err)
		return
	}
	tries := framework.NewNotebook[int]()
	fmt.Println(tries.Read(pod) == nil)
	var page *framework.Page = tries.Page(new(3))
	tries.Write(pod, page)
	fmt.Println(*tries.Read(pod))
	// Output:
	// true
	// 3
}
