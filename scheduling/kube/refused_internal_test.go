package kube

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling"
	"github.com/berth-sched/berth/scheduling/kube/internal/feed"
)

func status(w http.ResponseWriter, code int, reason metav1.StatusReason, after string) {
	w.Header().Set("Content-Type", "application/json")
	if after != "" {
		w.Header().Set("Retry-After", after)
	}
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Code: int32(code), Reason: reason})
}

// TestRefusedSecondTime: a client sends a write again by itself after an error of the storage that says when to come
// back. If the second one is refused, the first may have been carried out.
func TestRefusedSecondTime(t *testing.T) {
	for _, second := range []struct {
		name   string
		code   int
		reason metav1.StatusReason
		after  string
	}{{"429", 429, metav1.StatusReasonTooManyRequests, "0"}, {"401", 401, metav1.StatusReasonUnauthorized, ""}, {"403", 403, metav1.StatusReasonForbidden, ""}} {
		t.Run(second.name, func(t *testing.T) {
			var live *resourcev1.ResourceClaim
			puts, gets := 0, 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == "GET" {
					gets++
					w.Header().Set("Content-Type", "application/json")
					json.NewEncoder(w).Encode(live)
					return
				}
				puts++
				if puts == 1 {
					b, _ := io.ReadAll(r.Body)
					c := new(resourcev1.ResourceClaim)
					if err := json.Unmarshal(b, c); err != nil {
						t.Error(err)
					}
					c.ResourceVersion = "2"
					live = c
					status(w, 500, metav1.StatusReasonServerTimeout, "0")
					return
				}
				status(w, second.code, second.reason, second.after)
			}))
			defer srv.Close()
			client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL, QPS: 1000, Burst: 1000, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
			s, err := New(Config{Client: client, Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			s.cluster = feed.New(client, feed.Served{"resourceclaims": true, "deviceclasses": true}, func(err error) { t.Error(err) })
			next := &resourcev1.ResourceClaim{TypeMeta: metav1.TypeMeta{Kind: "ResourceClaim", APIVersion: "resource.k8s.io/v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c", UID: "c", ResourceVersion: "1"}}
			next.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: "d", Pool: "p", Device: "x"}}}}
			got, err := claimBinder{s}.give(context.Background(), client.ResourceV1().ResourceClaims("default"), next, func() {})
			if err != nil || got == nil || puts < 2 || gets == 0 {
				t.Errorf("%d writes, %d reads: %t, %v; want the claim that has the device", puts, gets, got != nil, err)
			}
		})
	}
}

// TestBindingRefusedSecondTime is the same for a binding.
func TestBindingRefusedSecondTime(t *testing.T) {
	bound := ""
	posts := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "p"}, Spec: corev1.PodSpec{NodeName: bound}})
			return
		}
		if r.URL.Path != "/api/v1/namespaces/default/pods/p/binding" {
			status(w, 404, metav1.StatusReasonNotFound, "")
			return
		}
		posts++
		switch posts {
		case 1: // throttled
			status(w, 429, metav1.StatusReasonTooManyRequests, "0")
		case 2: // carried out, etcd timed out
			bound = "a"
			status(w, 500, metav1.StatusReasonServerTimeout, "0")
		default:
			status(w, 429, metav1.StatusReasonTooManyRequests, "0")
		}
	}))
	defer srv.Close()
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: srv.URL, QPS: 1000, Burst: 1000, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	s, err := New(Config{Client: client, Profiles: []scheduling.Profile{scheduling.Kubernetes137()}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	pod := api.MakePod("p").Obj()
	pod.Namespace, pod.UID = "default", "p"
	err = s.Bind(context.Background(), pod, "a")
	if err != nil || bound != "a" {
		t.Errorf("after %d requests Bind says %v, and the pod is bound to %q", posts, err, bound)
	}
}
