package scenarios

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-sched/berth/internal/proof/e2e/controlplane"
	"github.com/berth-sched/berth/internal/proof/e2e/faulty"
	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// chaos is what happens to a cluster, in rounds. After each round there is calm.
type chaos struct {
	*scenario
	random   *rand.Rand
	proxy    *faulty.Proxy
	subject  *subject
	created  int   // pods made
	deleted  int   // pods deleted
	nodes    []int // nodes that are there
	perRound int
}

// TestChaos kills the scheduler and the API server, deletes nodes and pods, and fails or
// delays a twentieth of the scheduler's requests. Every pod that is not deleted is bound
// exactly once; after every round the scheduler's snapshot equals the API; and in the end
// no goroutine is left.
func TestChaos(t *testing.T) {
	berthOnly(t, "the snapshot of the stock scheduler cannot be seen")
	s := begin(t)
	proxy, err := faulty.Start(faulty.Config{
		Target: cluster.URL(), CA: cluster.CA(), Certificate: cluster.Certificate(), Share: 0.05, Seed: 1,
	})
	s.ok(err)
	t.Cleanup(proxy.Stop)
	rounds, nodes := size(2, 10), size(80, 400)
	c := &chaos{scenario: s, random: rand.New(rand.NewPCG(3, 3)), proxy: proxy, perRound: size(200, 1000)}
	for i := range nodes {
		c.nodes = append(c.nodes, i)
	}
	s.nodes(nodes)
	c.restart()
	for round := range rounds {
		c.round(10, round%3 == 1)
		c.calm(round)
	}
	if err := c.subject.Stop(patience); err != nil {
		t.Errorf("the end: %v", err)
	}
	t.Logf("%d pods, %d of them deleted; requests: %s", c.created, c.deleted, proxy.Counts())
}

// restart starts the scheduler behind the proxy.
func (c *chaos) restart() {
	c.Helper()
	c.subject = c.startSubject(func(s *controlplane.Scheduler) { s.URL = c.proxy.URL() })
}

// round makes pods while a kill of the scheduler, deletions and perhaps a kill of the API
// server happen.
func (c *chaos) round(goneNodes int, killAPI bool) {
	c.Helper()
	from, before := c.created, c.guard.View().Binds
	c.created += c.perRound
	made := make([]chan struct{}, c.perRound)
	for i := range made {
		made[i] = make(chan struct{})
	}
	var work sync.WaitGroup
	work.Go(func() {
		c.check(objects.Each(c.ctx, 8, c.perRound, func(ctx context.Context, i int) error {
			pod := objects.Mixed(from + i)
			defer close(made[i])
			return retry(ctx, func() error {
				_, err := c.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
				if apierrors.IsAlreadyExists(err) {
					return nil // made by a request whose answer was lost
				}
				return err
			})
		}))
	})
	// A tenth of the pods goes again, whether bound or not.
	gone := c.random.Perm(c.perRound)[:c.perRound/10]
	c.deleted += len(gone)
	work.Go(func() {
		c.check(objects.Each(c.ctx, 2, len(gone), func(ctx context.Context, i int) error {
			select {
			case <-made[gone[i]]:
			case <-ctx.Done():
				return ctx.Err()
			}
			return retry(ctx, func() error { return unlessGone(objects.Delete(ctx, c.client, objects.MixedName(from+gone[i]))) })
		}))
	})
	c.random.Shuffle(len(c.nodes), func(i, j int) { c.nodes[i], c.nodes[j] = c.nodes[j], c.nodes[i] })
	victims := slices.Clone(c.nodes[:goneNodes])
	c.nodes = c.nodes[goneNodes:]
	work.Go(func() {
		c.check(objects.Each(c.ctx, 1, len(victims), func(ctx context.Context, i int) error {
			time.Sleep(20 * time.Millisecond)
			return retry(ctx, func() error {
				return unlessGone(c.client.CoreV1().Nodes().Delete(ctx, objects.NodeName(victims[i]), objects.AtOnce()))
			})
		}))
	})
	part := before + c.perRound/4 + c.random.IntN(c.perRound/4)
	c.someBound(part)
	c.subject.Kill()
	if killAPI {
		cluster.KillAPIServer()
		time.Sleep(500 * time.Millisecond)
		c.ok(cluster.StartAPIServer(c.ctx))
	}
	c.restart()
	work.Wait()
}

// unlessGone is the error of a deletion, unless what was to be deleted is gone: an answer
// was lost.
func unlessGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// check reports an error of a goroutine.
func (c *chaos) check(err error) {
	if err != nil {
		c.Error(err)
	}
}

// retry does something until it works: the API server is killed now and then.
func retry(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// calm waits until every pod is bound, and compares the snapshot with the API.
func (c *chaos) calm(round int) {
	c.Helper()
	want := c.created - c.deleted
	if err := c.guard.Wait(c.ctx, fmt.Sprintf("calm after round %d", round), viewBound(want)); err != nil {
		c.Fatal(err, c.unbound())
	}
	if v := c.guard.View(); v.Binds > v.Created {
		c.Errorf("%d bindings of %d pods", v.Binds, v.Created)
	}
	difference := ""
	c.Cleanup(func() {
		if c.Failed() && difference != "" {
			c.Log(difference)
		}
	})
	c.eventually("the snapshot equals the API", func() bool {
		got, err := c.subject.snapshot()
		if err != nil {
			difference = err.Error()
			return false
		}
		difference = compare(c.api(), got)
		return difference == ""
	})
	c.Logf("round %d: %d pods on %d nodes, %d bindings, %d of them to deleted nodes", round, want, len(c.nodes), c.guard.View().Binds, c.guard.View().Late)
}

// api is the pods of every node as the API has them.
func (c *chaos) api() map[string][]string {
	c.Helper()
	nodes, err := c.client.CoreV1().Nodes().List(c.ctx, metav1.ListOptions{})
	c.ok(err)
	pods, err := c.client.CoreV1().Pods(objects.Namespace).List(c.ctx, metav1.ListOptions{})
	c.ok(err)
	all := map[string][]string{}
	for i := range nodes.Items {
		all[nodes.Items[i].Name] = []string{}
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if _, ok := all[p.Spec.NodeName]; ok && p.Status.Phase != v1.PodSucceeded && p.Status.Phase != v1.PodFailed {
			all[p.Spec.NodeName] = append(all[p.Spec.NodeName], p.Name)
		}
	}
	for _, list := range all {
		slices.Sort(list)
	}
	return all
}

// compare says how two assignments of pods to nodes differ, "" if they do not.
func compare(want, got map[string][]string) string {
	for _, node := range slices.Sorted(maps.Keys(want)) {
		if pods, ok := got[node]; !ok || !slices.Equal(want[node], pods) {
			return fmt.Sprintf("node %s has %v in the API, and %v (there: %t) in the snapshot", node, want[node], pods, ok)
		}
	}
	for _, node := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[node]; !ok {
			return fmt.Sprintf("node %s is in the snapshot and not in the API", node)
		}
	}
	return ""
}
