package controlplane

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// scratch are the places in the store of all that scenarios make.
var scratch = []string{
	"pods/", "minions/", "events/", "persistentvolumeclaims/", "persistentvolumes/", "storageclasses/",
	"csinodes/", "resourceclaims/", "resourceslices/", "deviceclasses/", "poddisruptionbudgets/", "services/specs/default/e2e-", "priorityclasses/e2e-", "leases/kube-system/",
}

// Clean kills the schedulers and controllers that run, and takes all that they and their
// scenario made out of the store. It returns when the API server has seen that.
func (c *Cluster) Clean(ctx context.Context) error {
	c.mu.Lock()
	children := c.children
	c.children = nil
	c.mu.Unlock()
	for _, p := range children {
		p.Kill()
	}
	for _, place := range scratch {
		if _, err := c.etcdClient.Delete(ctx, "/registry/"+place, clientv3.WithPrefix()); err != nil {
			return fmt.Errorf("clean %s: %w", place, err)
		}
	}
	client, err := c.Client(Admin)
	if err != nil {
		return err
	}
	return empty(ctx, client)
}

// empty waits until the API server has seen that no node and no pod is left. Its lists are
// as new as the store, but only by the revision: of the keys that were deleted in one
// revision, it may have seen the first and not the last.
func empty(ctx context.Context, client kubernetes.Interface) error {
	one := metav1.ListOptions{Limit: 1}
	for end := time.Now().Add(ready); ; {
		pods, err := client.CoreV1().Pods("").List(ctx, one)
		if err != nil {
			return fmt.Errorf("clean: %w", err)
		}
		nodes, err := client.CoreV1().Nodes().List(ctx, one)
		if err != nil {
			return fmt.Errorf("clean: %w", err)
		}
		switch {
		case len(pods.Items)+len(nodes.Items) == 0:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("clean: the API server still has %d pods and %d nodes of a page", len(pods.Items), len(nodes.Items))
		}
		time.Sleep(20 * time.Millisecond)
	}
}
