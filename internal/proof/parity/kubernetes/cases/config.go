package cases

import (
	"encoding/json"
	"slices"
)

// object is a JSON object.
type object = map[string]any

// configuration returns a configuration with one profile.
func configuration(profile object) json.RawMessage {
	profile["schedulerName"] = "default-scheduler"
	text, err := json.Marshal(object{
		"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": []object{profile},
	})
	if err != nil {
		panic(err) // everything in it can be marshalled
	}
	return text
}

func pluginConfig(name string, args object) object {
	args["apiVersion"], args["kind"] = "kubescheduler.config.k8s.io/v1", name+"Args"
	return object{"name": name, "args": args}
}

// weighed draws resources with weights.
func (d *dice) weighed() []object {
	var list []object
	for _, name := range some(d, 4, "cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "example.com/foo", "hugepages-2Mi", "pods", "odd",
		"attachable-volumes-csi-csi.example.com") {
		list = append(list, object{"name": name, "weight": pick(d, 1, 1, 2, 5, 100)})
	}
	if len(list) == 0 {
		list = append(list, object{"name": "cpu", "weight": 1})
	}
	return list
}

// shape draws points from utilization to score.
func (d *dice) shape() []object {
	at := some(d, 4, 0, 10, 25, 50, 75, 90, 100)
	if len(at) == 0 {
		at = []int{0, 100}
	}
	slices.Sort(at)
	var list []object
	for _, u := range at {
		list = append(list, object{"utilization": u, "score": d.IntN(11)})
	}
	return list
}

func (d *dice) fitConfig() json.RawMessage {
	args := object{}
	if d.chance(85) {
		strategy := object{"type": pick(d, "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"), "resources": d.weighed()}
		if strategy["type"] == "RequestedToCapacityRatio" {
			strategy["requestedToCapacityRatio"] = object{"shape": d.shape()}
		}
		args["scoringStrategy"] = strategy
	}
	if d.chance(20) {
		args["ignoredResources"] = some(d, 2, "nvidia.com/gpu", "example.com/foo")
	}
	if d.chance(20) {
		args["ignoredResourceGroups"] = some(d, 2, "nvidia.com", "example.com")
	}
	list := []object{pluginConfig("NodeResourcesFit", args)}
	if d.chance(30) {
		list = append(list, pluginConfig("NodeResourcesBalancedAllocation", object{"resources": d.ones()}))
	}
	return configuration(object{"pluginConfig": list})
}

// ones draws resources of weight one, as balanced allocation requires.
func (d *dice) ones() []object {
	list := d.weighed()
	for _, r := range list {
		r["weight"] = 1
	}
	return list
}

func (d *dice) balancedConfig() json.RawMessage {
	return configuration(object{"pluginConfig": []object{
		pluginConfig("NodeResourcesBalancedAllocation", object{"resources": d.ones()}),
	}})
}

func (d *dice) nodeAffinityConfig() json.RawMessage {
	in := func(key string, values ...string) object {
		return object{"matchExpressions": []object{{"key": key, "operator": "In", "values": values}}}
	}
	term := func() object {
		return pick(d, in("disk", "ssd", "hdd"), in("topology.kubernetes.io/zone", "z0", "z1"), in("arch", "amd64"),
			object{"matchExpressions": []object{{"key": "rack", "operator": "Exists"}}},
			object{"matchFields": []object{{"key": "metadata.name", "operator": pick(d, "In", "NotIn"), "values": []string{"n1"}}}})
	}
	added := object{}
	if d.chance(70) {
		added["requiredDuringSchedulingIgnoredDuringExecution"] = object{"nodeSelectorTerms": []object{term(), term()}[:d.between(1, 2)]}
	}
	if d.chance(70) {
		added["preferredDuringSchedulingIgnoredDuringExecution"] = []object{{"weight": pick(d, 1, 10, 100), "preference": term()}}
	}
	return configuration(object{"pluginConfig": []object{pluginConfig("NodeAffinity", object{"addedAffinity": added})}})
}

func (d *dice) spreadConfig() json.RawMessage {
	list := []object{}
	for _, key := range some(d, 2, "kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack") {
		c := object{
			"maxSkew": pick(d, 1, 2, 3, 2147483647), "topologyKey": key, "whenUnsatisfiable": pick(d, "DoNotSchedule", "ScheduleAnyway"),
		}
		if d.chance(15) {
			c["minDomains"] = pick(d, 0, 2, 5, -1)
		}
		if d.chance(15) {
			c["nodeAffinityPolicy"] = pick(d, "Honor", "Ignore", "Odd")
		}
		if d.chance(15) {
			c["nodeTaintsPolicy"] = pick(d, "Honor", "Ignore")
		}
		if d.chance(15) {
			c["matchLabelKeys"] = some(d, 2, "app", "tier", "absent")
		}
		list = append(list, c)
	}
	return configuration(object{"pluginConfig": []object{
		pluginConfig("PodTopologySpread", object{"defaultingType": "List", "defaultConstraints": list}),
	}})
}

func (d *dice) interpodConfig() json.RawMessage {
	return configuration(object{"pluginConfig": []object{pluginConfig("InterPodAffinity", object{
		"hardPodAffinityWeight": pick(d, 0, 1, 10, 100), "ignorePreferredTermsOfExistingPods": d.chance(50),
	})}})
}

func (d *dice) volumesConfig() json.RawMessage {
	return configuration(object{"pluginConfig": []object{pluginConfig("VolumeBinding", object{"shape": d.shape()})}})
}

// pluginNames lists the plugins of the default configuration that a profile can
// omit.
var pluginNames = []string{
	"SchedulingGates", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
	"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity",
	"DynamicResources", "DefaultPreemption", "NodeResourcesBalancedAllocation", "ImageLocality", "NodeDeclaredFeatures",
}

// orderedConfig changes the order of the plugins, in which they also reject, and
// leaves some out.
func (d *dice) orderedConfig() json.RawMessage {
	enabled := []object{{"name": "PrioritySort"}, {"name": "DefaultBinder"}}
	for _, i := range d.Perm(len(pluginNames)) {
		if d.chance(12) {
			continue
		}
		p := object{"name": pluginNames[i]}
		if d.chance(50) {
			p["weight"] = d.between(1, 10)
		}
		enabled = append(enabled, p)
	}
	set := object{"enabled": enabled, "disabled": []object{{"name": "*"}}}
	return configuration(object{"plugins": object{"multiPoint": set}})
}

// mixedConfig changes weights, and leaves plugins out.
func (d *dice) mixedConfig() json.RawMessage {
	if d.chance(30) {
		return d.orderedConfig()
	}
	names := []string{
		"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
		"NodeResourcesBalancedAllocation", "ImageLocality",
	}
	set := object{}
	var enabled, disabled []object
	for _, name := range names {
		switch {
		case d.chance(50):
			enabled = append(enabled, object{"name": name, "weight": d.between(1, 20)})
		case d.chance(20):
			disabled = append(disabled, object{"name": name})
		}
	}
	if enabled != nil {
		set["enabled"] = enabled
	}
	point := pick(d, "score", "multiPoint")
	if point == "score" {
		// To change its weight, first disable the plugin.
		for _, e := range enabled {
			disabled = append(disabled, object{"name": e["name"]})
		}
	}
	if disabled != nil {
		set["disabled"] = disabled
	}
	profile := object{"plugins": object{point: set}}
	if d.chance(30) {
		profile["pluginConfig"] = []object{pluginConfig("PodTopologySpread", object{"defaultingType": "List"})}
	}
	return configuration(profile)
}
