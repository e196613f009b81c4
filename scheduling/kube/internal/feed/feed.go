package feed

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/lifecycle"
)

// feed is what a Cluster is without its kinds.
type feed struct {
	client any // the clientset, which may not support all ways of listing

	mu     sync.Mutex
	apply  func(...lifecycle.Event) // nil until the feed is opened
	report func(error)              // gets objects that cannot be converted
	kinds  []source
	change chan struct{} // closed when a volume or a claim changes, or anything is deleted

	Waiters atomic.Int64 // how many goroutines wait for changes
}

// A source follows the objects of one kind.
type source interface {
	follow(ctx context.Context)
	// The feed's lock must be held for the others.
	waiting() string // the name and what is wrong; "" once there was a list
	events() []lifecycle.Event
}

// client is the typed client of one kind.
type client[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// object is a pointer to an object of client-go.
type object[S any] interface {
	*S
	metav1.Object
}

// Objects are those of one kind: a store that client-go's reflector fills.
type Objects[D api.Object, S any, P object[S]] struct {
	feed    *feed
	name    string // such as "pods"
	lw      cache.ListerWatcher
	convert func(P) (*D, error)
	ended   func(P) bool // whether the object no longer counts; nil: it always does
	wakes   bool         // whether every change closes feed.change, not only a deletion

	known       map[string]*D
	terminating map[string]bool // those that are being deleted
	seen        string          // the newest version that lists and watches have told; "" for none
	synced      bool
	err         error // of the last list or watch
}

// follow adds the source of a kind to the feed. selector selects fields, "" for all.
func follow[D api.Object, S any, P object[S], L runtime.Object](f *feed, name, selector string, c client[L], convert func(P) (*D, error)) *Objects[D, S, P] {
	o := &Objects[D, S, P]{feed: f, name: name, convert: convert, known: map[string]*D{}, terminating: map[string]bool{}}
	o.lw = cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			opts.FieldSelector = selector
			l, err := c.List(ctx, opts)
			o.note(err)
			return l, err
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.FieldSelector = selector
			w, err := c.Watch(ctx, opts)
			o.note(err)
			return w, err
		},
	}, f.client)
	f.kinds = append(f.kinds, o)
	return o
}

func (o *Objects[D, S, P]) follow(ctx context.Context) {
	var expected P = new(S)
	cache.NewReflectorWithOptions(o.lw, expected, o, cache.ReflectorOptions{Name: o.name}).RunWithContext(ctx)
}

func (o *Objects[D, S, P]) waiting() string {
	switch {
	case o.synced:
		return ""
	case o.err != nil:
		return o.name + ": " + o.err.Error()
	}
	return o.name
}

func (o *Objects[D, S, P]) note(err error) {
	o.feed.mu.Lock()
	defer o.feed.mu.Unlock()
	o.err = err
}

// events returns an event for every object.
func (o *Objects[D, S, P]) events() []lifecycle.Event {
	list := make([]lifecycle.Event, 0, len(o.known))
	for _, key := range slices.Sorted(maps.Keys(o.known)) {
		list = append(list, lifecycle.Update(o.known[key]))
	}
	return list
}

// Add implements [cache.ReflectorStore].
func (o *Objects[D, S, P]) Add(obj any) error { return o.Update(obj) }

// Update implements [cache.ReflectorStore].
func (o *Objects[D, S, P]) Update(obj any) error {
	p, err := o.object(obj)
	if err == nil {
		o.feed.mu.Lock()
		defer o.feed.mu.Unlock()
		o.put(KeyOf(p), p)
		o.see(p.GetResourceVersion())
	}
	return err
}

func (o *Objects[D, S, P]) object(obj any) (P, error) {
	p, ok := obj.(P)
	if !ok {
		return nil, fmt.Errorf("%s: got a %T", o.name, obj)
	}
	return p, nil
}

// Delete implements [cache.ReflectorStore].
func (o *Objects[D, S, P]) Delete(obj any) error {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	p, err := o.object(obj)
	if err == nil {
		o.feed.mu.Lock()
		defer o.feed.mu.Unlock()
		if key := KeyOf(p); !o.succeeds(key, p) {
			o.remove(key)
		}
		o.see(p.GetResourceVersion())
	}
	return err
}

