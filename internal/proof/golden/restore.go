package golden

import "encoding/json"

// restore sets an empty nodeSelector that the pod's JSON could not express.
// kube-scheduler distinguishes an empty nodeSelector from an absent one in a single
// place: NodeAffinity's PreFilter skips only the latter. The recording omitted both,
// so a few recorded cases have an answer that does not follow from their text. In
// these, the pod requires nothing of its node, the configuration adds nothing, and
// yet there is no Skip. Only an empty nodeSelector explains that.
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
