package scheduling

import "testing"

// However long kept answers did not pay, few decisions from them show that they pay again: their
// loss is not kept beyond the limit, but for the price of one class.
func TestLossIsForgotten(t *testing.T) {
	for _, nodes := range []int{1, 10, 1000, 5000} {
		x := extent{nodes, nodes}
		for _, strangers := range []int{1000, 100_000} {
			var b balance
			for range strangers {
				b.note(x, nodes, 0)
			}
			if b.pays(x) {
				t.Errorf("%d nodes: kept answers pay after %d decisions that they did not make", nodes, strangers)
			}
			n := 0
			for ; !b.pays(x); n++ {
				b.note(x, 1, nodes+1) // saves all nodes
			}
			if most := 1 + x.classPrice()/x.price(); n > most {
				t.Errorf("%d nodes: after %d strangers, kept answers pay again after %d decisions, want at most %d", nodes, strangers, n, most)
			}
		}
	}
}
