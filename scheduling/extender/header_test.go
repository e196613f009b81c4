package extender_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/extender"
)

// TestLongHeader: an answer with a header beyond the bound is an error.
func TestLongHeader(t *testing.T) {
	for _, size := range []int{1 << 10, 128 << 10} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", size))
			_, _ = w.Write([]byte(`{"nodenames": ["a"]}`))
		}))
		c, err := extender.New(extender.Config{URLPrefix: server.URL, FilterVerb: "filter", NodeCacheCapable: true})
		if err != nil {
			t.Fatal(err)
		}
		s := framework.NewSnapshot(framework.Arrival)
		if err := s.AddNode(api.MakeNode("a", "4", "8Gi").Obj()); err != nil {
			t.Fatal(err)
		}
		pod, err := s.NewPodInfo(api.MakePod("p").Obj())
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Extender().Filter(t.Context(), pod, []*framework.NodeInfo{s.Node("a")})
		if long := size > 64<<10; (err != nil) != long {
			t.Errorf("a header of %d bytes: %v", size, err)
		}
		c.Close()
		server.Close()
	}
}
