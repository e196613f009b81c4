package dump

import "fmt"

func (c Config) node(i int) object {
	zone := fmt.Sprintf("eu-central-1%c", 'a'+rune(i%3))
	meta := object{
		"annotations": object{
			"alpha.kubernetes.io/provided-node-ip":                   fmt.Sprintf("10.%d.%d.%d", i/10000, i/100%100, i%100),
			"csi.volume.kubernetes.io/nodeid":                        `{"ebs.csi.aws.com":"i-` + hash(17, "instance", i) + `"}`,
			"node.alpha.kubernetes.io/ttl":                           "0",
			"volumes.kubernetes.io/controller-managed-attach-detach": "true",
		},
		"creationTimestamp": stamp(i),
		"labels": object{
			"beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux",
			"beta.kubernetes.io/instance-type": "m5.4xlarge", "node.kubernetes.io/instance-type": "m5.4xlarge",
			"eks.amazonaws.com/nodegroup": fmt.Sprintf("group-%d", i%8), "eks.amazonaws.com/capacityType": "ON_DEMAND",
			"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": nodeName(i),
			"topology.kubernetes.io/region": "eu-central-1", "topology.kubernetes.io/zone": zone,
		},
		"name": nodeName(i), "resourceVersion": fmt.Sprint(90_000_000 + i), "uid": uid("node", i),
	}
	if c.ManagedFields {
		meta["managedFields"] = managed("kubelet", "f:status", i)
	}
	spec := object{"providerID": "aws:///" + zone + "/i-" + hash(17, "instance", i)}
	if i%10 == 0 {
		spec["taints"] = list{object{"effect": "NoSchedule", "key": "dedicated", "value": "batch"}}
	}
	return object{"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": nodeStatus(i)}
}

func nodeStatus(i int) object {
	conditions := list{}
	for k, name := range []string{"MemoryPressure", "DiskPressure", "PIDPressure", "Ready"} {
		status := "False"
		if name == "Ready" {
			status = "True"
		}
		conditions = append(conditions, object{
			"lastHeartbeatTime": stamp(i + k), "lastTransitionTime": stamp(i), "message": "kubelet has no " + name,
			"reason": "Kubelet" + name, "status": status, "type": name,
		})
	}
	images := list{}
	for k := range 30 {
		app := (i*7 + k) % 400
		images = append(images, object{
			"names": list{
				"registry.example.com/team/app-" + fmt.Sprint(app) + "@sha256:" + hash(64, "image", app),
				"registry.example.com/team/app-" + fmt.Sprint(app) + ":v1",
			},
			"sizeBytes": 10_000_000 + app*1000,
		})
	}
	return object{
		"addresses": list{
			object{"address": fmt.Sprintf("10.%d.%d.%d", i/10000, i/100%100, i%100), "type": "InternalIP"},
			object{"address": nodeName(i), "type": "Hostname"},
		},
		"allocatable":     object{"cpu": "15890m", "ephemeral-storage": "95551679124", "hugepages-1Gi": "0", "hugepages-2Mi": "0", "memory": "60691572Ki", "pods": "234"},
		"capacity":        object{"cpu": "16", "ephemeral-storage": "104845292Ki", "hugepages-1Gi": "0", "hugepages-2Mi": "0", "memory": "64142452Ki", "pods": "234"},
		"conditions":      conditions,
		"daemonEndpoints": object{"kubeletEndpoint": object{"Port": 10250}},
		"images":          images,
		"nodeInfo": object{
			"architecture": "amd64", "bootID": uid("boot", i), "containerRuntimeVersion": "containerd://2.1.4",
			"kernelVersion": "6.12.40-63.114.amzn2023.x86_64", "kubeProxyVersion": "", "kubeletVersion": "v1.34.1",
			"machineID": hash(32, "machine", i), "operatingSystem": "linux", "osImage": "Amazon Linux 2023.8.20250915", "systemUUID": uid("system", i),
		},
	}
}

// managed returns what the API server notes about who set which field.
func managed(who, field string, i int) list {
	return list{
		object{
			"apiVersion": "v1", "fieldsType": "FieldsV1", "manager": "kube-controller-manager", "operation": "Update", "time": stamp(i),
			"fieldsV1": object{
				"f:metadata": object{
					"f:generateName": object{}, "f:labels": object{".": object{}, "f:app": object{}, "f:pod-template-hash": object{}},
					"f:ownerReferences": object{".": object{}, `k:{"uid":"` + uid("owner", i/replicas) + `"}`: object{}},
				},
				"f:spec": object{
					"f:containers": object{`k:{"name":"main"}`: object{
						".": object{}, "f:env": object{".": object{}, `k:{"name":"A"}`: object{".": object{}, "f:name": object{}, "f:value": object{}}},
						"f:image": object{}, "f:imagePullPolicy": object{}, "f:name": object{}, "f:resources": object{".": object{}, "f:requests": object{".": object{}, "f:cpu": object{}, "f:memory": object{}}},
						"f:terminationMessagePath": object{}, "f:terminationMessagePolicy": object{},
					}},
					"f:dnsPolicy": object{}, "f:enableServiceLinks": object{}, "f:restartPolicy": object{}, "f:schedulerName": object{}, "f:securityContext": object{}, "f:terminationGracePeriodSeconds": object{},
				},
			},
		},
		object{
			"apiVersion": "v1", "fieldsType": "FieldsV1", "manager": who, "operation": "Update", "subresource": "status", "time": stamp(i + 1),
			"fieldsV1": object{field: object{
				"f:conditions": object{
					`k:{"type":"ContainersReady"}`: object{".": object{}, "f:lastProbeTime": object{}, "f:lastTransitionTime": object{}, "f:status": object{}, "f:type": object{}},
					`k:{"type":"Ready"}`:           object{".": object{}, "f:lastProbeTime": object{}, "f:lastTransitionTime": object{}, "f:status": object{}, "f:type": object{}},
				},
				"f:containerStatuses": object{}, "f:hostIP": object{}, "f:phase": object{}, "f:podIP": object{}, "f:startTime": object{},
			}},
		},
	}
}
