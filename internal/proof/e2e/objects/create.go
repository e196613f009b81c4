package objects

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Each calls do for every number below n, by so many workers, until one fails. With one
// worker the order is that of the numbers.
func Each(ctx context.Context, workers, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(ctx, i); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// workers is how many requests are made at once where their order does not matter.
const workers = 16

// CreateNodes makes nodes 0 to n-1.
func CreateNodes(ctx context.Context, client kubernetes.Interface, n int) error {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return CreateNodesOf(ctx, client, numbers)
}

// CreateNodesOf makes the nodes of these numbers.
func CreateNodesOf(ctx context.Context, client kubernetes.Interface, numbers []int) error {
	return Each(ctx, workers, len(numbers), func(ctx context.Context, i int) error {
		return CreateNode(ctx, client, Node(numbers[i]))
	})
}

// CreateNode makes a node.
func CreateNode(ctx context.Context, client kubernetes.Interface, node *v1.Node) error {
	if _, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create node %s: %w", node.Name, err)
	}
	return nil
}

// CreatePods makes pods 0 to n-1 of what pod returns, in any order.
func CreatePods(ctx context.Context, client kubernetes.Interface, n int, pod func(i int) *v1.Pod) error {
	return createPods(ctx, client, workers, n, pod)
}

// CreatePodsInOrder makes pods 0 to n-1 of what pod returns, one after the other.
func CreatePodsInOrder(ctx context.Context, client kubernetes.Interface, n int, pod func(i int) *v1.Pod) error {
	return createPods(ctx, client, 1, n, pod)
}

func createPods(ctx context.Context, client kubernetes.Interface, workers, n int, pod func(i int) *v1.Pod) error {
	return Each(ctx, workers, n, func(ctx context.Context, i int) error {
		p := pod(i)
		if _, err := client.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create pod %s: %w", p.Name, err)
		}
		return nil
	})
}

// Delete deletes a pod at once.
func Delete(ctx context.Context, client kubernetes.Interface, name string) error {
	return client.CoreV1().Pods(Namespace).Delete(ctx, name, AtOnce())
}

// AtOnce asks for a deletion without grace.
func AtOnce() metav1.DeleteOptions {
	none := int64(0)
	return metav1.DeleteOptions{GracePeriodSeconds: &none}
}
