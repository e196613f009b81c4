// Package guard watches the store below an API server and says what no scheduler may do.
//
// It reads etcd, not the API: it sees every change of every object in one order, also
// while the API server is dead, and it misses nothing.
package guard

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
)

// Keys from first to behind hold nodes, claims, volumes and pods, and neither events nor
// leases.
const (
	nodesPrefix   = "/registry/minions/"
	claimsPrefix  = "/registry/persistentvolumeclaims/"
	volumesPrefix = "/registry/persistentvolumes/"
	podsPrefix    = "/registry/pods/"

	first  = nodesPrefix
	behind = "/registry/pods0"
)

// Guard keeps a ledger of a running cluster.
type Guard struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	ledger  *Ledger
	uids    map[string]types.UID // key in the store to the UID of what was there
	changed chan struct{}        // closed at the next change
	err     error
	binds   Interval
}

// Interval is when something happened first and last.
type Interval struct{ First, Last time.Time }

// Length is the time between first and last.
func (i Interval) Length() time.Duration { return i.Last.Sub(i.First) }

// Watch reads what is in the store and follows every change from there on.
func Watch(ctx context.Context, etcd *clientv3.Client) (*Guard, error) {
	g := &Guard{
		ledger: NewLedger(), uids: map[string]types.UID{},
		done: make(chan struct{}), changed: make(chan struct{}),
	}
	revision, err := g.load(ctx, etcd)
	if err != nil {
		return nil, err
	}
	ctx, g.cancel = context.WithCancel(ctx)
	// A watch may not lag behind: revisions that were compacted away could not be seen.
	changes := etcd.Watch(clientv3.WithRequireLeader(ctx), first, clientv3.WithRange(behind),
		clientv3.WithRev(revision+1))
	go g.follow(ctx, changes)
	return g, nil
}

// load reads the store page by page, all at one revision.
func (g *Guard) load(ctx context.Context, etcd *clientv3.Client) (int64, error) {
	var revision int64
	for key := first; ; {
		options := []clientv3.OpOption{clientv3.WithRange(behind), clientv3.WithLimit(2000)}
		if revision != 0 {
			options = append(options, clientv3.WithRev(revision))
		}
		page, err := etcd.Get(ctx, key, options...)
		if err != nil {
			return 0, fmt.Errorf("read the store: %w", err)
		}
		if revision == 0 {
			revision = page.Header.Revision
		}
		for _, kv := range page.Kvs {
			if err := g.put(string(kv.Key), kv.Value); err != nil {
				return 0, err
			}
		}
		if !page.More {
			return revision, nil
		}
		key = string(page.Kvs[len(page.Kvs)-1].Key) + "\x00"
	}
}

// follow applies changes until the watch ends.
func (g *Guard) follow(ctx context.Context, changes clientv3.WatchChan) {
	defer close(g.done)
	for answer := range changes {
		now := time.Now()
		g.mu.Lock()
		if err := answer.Err(); err != nil && g.err == nil && ctx.Err() == nil {
			g.err = fmt.Errorf("watch of the store: %w", err)
		}
		before := g.ledger.Counts().Binds
		for _, event := range answer.Events {
			key := string(event.Kv.Key)
			if event.Type == clientv3.EventTypeDelete {
				g.remove(key)
			} else if err := g.put(key, event.Kv.Value); err != nil && g.err == nil {
				g.err = err
			}
		}
		if g.ledger.Counts().Binds > before {
			if g.binds.First.IsZero() {
				g.binds.First = now
			}
			g.binds.Last = now
		}
		close(g.changed)
		g.changed = make(chan struct{})
		g.mu.Unlock()
	}
}

// put tells the ledger what is under a key now.
func (g *Guard) put(key string, value []byte) error {
	switch {
	case strings.HasPrefix(key, podsPrefix):
		pod, err := decode[v1.Pod](key, value)
		if err != nil {
			return err
		}
		if old := g.uids[key]; old != "" && old != pod.UID {
			g.ledger.DeletePod(old)
		}
		g.uids[key] = pod.UID
		g.ledger.PutPod(pod)
	case strings.HasPrefix(key, nodesPrefix):
		node, err := decode[v1.Node](key, value)
		if err != nil {
			return err
		}
		g.ledger.PutNode(node)
	case strings.HasPrefix(key, claimsPrefix):
		claim, err := decode[v1.PersistentVolumeClaim](key, value)
		if err != nil {
			return err
		}
		g.uids[key] = claim.UID
		g.ledger.PutClaim(claim)
	case strings.HasPrefix(key, volumesPrefix):
		volume, err := decode[v1.PersistentVolume](key, value)
		if err != nil {
			return err
		}
		g.ledger.PutVolume(volume)
	}
	return nil
}

// remove tells the ledger that a key is gone.
func (g *Guard) remove(key string) {
	name := key[strings.LastIndexByte(key, '/')+1:]
	switch {
	case strings.HasPrefix(key, podsPrefix):
		g.ledger.DeletePod(g.uids[key])
	case strings.HasPrefix(key, nodesPrefix):
		g.ledger.DeleteNode(name)
	case strings.HasPrefix(key, claimsPrefix):
		g.ledger.DeleteClaim(g.uids[key])
	case strings.HasPrefix(key, volumesPrefix):
		g.ledger.DeleteVolume(name)
	}
	delete(g.uids, key)
}

// decode reads an object as the API server stores it.
func decode[T any, P interface {
	*T
	runtime.Object
}](key string, value []byte) (*T, error) {
	object := P(new(T))
	if _, _, err := scheme.Codecs.UniversalDeserializer().Decode(value, nil, object); err != nil {
		return nil, fmt.Errorf("object %s of the store: %w", key, err)
	}
	return (*T)(object), nil
}

// View is what the guard has seen.
type View struct {
	Counts
	Binding Interval // the first and the last binding seen since Watch
}

// View returns what the guard has seen until now.
func (g *Guard) View() View {
	g.mu.Lock()
	defer g.mu.Unlock()
	return View{Counts: g.ledger.Counts(), Binding: g.binds}
}

// Placements returns the node of every pod that is there, "" for none.
func (g *Guard) Placements() map[string]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ledger.Placements()
}

// Wait waits until enough holds. The error has the last view.
func (g *Guard) Wait(ctx context.Context, what string, enough func(View) bool) error {
	for {
		g.mu.Lock()
		view, changed, err := View{Counts: g.ledger.Counts(), Binding: g.binds}, g.changed, g.err
		g.mu.Unlock()
		switch {
		case err != nil:
			return err
		case enough(view):
			return nil
		}
		select {
		case <-changed:
		case <-g.done:
			return fmt.Errorf("wait for %s: the watch of the store ended", what)
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; %+v", what, ctx.Err(), view.Counts)
		}
	}
}

// Err is an error if the guard could not see everything, or saw what must not happen.
func (g *Guard) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return g.err
	}
	if broken := g.ledger.Broken(); len(broken) > 0 {
		return fmt.Errorf("%d times something happened that must not:\n%s", len(broken), strings.Join(broken[:min(20, len(broken))], "\n"))
	}
	return nil
}

// Stop ends the watch.
func (g *Guard) Stop() {
	g.cancel()
	<-g.done
}
