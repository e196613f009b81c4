package kube

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/kube/internal/feed"
)

// TestReleaseBesideOtherNamespace: a namespace that has many claims which are being deleted, and a long line of
// writes, does not keep a claim of another one from being released.
func TestReleaseBesideOtherNamespace(t *testing.T) {
	const line = 100                                 // pods that wait for a turn to write
	for _, evil := range []string{"evil", "zevil"} { // before the other one, and behind it
		t.Run(evil, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var objects []kruntime.Object
				add := func(namespace, name string) {
					p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + name), ResourceVersion: "1"}, Spec: corev1.PodSpec{SchedulerName: "default-scheduler", SchedulingGates: []corev1.PodSchedulingGate{{Name: "x"}}}}
					c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("c" + namespace + name), ResourceVersion: "1", DeletionTimestamp: &metav1.Time{Time: time.Now()}, Finalizers: []string{"x"}}}
					c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: name, UID: p.UID}}
					objects = append(objects, p, c)
				}
				for i := range 1000 {
					add(evil, fmt.Sprintf("c%04d", i))
				}
				add("good", "good")
				client := fake.NewClientset(objects...)
				s, err := New(Config{Client: client, Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				s.cluster = feed.New(client, feed.Served{"resourceclaims": true, "deviceclasses": true}, func(err error) { t.Error(err) })
				s.cluster.Open(s.driver.Apply)
				for _, o := range objects {
					switch o := o.(type) {
					case *corev1.Pod:
						err = s.cluster.Pods.Update(o)
					case *resourcev1.ResourceClaim:
						err = s.cluster.Devices.Update(o)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				ctx, cancel := context.WithCancel(context.Background())
				go s.driver.Run(ctx, nil)
				// A write takes 200 ms, so all together are 40 a second.
				for range line {
					go func() {
						for ctx.Err() == nil {
							_ = s.writes.do(ctx, evil, func() error { time.Sleep(200 * time.Millisecond); return nil })
						}
					}()
				}
				time.Sleep(time.Minute)
				began := time.Now()
				r := claimReleaser{s: s, again: map[string]time.Time{}}
				go r.run(ctx)
				released := func() bool {
					c, err := client.ResourceV1().ResourceClaims("good").Get(ctx, "good", metav1.GetOptions{})
					return err == nil && len(c.Status.ReservedFor) == 0
				}
				for !released() && time.Since(began) < time.Hour {
					time.Sleep(time.Second)
				}
				if took := time.Since(began); took > lateWrite+5*time.Second {
					t.Errorf("the claim is released after %v", took)
				}
				cancel()
				synctest.Wait()
				time.Sleep(time.Minute)
			})
		})
	}
}
