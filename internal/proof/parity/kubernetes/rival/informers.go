package rival

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/tools/cache"
)

// factory returns informers that hold only the objects put into them, at once. They
// list and watch no API server, and no goroutine runs. The groups that
// kube-scheduler uses are replaced; the others do not exist.
type factory struct {
	informers.SharedInformerFactory // nil, so that a call of anything not replaced panics

	lock      sync.Mutex
	informers map[reflect.Type]*informer
}

func newFactory() *factory { return &factory{informers: map[reflect.Type]*informer{}} }

// InformerFor returns the informer of objects like the given one.
func (f *factory) InformerFor(like runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	return f.of(like)
}

func (f *factory) of(like runtime.Object) *informer {
	f.lock.Lock()
	defer f.lock.Unlock()
	t := reflect.TypeOf(like)
	i, ok := f.informers[t]
	if !ok {
		i = &informer{Indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
		f.informers[t] = i
	}
	return i
}

// put adds an object and notifies all handlers.
func (f *factory) put(object runtime.Object) error {
	if _, err := meta.Accessor(object); err != nil {
		return fmt.Errorf("object of type %T: %w", object, err)
	}
	return f.of(object).put(object)
}

// clear removes all objects again, one by one.
func (f *factory) clear() error {
	f.lock.Lock()
	defer f.lock.Unlock()
	for _, i := range f.informers {
		if err := i.clear(); err != nil {
			return err
		}
	}
	return nil
}

func (f *factory) InformerName() *cache.InformerName                      { return nil }
func (f *factory) Start(<-chan struct{})                                  {}
func (f *factory) StartWithContext(context.Context)                       {}
func (f *factory) Shutdown()                                              {}
func (f *factory) WaitForCacheSync(<-chan struct{}) map[reflect.Type]bool { return nil }
func (f *factory) Apps() apps.Interface                                   { return apps.New(f, "", nil) }

func (f *factory) Core() core.Interface { return core.New(f, "", nil) }

func (f *factory) Policy() policy.Interface { return policy.New(f, "", nil) }

func (f *factory) Resource() resource.Interface { return resource.New(f, "", nil) }

func (f *factory) Scheduling() scheduling.Interface { return scheduling.New(f, "", nil) }

func (f *factory) Storage() storage.Interface { return storage.New(f, "", nil) }

// informer is a store that notifies its handlers of every change before it returns.
// It lists objects in the order of their keys, where the original follows the random
// order of a map. So any result that depends on the order has one right answer.
type informer struct {
	cache.Indexer
	handlers []cache.ResourceEventHandler
}

func (i *informer) put(object runtime.Object) error {
	old, exists, err := i.Get(object)
	if err != nil {
		return err
	}
	if err := i.Indexer.Add(object); err != nil {
		return err
	}
	for _, h := range i.handlers {
		if exists {
			h.OnUpdate(old, object)
		} else {
			h.OnAdd(object, false)
		}
	}
	return nil
}

// drop removes an object and notifies all handlers.
func (i *informer) drop(like runtime.Object) error {
	object, exists, err := i.Get(like)
	if err != nil || !exists {
		return err
	}
	if err := i.Indexer.Delete(object); err != nil {
		return err
	}
	for _, h := range i.handlers {
		h.OnDelete(object)
	}
	return nil
}

// List lists all objects.
func (i *informer) List() []any { return byKey(i.Indexer.List()) }

// Index lists the objects that share an index value with the given one.
func (i *informer) Index(name string, like any) ([]any, error) {
	list, err := i.Indexer.Index(name, like)
	return byKey(list), err
}

// ByIndex lists the objects with a given value in an index.
func (i *informer) ByIndex(name, value string) ([]any, error) {
	list, err := i.Indexer.ByIndex(name, value)
	return byKey(list), err
}

// byKey sorts objects.
func byKey(list []any) []any {
	slices.SortFunc(list, func(a, b any) int {
		x, y := a.(metav1.Object), b.(metav1.Object)
		return cmp.Or(cmp.Compare(x.GetNamespace(), y.GetNamespace()), cmp.Compare(x.GetName(), y.GetName()))
	})
	return list
}

func (i *informer) clear() error {
	for _, object := range i.List() {
		if err := i.Indexer.Delete(object); err != nil {
			return err
		}
		for _, h := range i.handlers {
			h.OnDelete(object)
		}
	}
	return nil
}

// AddEventHandler notifies the handler of all present objects, and from then on of
// every change.
func (i *informer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	for _, object := range i.List() {
		h.OnAdd(object, true)
	}
	i.handlers = append(i.handlers, h)
	return synced{}, nil
}

func (i *informer) AddEventHandlerWithResyncPeriod(h cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (i *informer) AddEventHandlerWithOptions(h cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandler(h)
}

func (i *informer) RemoveEventHandler(cache.ResourceEventHandlerRegistration) error { return nil }
func (i *informer) GetStore() cache.Store                                           { return i }

func (i *informer) GetIndexer() cache.Indexer                          { return i }
func (i *informer) GetController() cache.Controller                    { return nil }
func (i *informer) Run(<-chan struct{})                                {}
func (i *informer) RunWithContext(context.Context)                     {}
func (i *informer) HasSynced() bool                                    { return true }
func (i *informer) HasSyncedChecker() cache.DoneChecker                { return synced{} }
func (i *informer) LastSyncResourceVersion() string                    { return "" }
func (i *informer) SetTransform(cache.TransformFunc) error             { return nil }
func (i *informer) IsStopped() bool                                    { return false }
func (i *informer) SetWatchErrorHandler(cache.WatchErrorHandler) error { return nil }
func (i *informer) SetWatchErrorHandlerWithContext(cache.WatchErrorHandlerWithContext) error {
	return nil
}

// synced is always true.
type synced struct{}

func (synced) HasSynced() bool                     { return true }
func (synced) HasSyncedChecker() cache.DoneChecker { return synced{} }
func (synced) Name() string                        { return "synced" }
func (synced) Done() <-chan struct{}               { return closed }

var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
