package kube

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berth-sched/berth/scheduling"
)

// bindingServer is an API server with one pod, whose answers to bindings a test chooses.
type bindingServer struct {
	pod         *corev1.Pod // nil if it is gone
	sent, reads int
	answer      func(s *bindingServer) error // to a binding that is sent again; nil carries it out
	read        func(s *bindingServer) error
}

func (s *bindingServer) bind() error {
	if s.pod.Spec.NodeName != "" {
		return apierrors.NewConflict(corev1.Resource("pods/binding"), "p", errors.New("already assigned"))
	}
	s.pod.Spec.NodeName = "a"
	return nil
}

func (s *bindingServer) react(a clienttesting.Action) (bool, kruntime.Object, error) {
	if a.GetVerb() == "create" {
		s.sent++
		if err := s.answer(s); err != nil {
			return true, nil, err
		}
		return true, nil, s.bind()
	}
	if s.reads++; s.read != nil {
		if err := s.read(s); err != nil {
			return true, nil, err
		}
	}
	if s.pod == nil {
		return true, nil, apierrors.NewNotFound(corev1.Resource("pods"), "p")
	}
	return true, s.pod.DeepCopy(), nil
}

// The answer to a binding is lost: settle returns what has become of it, and no error as long as the API
// server may still carry it out.
func TestSettle(t *testing.T) {
	lost := func(*bindingServer) error { return errLost }
	for _, test := range []struct {
		name        string
		pod         func(*corev1.Pod) // what the API server knows when the answer is lost
		answer      func(*bindingServer) error
		read        func(s *bindingServer) error
		err         error // of the first binding; nil: lost
		cancel      bool  // the binding has ended
		bound       bool
		sent        int // again
		least, most time.Duration
	}{
		{name: "carried out", pod: func(p *corev1.Pod) { p.Spec.NodeName = "a" }, bound: true},
		{name: "another has bound it", pod: func(p *corev1.Pod) { p.Spec.NodeName = "b" }},
		{name: "another pod has its name", pod: func(p *corev1.Pod) { p.UID = "other" }},
		{name: "gone", read: func(s *bindingServer) error { s.pod = nil; return nil }},
		{name: "not carried out, and carried out when it is sent again", answer: func(*bindingServer) error { return nil }, bound: true, sent: 1},
		{name: "carried out late, before it is sent again", answer: func(s *bindingServer) error { return s.bind() }, bound: true, sent: 1},
		{name: "carried out late, and the binding has ended", read: func(s *bindingServer) error {
			if s.reads == 10 {
				return s.bind()
			}
			return nil
		}, cancel: true, bound: true, least: 10 * time.Second, most: time.Minute},
		{name: "refused as the pod ends", pod: func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Now()} }, err: apierrors.NewConflict(corev1.Resource("pods/binding"), "p", errors.New("is being deleted"))},
		{
			name: "a conflict that is an error of the storage, carried out late",
			err:  apierrors.NewConflict(corev1.Resource("pods/binding"), "p", errors.New("etcdserver: request timed out")),
			read: func(s *bindingServer) error {
				if s.reads == 10 {
					return s.bind()
				}
				return nil
			}, cancel: true, bound: true, least: 10 * time.Second, most: time.Minute,
		},
		{name: "refused when it is sent again", answer: func(*bindingServer) error { return apierrors.NewForbidden(corev1.Resource("pods"), "p", nil) }, sent: 3, least: lateWrite, most: lateWrite + 10*time.Second},
		{name: "never carried out", answer: lost, sent: 3, least: lateWrite, most: lateWrite + 10*time.Second},
		{name: "never carried out, and the binding has ended", cancel: true, least: lateWrite, most: lateWrite + 10*time.Second},
		{name: "reads fail for an hour", pod: func(p *corev1.Pod) { p.Spec.NodeName = "a" }, read: func(s *bindingServer) error {
			if s.reads < 720 {
				return errLost
			}
			return nil
		}, bound: true, least: 59 * time.Minute, most: 61 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := &fake.Clientset{}
				s, err := New(Config{Client: client, Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Log: slog.New(slog.DiscardHandler)})
				if err != nil {
					t.Fatal(err)
				}
				server := &bindingServer{pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "p"}}, answer: test.answer, read: test.read}
				if test.pod != nil {
					test.pod(server.pod)
				}
				client.AddReactor("*", "pods", server.react)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				if test.cancel {
					cancel()
				}
				if err = test.err; err == nil {
					err = errLost
				}
				b := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "p"}, Target: corev1.ObjectReference{Kind: "Node", Name: "a"}}
				began := time.Now()
				err = s.settle(ctx, context.Background(), b, err)
				took := time.Since(began)
				if (err == nil) != test.bound || server.sent != test.sent || took < test.least || took > max(test.most, time.Second) {
					t.Errorf("error %v after it was sent again %d times, and %v; want none: %t, %d times, %v to %v", err, server.sent, took, test.bound, test.sent, test.least, test.most)
				}
			})
		})
	}
	t.Run("Run ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client := &fake.Clientset{}
			s, err := New(Config{Client: client, Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			server := &bindingServer{read: func(*bindingServer) error { return errLost }}
			client.AddReactor("*", "pods", server.react)
			working, stop := context.WithTimeout(context.Background(), time.Second)
			defer stop()
			b := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "p"}}
			began := time.Now()
			if err := s.settle(context.Background(), working, b, errLost); err == nil || time.Since(began) != time.Second {
				t.Errorf("error %v after %v, want one after a second", err, time.Since(began))
			}
		})
	})
}
