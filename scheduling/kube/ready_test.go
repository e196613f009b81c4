package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/kube/internal/feed"
)

// BenchmarkReady measures what a scheduler does from the first lists to the first decision,
// with a full cluster: conversion, the feed, and the driver's snapshot.
func BenchmarkReady(b *testing.B) {
	const nodes, pods = 500, 50_000
	capacity := corev1.ResourceList{"cpu": resource.MustParse("64"), "memory": resource.MustParse("256Gi"), "pods": resource.MustParse("250")}
	var nodeList, podList []any
	for i := range nodes {
		nodeList = append(nodeList, &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("node-", i), ResourceVersion: "1", Labels: map[string]string{"kubernetes.io/hostname": fmt.Sprint("node-", i)}},
			Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
		})
	}
	for i := range pods {
		name := fmt.Sprintf("web-%d", i)
		podList = append(podList, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), ResourceVersion: "1", Labels: map[string]string{"app": fmt.Sprint("app-", i%100)}},
			Spec: corev1.PodSpec{NodeName: fmt.Sprint("node-", i%nodes), Containers: []corev1.Container{{
				Name: "main", Image: "image",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("100Mi")}},
			}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		})
	}
	for b.Loop() {
		s, err := New(Config{Client: fake.NewClientset(), Profiles: []scheduling.Profile{scheduling.Kubernetes137()}})
		if err != nil {
			b.Fatal(err)
		}
		s.cluster = feed.New(s.config.Client, feed.Served{}, func(err error) { b.Error(err) })
		if err := s.cluster.Nodes.Replace(nodeList, "1"); err != nil {
			b.Fatal(err)
		}
		if err := s.cluster.Pods.Replace(podList, "1"); err != nil {
			b.Fatal(err)
		}
		s.cluster.Open(s.driver.Apply)
		s.driver.Flush(context.Background())
		if got := s.driver.Counts().Assigned; got != pods {
			b.Fatalf("%d pods count on their nodes, want %d", got, pods)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/pods, "us/pod")
}

// Waiters look again at changes of volumes, and when anything is deleted.
func TestAwait(t *testing.T) {
	c := feed.New(fake.NewClientset(), feed.Served{}, func(err error) { t.Error(err) })
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v", ResourceVersion: "1"}}
	looked := make(chan int, 100)
	done := make(chan error, 1)
	go func() {
		n := 0
		done <- await(context.Background(), c, time.Minute, func() (bool, error) {
			n++
			looked <- n
			return n == 3, nil
		})
	}()
	<-looked
	if err := c.Volumes.Add(volume); err != nil {
		t.Fatal(err)
	}
	<-looked
	if err := c.Volumes.Delete(volume); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	err := await(context.Background(), c, time.Millisecond, func() (bool, error) { return false, nil })
	if err == nil || err.Error() != "timed out after 1ms" {
		t.Errorf("await: %v", err)
	}
}

