package kube

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A claimReleaser takes pods that wait out of the reservedFor of claims that are being deleted. A failed
// binding leaves them there, and no attempt uses such a claim: the claim would stay until its pod is
// gone, and the pod would wait until the claim is.
type claimReleaser struct {
	s     *Scheduler
	again map[string]time.Time // claims whose write has failed, by key: when it is tried again
	last  map[string]string    // by namespace: the key of the claim that was looked at last
}

const (
	releaseEvery = time.Second      // between two looks
	releaseAgain = 30 * time.Second // after a write that failed
	releaseMost  = 20               // claims of one namespace in a look, so that others' do not wait for thousands
	releaseSeen  = 10 * releaseMost // claims of one namespace that are looked at for these
)

// A keptClaim is one that is being deleted, and its users that are on no node.
type keptClaim struct {
	claim *api.ResourceClaim
	users []*api.Pod
}

// run looks at the claims until ctx ends. It begins when the API server certainly carries out no binding
// any more that another process has sent before.
func (r *claimReleaser) run(ctx context.Context) {
	for err := pause(ctx, lateWrite); err == nil; err = pause(ctx, releaseEvery) {
		r.look(ctx)
	}
}

// look releases the claims that are being deleted from pods that wait.
func (r *claimReleaser) look(ctx context.Context) {
	kept := r.kept()
	if len(kept) == 0 {
		return
	}
	// The driver has heard of all these claims that they are being deleted, so a pod that waits now gets
	// no place before they are gone.
	err := r.s.driver.Do(ctx, func(*framework.Snapshot) {
		for i := range kept {
			kept[i].users = slices.DeleteFunc(kept[i].users, func(p *api.Pod) bool { return !r.s.driver.Waits(p) })
		}
	})
	if err != nil {
		return
	}
	for _, k := range kept {
		if len(k.users) == 0 {
			continue
		}
		if err := r.release(ctx, k); err != nil && ctx.Err() == nil {
			r.again[k.claim.Key()] = time.Now().Add(releaseAgain)
			r.s.warn("a claim that is being deleted stays reserved for pods that wait", "claim", k.claim.Key(), "error", err)
		}
	}
}

// kept lists claims to look at: one of each namespace, then a second of each, and so on. Those of a namespace
// have their turns in the order of their keys.
func (r *claimReleaser) kept() (list []keptClaim) {
	now, last := time.Now(), map[string]string{}
	var rounds [releaseMost][]keptClaim
	maps.DeleteFunc(r.again, func(_ string, at time.Time) bool { return !now.Before(at) })
	for _, claims := range byNamespace(r.s.cluster.Devices.Terminating()) {
		namespace := claims[0].Namespace
		first, _ := slices.BinarySearchFunc(claims, r.last[namespace]+"\x00", func(c *api.ResourceClaim, key string) int { return strings.Compare(c.Key(), key) })
		found := 0
		for i := range min(len(claims), releaseSeen) {
			c := claims[(first+i)%len(claims)]
			if found == releaseMost {
				break
			}
			last[namespace] = c.Key()
			if _, failed := r.again[c.Key()]; failed {
				continue
			}
			if users := r.unbound(c); len(users) > 0 {
				rounds[found] = append(rounds[found], keptClaim{c, users})
				found++
			}
		}
	}
	r.last = last // without namespaces that are gone
	return slices.Concat(rounds[:]...)
}

// byNamespace splits a list that is sorted by key.
func byNamespace(claims []*api.ResourceClaim) (lists [][]*api.ResourceClaim) {
	for len(claims) > 0 {
		n := slices.IndexFunc(claims, func(c *api.ResourceClaim) bool { return c.Namespace != claims[0].Namespace })
		if n < 0 {
			n = len(claims)
		}
		lists, claims = append(lists, claims[:n]), claims[n:]
	}
	return lists
}

// unbound lists the users of a claim that are on no node.
func (r *claimReleaser) unbound(c *api.ResourceClaim) (list []*api.Pod) {
	for _, u := range c.Status.ReservedFor {
		if u.Resource != "pods" || u.APIGroup != "" {
			continue
		}
		p := r.s.cluster.Pods.Get((&api.ObjectMeta{Namespace: c.Namespace, Name: u.Name}).Key())
		if p != nil && p.UID == u.UID && p.Spec.NodeName == "" {
			list = append(list, p)
		}
	}
	return list
}

// releaseLine is the line of these writes, of whatever namespace: in that of its own, a claim would wait for all
// writes of the namespace, and those of other namespaces for it.
const releaseLine = ""

// release takes the users out of the claim.
func (r *claimReleaser) release(ctx context.Context, k keptClaim) error {
	client := r.s.config.Client.ResourceV1().ResourceClaims(k.claim.Namespace)
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		return r.s.writes.do(ctx, releaseLine, func() error {
			live, err := client.Get(ctx, k.claim.Name, metav1.GetOptions{})
			switch {
			case apierrors.IsNotFound(err):
				return nil
			case err != nil:
				return err
			case live.UID != types.UID(k.claim.UID): // another one of its name
				return nil
			}
			live.Status.ReservedFor = slices.DeleteFunc(live.Status.ReservedFor, func(u resourcev1.ResourceClaimConsumerReference) bool {
				return slices.ContainsFunc(k.users, func(p *api.Pod) bool { return types.UID(p.UID) == u.UID })
			})
			if live, err = client.UpdateStatus(ctx, live, metav1.UpdateOptions{}); err == nil {
				r.s.cluster.Devices.Written(live)
			}
			return err
		})
	})
}
