package extender_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/extender"
)

// TestPasswordsAreKept: neither the name of an extender nor an error shows a password of its URL,
// whatever characters it has and whether or not the URL is valid.
func TestPasswordsAreKept(t *testing.T) {
	s := framework.NewSnapshot(framework.Arrival)
	if err := s.AddNode(api.MakeNode("n", "1", "1Gi").Obj()); err != nil {
		t.Fatal(err)
	}
	pod, err := s.NewPodInfo(api.MakePod("p").Obj())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{
		"http://user:SECRET@127.0.0.1:1/a", "http://SECRET@127.0.0.1:1/a", "http://user:SECRET/x@127.0.0.1:1/a", "http://user:SECRET#x@127.0.0.1:1/a",
		"http://user:12345#SECRET@127.0.0.1:1/a", "http://user:12345/SECRET@127.0.0.1:1/a", "http://user:12345?SECRET@127.0.0.1:1/",
		"http://user:SE%zzCRET@127.0.0.1:1/a", "//user:SECRET@127.0.0.1:1", "user:SECRET@127.0.0.1:1", "http:user:SECRET@127.0.0.1:1",
		"http:/user:SECRET@127.0.0.1:1", "http://user:SECRET@[::1/a", "http://us er:SECRET@127.0.0.1:1/", "http://user:SECRET@127.0.0.1:1/\x7f",
		"user:SECRET@127.0.0.1:1/x://y", "user:SECRET@127.0.0.1:1/?next=http://y", "http://user:SECRET%40127.0.0.1:1",
	} {
		c, err := extender.New(extender.Config{URLPrefix: at, FilterVerb: "f", Timeout: 10 * time.Second})
		if err != nil {
			t.Fatalf("%q: %v", at, err)
		}
		_, err = c.Filter(context.Background(), pod, []*framework.NodeInfo{s.Node("n")})
		if err == nil {
			t.Fatalf("%q answers", at)
		}
		for _, text := range []string{c.Extender().Name, err.Error()} {
			if strings.Contains(text, "CRET") || strings.Contains(text, "12345") {
				t.Errorf("%q shows its password: %s", at, text)
			}
		}
	}
}