// Thousands of pods that wait do not look at every change: one user's pods whose volumes
// nobody makes kept all cores busy, and held up the feed.
func TestAwaitMany(t *testing.T) {
	const waiters = 5000
	c := feed.New(fake.NewClientset(), feed.Served{}, func(err error) { t.Error(err) })
	var looks atomic.Int64
	ctx, end := context.WithCancel(context.Background())
	began := time.Now()
	var wg sync.WaitGroup
	for range waiters {
		wg.Go(func() {
			err := await(ctx, c, time.Hour, func() (bool, error) {
				looks.Add(1)
				return false, nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("await: %v", err)
			}
		})
	}
	for looks.Load() < waiters {
		time.Sleep(time.Millisecond)
	}
	for i := range 200 {
		volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v", ResourceVersion: fmt.Sprint(i + 1)}}
		if err := c.Volumes.Add(volume); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	end()
	wg.Wait()
	rounds := 2 + int64(time.Since(began)/(waiters*lookShare))
	if n := looks.Load(); n > rounds*waiters {
		t.Errorf("%d waiters looked %d times, want at most %d times each", waiters, n, rounds)
	}
}

// What a look takes counts: all pods that wait look for a tenth of the time of one core together, unless
// they would then look less than once a second.
func TestAwaitLongLooks(t *testing.T) {
	for _, test := range []struct {
		waiters     int64
		takes, want time.Duration // a look, and from one to the next
	}{
		{1, 0, lookShare},
		{10, time.Microsecond, 10 * lookShare},
		{10, time.Millisecond, 100 * time.Millisecond},
		{500, time.Millisecond, time.Second},
		{1, 2 * time.Second, 2 * time.Second},
	} {
		t.Run(fmt.Sprintf("%d pods look for %v", test.waiters, test.takes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // time passes when everything waits
				c := feed.New(&fake.Clientset{}, feed.Served{}, func(err error) { t.Error(err) })
				c.Waiters.Add(test.waiters - 1)
				var looks []time.Time
				err := await(t.Context(), c, time.Hour, func() (bool, error) {
					looks = append(looks, time.Now())
					time.Sleep(test.takes)
					volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v", ResourceVersion: fmt.Sprint(len(looks))}}
					return len(looks) == 4, c.Volumes.Add(volume)
				})
				if err != nil {
					t.Error(err)
				}
				for i := range looks[1:] {
					if apart := looks[i+1].Sub(looks[i]); apart != test.want {
						t.Errorf("look %d comes %v after the one before, want %v", i+1, apart, test.want)
					}
				}
			})
		})
	}
}

// A look begins where the last one stopped, and finds nothing ready that is not.
func TestResumed(t *testing.T) {
	const n = 5
	failure := errors.New("it is gone")
	var (
		state  [n]error // nil: ready
		looked []int
	)
	wait := errors.New("not yet")
	look := resumed(n, func(i int) (bool, error) {
		looked = append(looked, i)
		if err := state[i]; err != wait {
			return err == nil, err
		}
		return false, nil
	})
	for _, step := range []struct {
		name    string
		set     map[int]error
		ok      bool
		err     error
		looksAt []int
	}{
		{"the fourth is not ready", map[int]error{3: wait}, false, nil, []int{0, 0, 1, 2, 3}},
		{"nothing has changed", nil, false, nil, []int{3}},
		{"the second is not any more", map[int]error{1: wait}, false, nil, []int{3}},
		{"the fourth is ready", map[int]error{3: nil}, false, nil, []int{3, 0, 1}},
		{"the second is ready, and the first is gone", map[int]error{0: failure, 1: nil}, false, failure, []int{1, 0}},
		{"all are ready", map[int]error{0: nil}, true, nil, []int{0, 0, 1, 2, 3, 4}},
	} {
		for i, err := range step.set {
			state[i] = err
		}
		looked = nil
		if ok, err := look(); ok != step.ok || err != step.err || !slices.Equal(looked, step.looksAt) {
			t.Errorf("%s: %t, %v after a look at %v; want %t, %v, %v", step.name, ok, err, looked, step.ok, step.err, step.looksAt)
		}
	}
	none := resumed(0, func(int) (bool, error) { return false, failure })
	if ok, err := none(); !ok || err != nil {
		t.Errorf("nothing to look at: %t, %v, want it ready", ok, err)
	}
}

// A pod of the same name is another one.
func TestStillThere(t *testing.T) {
	c := feed.New(fake.NewClientset(), feed.Served{}, func(err error) { t.Error(err) })
	if err := c.Nodes.Add(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", ResourceVersion: "1"}}); err != nil {
		t.Fatal(err)
	}
	old := api.MakePod("web-0").UID("old").Obj()
	for _, step := range []struct {
		uid  types.UID
		want bool
	}{{"", false}, {"old", true}, {"new", false}} {
		if step.uid != "" {
			if err := c.Pods.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-0", UID: step.uid, ResourceVersion: "1"}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := stillThere(c, old, "n"); (err == nil) != step.want {
			t.Errorf("with a pod of UID %q: %v; the old pod is there: %t", step.uid, err, step.want)
		}
	}
}