// Replace implements [cache.ReflectorStore]: the list, of this version, is all that there is.
// What was written later stays: the watch that follows tells what becomes of it.
func (o *Objects[D, S, P]) Replace(list []any, version string) error {
	all := make(map[string]P, len(list))
	for _, obj := range list {
		p, err := o.object(obj)
		if err != nil {
			return err
		}
		all[KeyOf(p)] = p
	}
	o.feed.mu.Lock()
	defer o.feed.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(o.known)) {
		if all[key] == nil && !(o.ahead(key) && after(api.MetaOf(o.known[key]).ResourceVersion, version)) {
			o.remove(key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		o.put(key, all[key])
	}
	for _, p := range all {
		o.see(p.GetResourceVersion())
	}
	o.see(version)
	o.synced = true
	return nil
}

// Resync implements [cache.ReflectorStore].
func (o *Objects[D, S, P]) Resync() error { return nil }

// Written notes an object as the API server has answered to a write. The driver hears of it
// before Written returns, and what lists and watches still tell of the time before the write
// undoes nothing. An object that they have told the end of does not come back.
func (o *Objects[D, S, P]) Written(p P) {
	o.feed.mu.Lock()
	defer o.feed.mu.Unlock()
	key := KeyOf(p)
	// If the object is not known, either the watch has not reached the write, or it has
	// passed the object's end, whose version is higher.
	if known := o.known[key]; known != nil && api.MetaOf(known).UID == api.UID(p.GetUID()) || after(p.GetResourceVersion(), o.seen) {
		o.put(key, p)
	}
}

// see notes that a list or a watch has told everything up to a version.
func (o *Objects[D, S, P]) see(version string) {
	if after(version, o.seen) {
		o.seen = version
	}
}

// after reports whether version a is certainly newer than b; "" is older than all.
func after(a, b string) bool {
	order, ok := api.CompareResourceVersions(a, b)
	return ok && order > 0 || b == "" && a != ""
}

// ahead reports whether the known version of an object was written, and no list or watch has
// reached it.
func (o *Objects[D, S, P]) ahead(key string) bool {
	return after(api.MetaOf(o.known[key]).ResourceVersion, o.seen)
}

// succeeds reports whether the known object was written after p, another one of its name, which
// a list or a watch still tells of.
func (o *Objects[D, S, P]) succeeds(key string, p P) bool {
	known := o.known[key]
	return known != nil && api.MetaOf(known).UID != api.UID(p.GetUID()) && o.ahead(key) &&
		after(api.MetaOf(known).ResourceVersion, p.GetResourceVersion())
}

// put notes a version of an object, unless it is known.
func (o *Objects[D, S, P]) put(key string, p P) {
	if o.ended != nil && o.ended(p) {
		o.remove(key)
		return
	}
	if known := o.known[key]; known != nil {
		m := api.MetaOf(known)
		if o.succeeds(key, p) {
			return
		}
		if m.UID != api.UID(p.GetUID()) {
			o.remove(key)
		} else if order, ok := api.CompareResourceVersions(p.GetResourceVersion(), m.ResourceVersion); ok && order <= 0 {
			return
		}
	}
	d, err := o.convert(p)
	if err != nil {
		o.feed.report(err)
		return
	}
	o.known[key] = d
	if api.MetaOf(d).DeletionTimestamp != nil {
		o.terminating[key] = true
	}
	o.feed.tell(lifecycle.Update(d), o.wakes)
}

func (o *Objects[D, S, P]) remove(key string) {
	if known := o.known[key]; known != nil {
		delete(o.known, key)
		delete(o.terminating, key)
		o.feed.tell(lifecycle.Delete(known), true)
	}
}

// tell passes an event on. Those who wait for the cluster to change look again if it wakes
// them.
func (f *feed) tell(e lifecycle.Event, wakes bool) {
	if f.apply != nil {
		f.apply(e)
	}
	if wakes {
		close(f.change)
		f.change = make(chan struct{})
	}
}

// Get returns the newest version of an object, nil if there is none.
func (o *Objects[D, S, P]) Get(key string) *D {
	o.feed.mu.Lock()
	defer o.feed.mu.Unlock()
	return o.known[key]
}

// Terminating returns the objects that are being deleted, in the order of their keys.
func (o *Objects[D, S, P]) Terminating() []*D {
	o.feed.mu.Lock()
	defer o.feed.mu.Unlock()
	list := make([]*D, 0, len(o.terminating))
	for _, key := range slices.Sorted(maps.Keys(o.terminating)) {
		list = append(list, o.known[key])
	}
	return list
}

// KeyOf returns the key of an object: its namespace and name, or its name.
func KeyOf(m metav1.Object) string {
	if m.GetNamespace() == "" {
		return m.GetName()
	}
	return m.GetNamespace() + "/" + m.GetName()
}

// Changed returns a channel that is closed when a volume or a claim changes, or anything is
// deleted.
func (f *feed) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.change
}

// Run follows all kinds until ctx is done.
func (f *feed) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, k := range f.kinds {
		wg.Go(func() { k.follow(ctx) })
	}
	wg.Wait()
}

// Waiting says for which kinds the first list is missing, and why; "" for none.
func (f *feed) Waiting() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for _, k := range f.kinds {
		if w := k.waiting(); w != "" {
			list = append(list, w)
		}
	}
	return strings.Join(list, "; ")
}

// Open gives everything known to the driver, kind by kind and in the order of keys, and
// every change from then on.
func (f *feed) Open(apply func(...lifecycle.Event)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.apply = apply
	for _, k := range f.kinds {
		apply(k.events()...)
	}
}
