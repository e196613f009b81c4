package scenarios

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/berth-sched/berth/internal/proof/e2e/guard"
	"github.com/berth-sched/berth/internal/proof/e2e/objects"
)

// TestDeletedWhileBinding deletes nodes and pods while pods are bound. Every pod that is
// left gets a node.
func TestDeletedWhileBinding(t *testing.T) {
	s := begin(t)
	n, nodes := size(600, 5000), 200
	gonePods, goneNodes := n/10, nodes/5
	s.nodes(nodes)
	s.start()
	random := rand.New(rand.NewPCG(2, 2))
	pods, victims := random.Perm(n), random.Perm(nodes)[:goneNodes]
	var deleting sync.WaitGroup
	deleting.Go(func() {
		if err := objects.Each(s.ctx, 4, gonePods, func(ctx context.Context, i int) error {
			name := objects.MixedName(pods[i])
			for ctx.Err() == nil {
				err := objects.Delete(ctx, s.client, name)
				if !apierrors.IsNotFound(err) {
					return err
				}
				time.Sleep(20 * time.Millisecond) // not created yet
			}
			return context.Cause(ctx)
		}); err != nil {
			t.Error(err)
		}
	})
	deleting.Go(func() {
		for i, node := range victims {
			if err := s.guard.Wait(s.ctx, "bindings", func(v guard.View) bool { return v.Binds >= i*n/(2*goneNodes) }); err != nil {
				t.Error(err)
				return
			}
			if err := s.client.CoreV1().Nodes().Delete(s.ctx, objects.NodeName(node), objects.AtOnce()); err != nil {
				t.Error(err)
				return
			}
		}
	})
	s.pods(n, objects.Mixed)
	deleting.Wait()
	v := s.bound(n - gonePods)
	if v.Nodes != nodes-goneNodes {
		t.Errorf("%d nodes are left, want %d", v.Nodes, nodes-goneNodes)
	}
	t.Logf("%d bindings, %d of them to nodes that had just been deleted", v.Binds, v.Late)
}
