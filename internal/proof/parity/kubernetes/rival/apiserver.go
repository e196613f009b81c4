package rival

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// claimServer is the part of the simulated API server that plugins write to: resource
// claims. Each write shows in the informers at once.
type claimServer struct {
	known   *factory
	version int64
	deaf    bool     // writes succeed and change nothing
	written []string // what was written while deaf: "free" or "delete", and the name
}

// serve makes the client write to the server.
func (a *claimServer) serve(client *fake.Clientset) {
	client.PrependReactor("*", "resourceclaims", func(action clienttesting.Action) (bool, runtime.Object, error) {
		object, err := a.handle(action)
		return true, object, err
	})
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, &v1.Pod{}, nil })
}

// handle answers one call about claims.
func (a *claimServer) handle(action clienttesting.Action) (runtime.Object, error) {
	switch x := action.(type) {
	case clienttesting.CreateActionImpl:
		c := x.GetObject().(*resourceapi.ResourceClaim).DeepCopy()
		if c.Name == "" {
			c.Name = c.GenerateName + "*"
		}
		c.UID = types.UID("made-" + c.Name)
		return c, a.put(c)
	case clienttesting.UpdateActionImpl:
		c := x.GetObject().(*resourceapi.ResourceClaim).DeepCopy()
		if a.deaf {
			a.written = append(a.written, "free "+c.Name)
			return c, nil
		}
		return c, a.put(c)
	case clienttesting.PatchActionImpl:
		c, err := a.get(x.GetNamespace(), x.GetName())
		if err != nil {
			return nil, err
		}
		return c, a.patch(c, x.GetPatch())
	case clienttesting.DeleteActionImpl:
		if a.deaf {
			a.written = append(a.written, "delete "+x.GetName())
			return nil, nil
		}
		c, err := a.get(x.GetNamespace(), x.GetName())
		if err != nil {
			return nil, err
		}
		return nil, a.known.of(c).drop(c)
	case clienttesting.GetActionImpl:
		return a.get(x.GetNamespace(), x.GetName())
	}
	return nil, fmt.Errorf("the simulated API server does not know how to %s claims", action.GetVerb())
}

// get returns a copy of a claim.
func (a *claimServer) get(namespace, name string) (*resourceapi.ResourceClaim, error) {
	object, ok, err := a.known.of(&resourceapi.ResourceClaim{}).GetByKey(namespace + "/" + name)
	if err != nil {
		return nil, err
	}
	c, is := object.(*resourceapi.ResourceClaim)
	if !ok || !is {
		return nil, apierrors.NewNotFound(resourceapi.Resource("resourceclaims"), name)
	}
	return c.DeepCopy(), nil
}

// put writes a claim with a new version.
func (a *claimServer) put(c *resourceapi.ResourceClaim) error {
	a.version++
	c.ResourceVersion = strconv.FormatInt(a.version, 10)
	return a.known.put(c.DeepCopy())
}

// patch takes the reservations out of a claim that a patch deletes. The plugin makes no
// other patches.
func (a *claimServer) patch(c *resourceapi.ResourceClaim, text []byte) error {
	var patch struct {
		Status struct {
			ReservedFor []struct {
				Directive string    `json:"$patch"`
				UID       types.UID `json:"uid"`
			} `json:"reservedFor"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &patch); err != nil {
		return err
	}
	for _, p := range patch.Status.ReservedFor {
		if p.Directive != "delete" {
			return fmt.Errorf("patch %s: want deletions of reservations only", text)
		}
		c.Status.ReservedFor = slices.DeleteFunc(c.Status.ReservedFor, func(r resourceapi.ResourceClaimConsumerReference) bool { return r.UID == p.UID })
	}
	return a.put(c)
}
