package direct_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/google/go-cmp/cmp"

	"github.com/berth-sched/berth/scheduling/kube/internal/direct"
)

func binding() *corev1.Binding {
	return &corev1.Binding{
		TypeMeta:   metav1.TypeMeta{Kind: "Binding", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u"},
		Target:     corev1.ObjectReference{Kind: "Node", Name: "a"},
	}
}

const path = "api/v1/namespaces/shop/pods/web/binding"

// poster returns a poster for a server below a path, and the configuration that it is from.
func poster(t *testing.T, c rest.Config, below string, handle http.HandlerFunc) direct.Poster {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	c.Host = server.URL + below
	client, err := kubernetes.NewForConfig(&c)
	if err != nil {
		t.Fatal(err)
	}
	return direct.New(client.CoreV1().RESTClient())
}

// The request is the one that client-go sends: path, headers and body.
func TestSameRequest(t *testing.T) {
	for _, below := range []string{"", "/", "/clusters/one", "/clusters/one/"} {
		type request struct{ Method, URI, Content, Accept, Agent, Authorization, Body string }
		var got []request
		c := rest.Config{BearerToken: "secret", UserAgent: "me", QPS: -1, ContentConfig: rest.ContentConfig{
			ContentType: runtime.ContentTypeProtobuf, AcceptContentTypes: runtime.ContentTypeProtobuf,
		}}
		var host string
		p := poster(t, c, below, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			host = r.Host
			got = append(got, request{r.Method, r.RequestURI, r.Header.Get("Content-Type"), r.Header.Get("Accept"), r.UserAgent(), r.Header.Get("Authorization"), string(body)})
			w.WriteHeader(http.StatusCreated)
		})
		if answer, err := p.Post(context.Background(), path, binding()); !answer.IsDone() || err != nil {
			t.Fatalf("Post = %d, %v", answer, err)
		}
		c.Host = "http://" + host + below
		client, err := kubernetes.NewForConfig(&c)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.CoreV1().Pods("shop").Bind(context.Background(), binding(), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got[1], got[0]); diff != "" {
			t.Errorf("below %q: the request differs from client-go's (-want +got)\n%s", below, diff)
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(got[0].Body), nil, nil)
		if b, ok := object.(*corev1.Binding); err != nil || !ok || b.UID != "u" || b.Target.Name != "a" {
			t.Errorf("below %q: the body is %v, %v", below, object, err)
		}
	}
}

// Only the API server's word counts as success. An answer that says something else is no
// error: the caller asks again. Without an answer nobody knows.
func TestAnswers(t *testing.T) {
	for _, test := range []struct {
		status          int // 0: the connection ends
		done, uncertain bool
	}{{200, true, false}, {201, true, false}, {202, true, false}, {304, false, false}, {401, false, false}, {409, false, true}, {429, false, false}, {500, false, true}, {504, false, true}, {0, false, false}} {
		p := poster(t, rest.Config{}, "", func(w http.ResponseWriter, _ *http.Request) {
			if test.status == 0 {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(test.status)
		})
		answer, err := p.Post(context.Background(), path, binding())
		if answer.IsDone() != test.done || answer.IsUncertain() != test.uncertain || (err != nil) != (test.status == 0) {
			t.Errorf("status %d: Post = %d, %v; want done %t, uncertain %t", test.status, answer, err, test.done, test.uncertain)
		}
	}
}

// Posting counts against the limits of the client.
func TestLimits(t *testing.T) {
	asked := 0
	p := poster(t, rest.Config{QPS: 1e-3, Burst: 2}, "", func(http.ResponseWriter, *http.Request) { asked++ })
	ctx, cancel := context.WithCancel(context.Background())
	for range 2 {
		if answer, err := p.Post(ctx, path, binding()); !answer.IsDone() || err != nil {
			t.Fatalf("Post = %d, %v", answer, err)
		}
	}
	cancel()
	if answer, err := p.Post(ctx, path, binding()); answer.IsDone() || !errors.Is(err, context.Canceled) || asked != 2 {
		t.Errorf("Post = %d, %v after %d requests; want it to wait", answer, err, asked)
	}
}

// What net/http alone does, such as a timeout, is left to client-go's requests.
func TestTimeout(t *testing.T) {
	p := poster(t, rest.Config{Timeout: time.Hour}, "", func(http.ResponseWriter, *http.Request) { t.Error("it posts") })
	if answer, err := p.Post(context.Background(), path, binding()); answer.IsDone() || err != nil {
		t.Errorf("Post = %d, %v; want false", answer, err)
	}
}

// Without a transport nothing is posted.
func TestFake(t *testing.T) {
	p := direct.New(fake.NewClientset().CoreV1().RESTClient())
	if answer, err := p.Post(context.Background(), path, binding()); answer.IsDone() || err != nil {
		t.Errorf("Post by a fake = %d, %v; want nothing posted", answer, err)
	}
}
