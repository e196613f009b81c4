package kube

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// TestMetricsShareCounts asks for the metrics of a scheduler whose scheduling goroutine is
// the test's. All who ask meanwhile get one answer, which is good for a second.
func TestMetricsShareCounts(t *testing.T) {
	client := fake.NewClientset()
	synctest.Test(t, func(t *testing.T) { // time passes when everything waits
		s, err := New(Config{Client: client, Profiles: []scheduling.Profile{scheduling.Kubernetes137()}})
		if err != nil {
			t.Fatal(err)
		}
		s.state.Store(&state{leads: true})
		handler := s.Handler()
		var mu sync.Mutex
		answers := map[string]int{} // by the number of nodes, "" for none
		ask := func(ctx context.Context) {
			r := httptest.NewRecorder()
			handler.ServeHTTP(r, httptest.NewRequestWithContext(ctx, http.MethodGet, "/metrics", nil))
			_, nodes, _ := strings.Cut(r.Body.String(), `scheduler_cache_size{type="nodes"} `)
			nodes, _, _ = strings.Cut(nodes, "\n")
			mu.Lock()
			defer mu.Unlock()
			answers[nodes]++
		}
		check := func(what string, want map[string]int) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if fmt.Sprint(answers) != fmt.Sprint(want) {
				t.Errorf("%s: answers by the number of nodes are %v, want %v", what, answers, want)
			}
			clear(answers)
		}
		ctx, node := t.Context(), func(name string) lifecycle.Event {
			return lifecycle.Add(&api.Node{ObjectMeta: api.ObjectMeta{Name: name}})
		}

		gone, leave := context.WithCancel(ctx)
		go ask(gone)
		synctest.Wait()
		s.driver.Apply(node("a"))
		for range 99 {
			go ask(ctx)
		}
		synctest.Wait()
		leave() // the client whose question it is
		synctest.Wait()
		s.driver.Flush(ctx)
		synctest.Wait()
		check("100 clients at once", map[string]int{"0": 100})

		time.Sleep(countsAge - time.Nanosecond)
		ask(ctx) // nobody schedules
		check("before the answer is old", map[string]int{"0": 1})

		time.Sleep(time.Nanosecond)
		go ask(ctx)
		synctest.Wait()
		s.driver.Flush(ctx)
		synctest.Wait()
		check("once the answer is old", map[string]int{"1": 1})

		time.Sleep(countsAge)
		for range 10 {
			go ask(ctx)
		}
		time.Sleep(countsAge)
		synctest.Wait()
		check("nobody schedules", map[string]int{"": 10})
		s.driver.Apply(node("b"))
		s.driver.Flush(ctx)
		go ask(ctx)
		synctest.Wait()
		s.driver.Flush(ctx)
		synctest.Wait()
		check("after a failure", map[string]int{"2": 1})
	})
}
