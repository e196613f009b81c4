package frameworktest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/berth-sched/berth/framework"
	"github.com/berth-sched/berth/framework/api"
)

// A change is something that happens to a cluster while a pod stays the same.
type change struct {
	what string
	node string // the node that it happens to, "" for none
	// What a plugin must declare to read, any of it, for its answer to differ:
	// for that node, and for others.
	here, elsewhere framework.Reads
	apply           func(f *framework.Snapshot) error
}

const (
	anySum    = framework.ReadsDomain | framework.ReadsCluster
	anyObject = framework.ReadsNodeSet | anySum
)

// excuses reports whether the reads explain another answer for the node.
func (c *change) excuses(r framework.Reads, node string) bool {
	if node == c.node {
		return r&c.here != 0
	}
	return r&c.elsewhere != 0
}

// changes draws one of each kind of change.
func (k *kit) changes(r *rand.Rand) []change {
	everywhere := func(what string, reads framework.Reads, apply func(*framework.Snapshot) error) change {
		return change{what: what, here: reads, elsewhere: reads, apply: apply}
	}
	list := []change{
		everywhere("another time", framework.ReadsTime|framework.ReadsCluster, func(f *framework.Snapshot) error {
			f.SetNow(f.Now().Add(time.Duration(1+r.IntN(100_000)) * time.Second))
			return nil
		}),
		everywhere("other objects besides pods and nodes", framework.ReadsObjects|framework.ReadsCluster, k.changeObjects),
		everywhere("other volumes", framework.ReadsVolumes|framework.ReadsObjects|framework.ReadsCluster, k.changeVolumes),
		everywhere("other devices", framework.ReadsDevices|framework.ReadsPods|framework.ReadsObjects|framework.ReadsCluster, k.changeDevices),
		everywhere("a new node", anyObject, func(f *framework.Snapshot) error { return f.AddNode(k.newNode(r, "new-node")) }),
	}
	if k.snapshot.Len() == 0 {
		return list
	}
	name := k.snapshot.At(r.IntN(k.snapshot.Len())).Name()
	at := func(what string, here, elsewhere framework.Reads, apply func(*framework.Snapshot) error) {
		list = append(list, change{what, name, here, elsewhere, apply})
	}
	at("a pod that came to "+name, framework.ReadsPods|anySum, anySum, func(f *framework.Snapshot) error {
		p, err := f.NewPodInfo(k.newcomer(r))
		if err != nil {
			return err
		}
		return f.AddPod(p, name)
	})
	at("a pod nominated to "+name, framework.ReadsPods|anySum, anySum, func(f *framework.Snapshot) error {
		p, err := f.NewPodInfo(k.newcomer(r))
		if err != nil {
			return err
		}
		return f.Nominate(p, name, "")
	})
	if pods := k.snapshot.Node(name).Pods; len(pods) > 0 {
		leaver := pods[r.IntN(len(pods))]
		at(fmt.Sprintf("%s gone from %s", leaver.Pod.Key(), name), framework.ReadsPods|anySum, anySum,
			func(f *framework.Snapshot) error { return f.RemovePod(leaver, name) })
	}
	at("another object for "+name, framework.ReadsNode|anyObject, anyObject, func(f *framework.Snapshot) error { return f.UpdateNode(k.newNode(r, name)) })
	at(name+" gone", anyObject, anyObject|framework.ReadsFeasible, func(f *framework.Snapshot) error { return f.RemoveNode(name) })
	return list
}

// newcomer draws a pod that comes to a node: one like those that wait, with
// labels, ports and images that matter to others.
func (k *kit) newcomer(r *rand.Rand) *api.Pod {
	g := generator{Rand: r}
	p := g.pod("")
	if len(k.pods) > 0 && g.chance(60) {
		p = api.Clone(k.pods[g.IntN(len(k.pods))].Pod)
	}
	g.place(p, "newcomer", "")
	k.sprinkleOn(r, &p.ObjectMeta)
	return p
}

// changeObjects relabels namespaces and adds services.
func (k *kit) changeObjects(f *framework.Snapshot) error {
	for _, name := range namespaces {
		meta := api.ObjectMeta{Name: name, Labels: map[string]string{"team": "new"}}
		if err := framework.Put(f, &api.Namespace{ObjectMeta: meta}); err != nil {
			return err
		}
		service := &api.Service{ObjectMeta: api.ObjectMeta{Namespace: name, Name: "new"}}
		service.Spec.Selector = map[string]string{"app": "web"}
		if err := framework.Put(f, service); err != nil {
			return err
		}
	}
	return nil
}

// changeVolumes binds claims to a volume that is new.
func (k *kit) changeVolumes(f *framework.Snapshot) error {
	for _, name := range namespaces {
		claim := &api.PersistentVolumeClaim{ObjectMeta: api.ObjectMeta{Namespace: name, Name: "data"}}
		claim.Spec.VolumeName = "pv-new"
		if err := framework.Put(f, claim); err != nil {
			return err
		}
	}
	return framework.Put(f, &api.PersistentVolume{ObjectMeta: api.ObjectMeta{Name: "pv-new"}})
}

// changeDevices puts a class that selects nothing in place of each, and takes all slices away.
func (k *kit) changeDevices(f *framework.Snapshot) error {
	for _, c := range framework.List[api.DeviceClass](f) {
		none := *c
		none.Spec.Selectors = []api.DeviceSelector{{CEL: &api.CELDeviceSelector{Expression: "false"}}}
		if err := framework.Put(f, &none); err != nil {
			return err
		}
	}
	for _, x := range framework.List[api.ResourceSlice](f) {
		framework.Delete[api.ResourceSlice](f, api.KeyOf(x))
	}
	return framework.Put(f, &api.DeviceClass{ObjectMeta: api.ObjectMeta{Name: "new"}})
}
