//go:build full

package work

// seeds are small clusters by what they are about, each as the objects by their roles. A mark, $, becomes
// the number of an element, so elements with one number belong together wherever they are.
var seeds = map[string]string{
	"terms": `{
"node": {"kind": "Node", "metadata": {"name": "n0", "labels": {"k$": "v$", "zone": "z0", "kubernetes.io/hostname": "n0"}, "annotations": {"a$": "v$"}},
	"spec": {"taints": [{"key": "t$", "value": "v$", "effect": "NoSchedule"}, {"key": "t$", "value": "v$", "effect": "PreferNoSchedule"}], "podPreemptionPolicy": {"disableResizePreemption": ["r$"]}},
	"status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}, "conditions": [{"type": "c$", "status": "True"}], "declaredFeatures": ["f$"], "volumesInUse": ["v$"], "volumesAttached": [{"name": "v$", "devicePath": ""}]}},
"other node": {"kind": "Node", "metadata": {"name": "b", "labels": {"zone": "z1", "k0": "v0", "kubernetes.io/hostname": "b"}}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}},
"pod": {"kind": "Pod", "metadata": {"namespace": "s0", "name": "p", "uid": "p", "labels": {"l$": "v$", "app": "web"}, "annotations": {"a$": "v$"}, "ownerReferences": [{"apiVersion": "v1", "kind": "ReplicaSet", "name": "r$", "uid": "u$"}]}, "spec": {
	"priority": 100, "nodeSelector": {"k$": "v$"}, "schedulingGates": [],
	"tolerations": [{"key": "t$", "operator": "Equal", "value": "v$"}],
	"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
	"affinity": {
		"nodeAffinity": {
			"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n$"]}]}]},
			"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n$"]}]}}]},
		"podAffinity": {
			"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "namespaces": ["s$"], "namespaceSelector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}, "matchLabelKeys": ["l$"], "mismatchLabelKeys": ["m$"], "labelSelector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}}],
			"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "k$", "namespaces": ["s$"], "namespaceSelector": {"matchLabels": {"l$": "v$"}}, "matchLabelKeys": ["l$"], "labelSelector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}}}]},
		"podAntiAffinity": {
			"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k$", "namespaces": ["s$"], "labelSelector": {"matchLabels": {"no": "v$"}, "matchExpressions": [{"key": "l$", "operator": "NotIn", "values": ["v$"]}]}}],
			"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}}}]}},
	"topologySpreadConstraints": [
		{"maxSkew": 5, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 1, "nodeTaintsPolicy": "Honor", "matchLabelKeys": ["l$"], "labelSelector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}},
		{"maxSkew": 1, "topologyKey": "k$", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}}]},
	"status": {"conditions": [{"type": "c$", "status": "False"}]}},
"there": {"kind": "Pod", "metadata": {"namespace": "s0", "name": "there", "uid": "there", "labels": {"l$": "v$", "app": "web"}, "ownerReferences": [{"apiVersion": "v1", "kind": "ReplicaSet", "name": "rs", "uid": "u$", "controller": true}]}, "spec": {
	"nodeName": "n0", "priority": 1, "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}],
	"tolerations": [{"key": "t$", "operator": "Exists"}],
	"affinity": {
		"podAffinity": {
			"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k$", "namespaces": ["s$"], "labelSelector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}}],
			"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "k$", "namespaces": ["s$"], "namespaceSelector": {"matchLabels": {"l$": "v$"}}, "labelSelector": {"matchLabels": {"l$": "v$"}}}}]},
		"podAntiAffinity": {
			"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k$", "namespaces": ["s$"], "labelSelector": {"matchLabels": {"no": "v$"}, "matchExpressions": [{"key": "l$", "operator": "NotIn", "values": ["v$"]}]}}],
			"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}}}]}},
	"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "k$", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"l$": "v$"}}}]}},
"there too": {"kind": "Pod", "metadata": {"namespace": "s0", "name": "there-too", "uid": "there-too", "labels": {"l0": "v0", "app": "web"}}, "spec": {"nodeName": "b", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}},
"waits": {"kind": "Pod", "metadata": {"namespace": "s0", "name": "waits", "uid": "waits", "labels": {"l$": "v$"}}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100"}}}],
	"schedulingGates": [], "tolerations": [{"key": "t$", "value": "v$"}],
	"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k$", "namespaces": ["s$"], "labelSelector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}}]},
		"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "none", "namespaces": ["s$"], "labelSelector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}}]}},
	"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "none", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}}]}},
"gated": {"kind": "Pod", "metadata": {"namespace": "s0", "name": "gated", "uid": "gated"}, "spec": {"containers": [{"name": "c"}], "schedulingGates": [{"name": "g$"}]}},
"namespace": {"kind": "Namespace", "metadata": {"name": "s0", "labels": {"l$": "v$"}}},
"service": {"kind": "Service", "metadata": {"namespace": "s0", "name": "s"}, "spec": {"selector": {"l$": "v$"}}},
"set": {"kind": "ReplicaSet", "metadata": {"namespace": "s0", "name": "rs", "uid": "u0"}, "spec": {"replicas": 1, "selector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}, "template": {"metadata": {"labels": {"l$": "v$"}}, "spec": {"containers": [{"name": "c"}]}}}},
"controller": {"kind": "ReplicationController", "metadata": {"namespace": "s0", "name": "rc"}, "spec": {"replicas": 0, "selector": {"l$": "v$"}, "template": {"metadata": {"labels": {"l$": "v$"}}, "spec": {"containers": [{"name": "c"}]}}}},
"budget": {"kind": "PodDisruptionBudget", "metadata": {"namespace": "s0", "name": "b"}, "spec": {"selector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}}, "status": {"disruptionsAllowed": 1, "disruptedPods": {"d$": "2030-01-01T00:00:00Z"}}}
}`,
	"resources": `{
"node": {"kind": "Node", "metadata": {"name": "n0", "labels": {"kubernetes.io/hostname": "n0"}},
	"status": {"capacity": {"cpu": "8", "memory": "16Gi", "pods": "110", "x.io/r$": "9"}, "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110", "x.io/r$": "9", "hugepages-$Mi": "64Gi"}, "images": [{"names": ["i$", "j$"], "sizeBytes": 100000000}], "declaredFeatures": ["f$"]}},
"other node": {"kind": "Node", "metadata": {"name": "b"}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110", "x.io/r$": "9"}, "images": [{"names": ["i$"], "sizeBytes": 200000000}]}},
"pod": {"kind": "Pod", "metadata": {"namespace": "s", "name": "p", "uid": "p", "labels": {"l$": "v$"}}, "spec": {"priority": 100,
	"overhead": {"cpu": "1m", "x.io/r$": "1"}, "resources": {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"cpu": "4"}, "claims": [{"name": "n$"}]},
	"initContainers": [{"name": "i$", "image": "i$", "restartPolicy": "Always", "ports": [{"containerPort": 1, "hostPort": "int:$", "hostIP": "10.0.2.$"}], "resources": {"requests": {"cpu": "1m", "x.io/r$": "1"}, "limits": {"x.io/r$": "1"}}}, {"name": "j$", "image": "j$", "resources": {"requests": {"cpu": "1m", "x.io/r$": "1"}}}],
	"containers": [{"name": "c$", "image": "i$", "ports": [{"name": "n$", "containerPort": "int:$", "hostPort": "int:$", "hostIP": "10.0.0.$", "protocol": "UDP"}], "resources": {"requests": {"cpu": "1m", "x.io/r$": "1"}, "limits": {"x.io/r$": "1"}, "claims": [{"name": "n$", "request": "r$"}]}, "volumeMounts": [{"name": "v$"}]}],
	"volumes": [{"name": "v$", "emptyDir": {"sizeLimit": "1Gi"}}, {"name": "w$", "image": {"reference": "i$"}}]},
	"status": {"resources": {"requests": {"cpu": "1"}}, "allocatedResources": {"cpu": "1"}, "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]}},
"there": {"kind": "Pod", "metadata": {"namespace": "s", "name": "there", "uid": "there", "labels": {"l$": "v$"}}, "spec": {"nodeName": "n0", "priority": 1,
	"overhead": {"cpu": "1m", "x.io/r$": "1"},
	"initContainers": [{"name": "i$", "image": "i$", "restartPolicy": "Always", "ports": [{"containerPort": 1, "hostPort": "int:$", "hostIP": "10.0.1.$"}], "resources": {"requests": {"cpu": "1m", "x.io/r$": "1"}}}],
	"containers": [{"name": "c$", "image": "i$", "ports": [{"containerPort": 1, "hostPort": "int:$", "hostIP": "10.0.0.$"}], "resources": {"requests": {"cpu": "2", "x.io/r$": "1"}, "limits": {"x.io/r$": "1"}}}]},
	"status": {"phase": "Running", "containerStatuses": [{"name": "c$", "allocatedResources": {"cpu": "1", "x.io/r$": "1"}, "resources": {"requests": {"cpu": "2", "x.io/r$": "1"}, "limits": {"x.io/r$": "1"}}}], "initContainerStatuses": [{"name": "i$", "allocatedResources": {"cpu": "1", "x.io/r$": "1"}, "resources": {"requests": {"x.io/r$": "1"}}}], "conditions": [{"type": "PodResizePending", "status": "True", "reason": "r$"}]}},
"waits": {"kind": "Pod", "metadata": {"namespace": "s", "name": "waits", "uid": "waits"}, "spec": {
	"containers": [{"name": "c$", "ports": [{"containerPort": 1, "hostPort": "int:$"}], "resources": {"requests": {"cpu": "100", "x.io/r$": "1", "none.io/r$": "1"}}}]}},
"features": {"kind": "Pod", "metadata": {"namespace": "s", "name": "f", "uid": "f"}, "spec": {"initContainers": [{"name": "i$", "restartPolicyRules": [{"action": "RestartAllContainers"}]}], "containers": [{"name": "c$", "volumeMounts": [{"name": "v$", "bindMountOptions": ["o$"]}], "restartPolicyRules": [{"action": "RestartAllContainers"}]}], "volumes": [{"name": "v$", "emptyDir": {}}]}},
"quota": {"kind": "ResourceQuota", "metadata": {"namespace": "s", "name": "q"}, "spec": {"hard": {"cpu": "9", "requests.x.io/r$": "9"}, "scopes": ["NotTerminating"], "scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["p$"]}]}}, "status": {"hard": {"cpu": "9", "requests.x.io/r$": "9"}, "used": {"cpu": "1", "requests.x.io/r$": "1"}}},
"class": {"kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "x.io/r0"}}
}`,
	"volumes": `{
"node": {"kind": "Node", "metadata": {"name": "n0", "labels": {"kubernetes.io/hostname": "n0", "topology.kubernetes.io/zone": "z0", "topology.kubernetes.io/region": "q0", "k$": "v$"}},
	"status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110", "attachable-volumes-csi-d$": "5", "attachable-volumes-aws-ebs": "9"}, "volumesInUse": ["kubernetes.io/csi/d^h$"], "volumesAttached": [{"name": "kubernetes.io/csi/d^h$", "devicePath": ""}]}},
"other node": {"kind": "Node", "metadata": {"name": "b", "labels": {"kubernetes.io/hostname": "b"}}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}},
"pod": {"kind": "Pod", "metadata": {"namespace": "s", "name": "p", "uid": "p"}, "spec": {"priority": 100, "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}, "volumeMounts": [{"name": "e$"}]}],
	"volumes": [{"name": "bound$", "persistentVolumeClaim": {"claimName": "bound"}}, {"name": "free$", "persistentVolumeClaim": {"claimName": "free"}}, {"name": "dyn$", "persistentVolumeClaim": {"claimName": "dyn"}},
		{"name": "a$", "awsElasticBlockStore": {"volumeID": "a$", "readOnly": true}}, {"name": "g$", "gcePersistentDisk": {"pdName": "g$", "readOnly": true}}, {"name": "i$", "iscsi": {"targetPortal": "t", "iqn": "i$", "lun": 1, "readOnly": true}},
		{"name": "r$", "rbd": {"monitors": ["m$", "l$"], "image": "r", "readOnly": true}}, {"name": "ci$", "cinder": {"volumeID": "c$"}}, {"name": "az$", "azureDisk": {"diskName": "d$", "diskURI": "d$"}},
		{"name": "in$", "csi": {"driver": "d$"}}, {"name": "e$", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"l$": "v$"}}, "spec": {"storageClassName": "dyn", "accessModes": ["ReadWriteOnce", "M$"], "resources": {"requests": {"storage": "1Gi"}}}}}}]}},
"ephemeral": {"kind": "PersistentVolumeClaim", "metadata": {"namespace": "s", "name": "p-e0", "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p", "controller": true}]}, "spec": {"storageClassName": "dyn", "resources": {"requests": {"storage": "1Gi"}}}},
"there": {"kind": "Pod", "metadata": {"namespace": "s", "name": "there", "uid": "there"}, "spec": {"nodeName": "n0", "priority": 1, "containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}],
	"volumes": [{"name": "bound$", "persistentVolumeClaim": {"claimName": "bound"}}, {"name": "a$", "awsElasticBlockStore": {"volumeID": "b$", "readOnly": true}}, {"name": "g$", "gcePersistentDisk": {"pdName": "g$", "readOnly": true}}, {"name": "i$", "iscsi": {"targetPortal": "t", "iqn": "i$", "lun": 1, "readOnly": true}},
		{"name": "r$", "rbd": {"monitors": ["m$", "o$"], "image": "r", "readOnly": true}}, {"name": "r2$", "rbd": {"monitors": ["p$"], "image": "r2", "readOnly": false}}, {"name": "in$", "csi": {"driver": "d$"}}]}},
"waits": {"kind": "Pod", "metadata": {"namespace": "s", "name": "waits", "uid": "waits"}, "spec": {"containers": [{"name": "c"}], "volumes": [{"name": "v$", "persistentVolumeClaim": {"claimName": "none$"}}, {"name": "r$", "rbd": {"monitors": ["m$", "l$"], "image": "r"}}]}},
"bound": {"kind": "PersistentVolumeClaim", "metadata": {"namespace": "s", "name": "bound", "labels": {"l$": "v$"}, "annotations": {"pv.kubernetes.io/bind-completed": "yes", "a$": "v$"}}, "spec": {"volumeName": "bound", "storageClassName": "dyn", "accessModes": ["ReadWriteOnce", "M$"], "resources": {"requests": {"storage": "1Gi"}}}, "status": {"accessModes": ["M$"], "capacity": {"storage": "1Gi", "x$": "1"}}},
"bound volume": {"kind": "PersistentVolume", "metadata": {"name": "bound", "labels": {"topology.kubernetes.io/zone": "z0__z$", "topology.kubernetes.io/region": "q$", "l$": "v$"}}, "spec": {"storageClassName": "dyn", "capacity": {"storage": "1Gi", "x$": "1"}, "accessModes": ["ReadWriteOnce", "M$"], "claimRef": {"namespace": "s", "name": "bound"}, "csi": {"driver": "d0", "volumeHandle": "h0", "volumeAttributes": {"a$": "v$"}},
	"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n$"]}]}]}}}},
"free": {"kind": "PersistentVolumeClaim", "metadata": {"namespace": "s", "name": "free"}, "spec": {"storageClassName": "local", "accessModes": ["ReadWriteOnce", "M$"], "selector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}, "resources": {"requests": {"storage": "1Gi", "x$": "1"}, "limits": {"x$": "1"}}}},
"free volume": {"kind": "PersistentVolume", "metadata": {"name": "free", "labels": {"l$": "v$"}, "annotations": {"a$": "v$"}}, "spec": {"storageClassName": "local", "capacity": {"storage": "1Gi", "x$": "1"}, "accessModes": ["ReadWriteOnce", "M$"], "local": {"path": "/x"},
	"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n$"]}]}]}}}, "status": {"phase": "Available"}},
"other volume": {"kind": "PersistentVolume", "metadata": {"name": "free-2", "labels": {"l$": "v$"}}, "spec": {"storageClassName": "local", "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce", "M$"], "local": {"path": "/x"},
	"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}]}]}}}, "status": {"phase": "Available"}},
"dyn": {"kind": "PersistentVolumeClaim", "metadata": {"namespace": "s", "name": "dyn", "annotations": {"a$": "v$"}}, "spec": {"storageClassName": "dyn", "accessModes": ["ReadWriteOnce", "M$"], "resources": {"requests": {"storage": "1Gi"}}}},
"local": {"kind": "StorageClass", "metadata": {"name": "local"}, "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"},
"dynamic": {"kind": "StorageClass", "metadata": {"name": "dyn"}, "provisioner": "d0", "parameters": {"p$": "v$"}, "volumeBindingMode": "WaitForFirstConsumer", "allowedTopologies": [{"matchLabelExpressions": [{"key": "k$", "values": ["v$"]}]}]},
"driver": {"kind": "CSIDriver", "metadata": {"name": "d0"}, "spec": {"storageCapacity": true}},
"capacity": {"kind": "CSIStorageCapacity", "metadata": {"namespace": "s", "name": "c"}, "storageClassName": "dyn", "capacity": "10Gi", "nodeTopology": {"matchLabels": {"k$": "v$"}, "matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}]}},
"csi node": {"kind": "CSINode", "metadata": {"name": "n0", "annotations": {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs", "a$": "v$"}}, "spec": {"drivers": [{"name": "d$", "nodeID": "n", "topologyKeys": ["k$"], "allocatable": {"count": 5000}}]}},
"attachment": {"kind": "VolumeAttachment", "metadata": {"name": "at"}, "spec": {"attacher": "d0", "nodeName": "n0", "source": {"persistentVolumeName": "bound"}}, "status": {"attached": true}}
}`,
	"devices": `{
"node": {"kind": "Node", "metadata": {"name": "n0", "labels": {"k$": "v$"}}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}},
"other node": {"kind": "Node", "metadata": {"name": "b"}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}},
"pod": {"kind": "Pod", "metadata": {"namespace": "s", "name": "p", "uid": "p"}, "spec": {"priority": 100, "containers": [{"name": "c", "resources": {"requests": {"cpu": "2", "x.io/gpu": "1"}, "limits": {"x.io/gpu": "1"}, "claims": [{"name": "n$", "request": "r$"}]}}],
	"resourceClaims": [{"name": "n$", "resourceClaimName": "c"}, {"name": "t$", "resourceClaimTemplateName": "t"}]}, "status": {"resourceClaimStatuses": [{"name": "t$", "resourceClaimName": "made"}]}},
"there": {"kind": "Pod", "metadata": {"namespace": "s", "name": "there", "uid": "there"}, "spec": {"nodeName": "n0", "priority": 1, "containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}, "claims": [{"name": "n$"}]}}], "resourceClaims": [{"name": "n$", "resourceClaimName": "used"}]}},
"claim": {"kind": "ResourceClaim", "metadata": {"namespace": "s", "name": "c"}, "spec": {"devices": {
	"requests": [{"name": "r$", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1, "selectors": [{"cel": {"expression": "device.driver != \"x$\""}}], "tolerations": [{"key": "t$", "operator": "Equal", "value": "v$"}], "capacity": {"requests": {"m$": "1"}}}},
		{"name": "q$", "firstAvailable": [{"name": "s$", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1, "selectors": [{"cel": {"expression": "device.driver != \"y$\""}}], "tolerations": [{"key": "t$", "operator": "Exists"}], "capacity": {"requests": {"m$": "1"}}}]}],
	"constraints": [{"requests": ["r$"], "matchAttribute": "d.io/a$"}, {"requests": ["r$"], "distinctAttribute": "d.io/u$"}],
	"config": [{"requests": ["r$"], "opaque": {"driver": "d.io", "parameters": {"p$": 1}}}]}}},
"made": {"kind": "ResourceClaim", "metadata": {"namespace": "s", "name": "made", "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "p", "controller": true}]}, "spec": {"devices": {"requests": [{"name": "r$", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]}}},
"used": {"kind": "ResourceClaim", "metadata": {"namespace": "s", "name": "used"}, "spec": {"devices": {"requests": [{"name": "r$", "exactly": {"deviceClassName": "gpu", "count": 1}}], "config": [{"requests": ["r$"], "opaque": {"driver": "d.io", "parameters": {}}}]}},
	"status": {"reservedFor": [{"resource": "pods", "name": "there", "uid": "there"}, {"resource": "pods", "name": "x$", "uid": "x$"}],
		"devices": [{"driver": "d.io", "pool": "pool", "device": "u$", "conditions": [{"type": "B$", "status": "True"}]}],
		"allocation": {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n$"]}]}]},
			"devices": {"results": [{"request": "r$", "driver": "d.io", "pool": "pool", "device": "u$", "tolerations": [{"key": "t$", "operator": "Exists"}], "bindingConditions": ["B$"], "bindingFailureConditions": ["F$"], "consumedCapacity": {"m$": "1"}, "skipNodeOperations": []}], "config": [{"source": "FromClaim", "requests": ["r$"], "opaque": {"driver": "d.io", "parameters": {}}}]}}}},
"allocated": {"kind": "ResourceClaim", "metadata": {"namespace": "s", "name": "allocated"}, "spec": {"devices": {"requests": [{"name": "r$", "exactly": {"deviceClassName": "gpu", "count": 1}}, {"name": "q$", "firstAvailable": [{"name": "s$", "deviceClassName": "gpu"}]}]}},
	"status": {"devices": [{"driver": "d.io", "pool": "pool", "device": "w$", "conditions": [{"type": "B$", "status": "True"}]}],
		"allocation": {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}]}]},
			"devices": {"results": [{"request": "r$", "driver": "d.io", "pool": "pool", "device": "w$", "tolerations": [{"key": "t$", "operator": "Exists"}], "bindingConditions": ["B$"], "bindingFailureConditions": ["F$"], "consumedCapacity": {"m$": "1"}}], "config": [{"source": "FromClaim", "requests": ["r$"], "opaque": {"driver": "d.io", "parameters": {}}}]}}}},
"with allocated": {"kind": "Pod", "metadata": {"namespace": "s", "name": "q", "uid": "q"}, "spec": {"containers": [{"name": "c"}], "resourceClaims": [{"name": "n$", "resourceClaimName": "allocated"}]}},
"waits": {"kind": "Pod", "metadata": {"namespace": "s", "name": "waits", "uid": "waits"}, "spec": {"containers": [{"name": "c", "resources": {"claims": [{"name": "n$"}]}}], "resourceClaims": [{"name": "n$", "resourceClaimName": "none$"}]}},
"template": {"kind": "ResourceClaimTemplate", "metadata": {"namespace": "s", "name": "t"}, "spec": {"metadata": {"labels": {"l$": "v$"}}, "spec": {"devices": {"requests": [{"name": "r$", "exactly": {"deviceClassName": "gpu", "count": 1}}]}}}},
"slice": {"kind": "ResourceSlice", "metadata": {"name": "s0"}, "spec": {"driver": "d.io", "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 2}, "nodeName": "n0", "devices": [
	{"name": "d$", "attributes": {"a$": {"string": "x"}, "u$": {"string": "u$"}, "ss": {"strings": ["x$"]}, "is": {"ints": [1]}, "vs": {"versions": ["1.0.$"]}}, "capacity": {"m$": {"value": "10", "requestPolicy": {"default": "1", "validValues": ["1", "2"]}}}, "allowMultipleAllocations": true,
		"consumesCounters": [{"counterSet": "c$", "counters": {"k$": {"value": "1"}}}], "taints": [{"key": "t$", "value": "v$", "effect": "NoSchedule"}], "bindsToNode": true, "bindingConditions": ["B$"], "bindingFailureConditions": ["F$"]},
	{"name": "u$", "attributes": {"a$": {"string": "x"}, "u$": {"string": "v$"}}}, {"name": "w$", "taints": [{"key": "t$", "value": "v$", "effect": "NoExecute"}]}]}},
"counters": {"kind": "ResourceSlice", "metadata": {"name": "s1"}, "spec": {"driver": "d.io", "pool": {"name": "pool", "generation": 1, "resourceSliceCount": 2}, "nodeName": "n0", "sharedCounters": [{"name": "c$", "counters": {"k$": {"value": "100000"}}}]}},
"other slice": {"kind": "ResourceSlice", "metadata": {"name": "s2"}, "spec": {"driver": "e.io", "pool": {"name": "net", "generation": 1, "resourceSliceCount": 1}, "perDeviceNodeSelection": true, "devices": [
	{"name": "e$", "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n$"]}]}]}, "attributes": {"d.io/a$": {"string": "x"}, "d.io/u$": {"string": "u$"}}, "capacity": {"m$": {"value": "10"}}}]}},
"selected slice": {"kind": "ResourceSlice", "metadata": {"name": "s3"}, "spec": {"driver": "f.io", "pool": {"name": "sel", "generation": 1, "resourceSliceCount": 1}, "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}]}]}, "devices": [{"name": "f$"}, {"name": "g$"}, {"name": "h$"}]}},
"class": {"kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "x.io/gpu", "selectors": [{"cel": {"expression": "device.driver != \"z$\""}}], "config": [{"opaque": {"driver": "d.io", "parameters": {"p$": 1}}}]}},
"rule": {"kind": "DeviceTaintRule", "metadata": {"name": "r"}, "spec": {"deviceSelector": {"driver": "e.io", "device": "e0"}, "taint": {"key": "t0", "value": "v0", "effect": "NoSchedule"}}}
}`,
	"groups": `{
"node": {"kind": "Node", "metadata": {"name": "n0", "labels": {"rack": "r0", "kubernetes.io/hostname": "n0", "k$": "v$"}}, "spec": {"taints": [{"key": "t$", "value": "v$", "effect": "NoSchedule"}]}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110", "x.io/r$": "9"}}},
"other node": {"kind": "Node", "metadata": {"name": "b", "labels": {"rack": "r1", "kubernetes.io/hostname": "b"}}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"}}},
"pod": {"kind": "Pod", "metadata": {"namespace": "s", "name": "p", "uid": "p", "labels": {"l$": "v$"}, "annotations": {"a$": "v$"}}, "spec": {"priority": 100, "schedulingGroup": {"podGroupName": "g"}, "nodeSelector": {"k$": "v$"}, "tolerations": [{"key": "t$", "operator": "Exists"}], "containers": [{"name": "c", "ports": [{"containerPort": 1, "hostPort": "int:$", "hostIP": "10.0.0.1"}], "resources": {"requests": {"cpu": "3", "x.io/r$": "1"}}}],
	"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k$", "labelSelector": {"matchLabels": {"no": "v$"}}}]}}}},
"second": {"kind": "Pod", "metadata": {"namespace": "s", "name": "p2", "uid": "p2", "labels": {"l$": "v$"}}, "spec": {"priority": 100, "schedulingGroup": {"podGroupName": "g"}, "tolerations": [{"key": "t$", "operator": "Exists"}], "containers": [{"name": "c", "ports": [{"containerPort": 1, "hostPort": "int:$", "hostIP": "10.0.0.2"}], "resources": {"requests": {"cpu": "3", "x.io/r$": "1"}}}],
	"affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": {"topologyKey": "k$", "labelSelector": {"matchLabels": {"l$": "v$"}}}}]}}}},
"there": {"kind": "Pod", "metadata": {"namespace": "s", "name": "there", "uid": "there", "labels": {"l$": "v$"}}, "spec": {"nodeName": "n0", "priority": 1, "schedulingGroup": {"podGroupName": "low"}, "containers": [{"name": "c", "ports": [{"containerPort": 1, "hostPort": "int:$", "hostIP": "10.0.0.3"}], "resources": {"requests": {"cpu": "4", "x.io/r$": "1"}}}],
	"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "k$", "labelSelector": {"matchLabels": {"no": "v$"}}}]}}}},
"group": {"kind": "PodGroup", "metadata": {"namespace": "s", "name": "g", "labels": {"l$": "v$"}}, "spec": {"priority": 100, "parentCompositePodGroupName": "root", "schedulingPolicy": {"gang": {"minCount": 2}}, "schedulingConstraints": {"topology": [{"key": "rack"}, {"key": "k$"}]}}, "status": {"conditions": [{"type": "c$", "status": "True"}]}},
"low": {"kind": "PodGroup", "metadata": {"namespace": "s", "name": "low"}, "spec": {"priority": 1, "disruptionMode": {"all": {}}, "schedulingPolicy": {"gang": {"minCount": 1}}}},
"root": {"kind": "CompositePodGroup", "metadata": {"namespace": "s", "name": "root", "labels": {"l$": "v$"}}, "spec": {"priority": 100, "schedulingPolicy": {"gang": {"minGroupCount": 1}}, "schedulingConstraints": {"topology": [{"key": "rack"}, {"key": "k$"}]}}},
"workload": {"kind": "Workload", "metadata": {"namespace": "s", "name": "w"}, "spec": {"podGroupTemplates": [{"name": "t$", "schedulingPolicy": {"gang": {"minCount": 1}}, "schedulingConstraints": {"topology": [{"key": "k$"}]}}]}},
"budget": {"kind": "PodDisruptionBudget", "metadata": {"namespace": "s", "name": "b"}, "spec": {"selector": {"matchLabels": {"l$": "v$"}}}, "status": {"disruptionsAllowed": 0, "disruptedPods": {"d$": "2030-01-01T00:00:00Z"}}}
}`,
	"workloads": `{
"node": {"kind": "Node", "metadata": {"name": "n0", "labels": {"kubernetes.io/hostname": "n0", "k$": "v$"}}, "spec": {"taints": [{"key": "t$", "value": "v$", "effect": "NoSchedule"}]}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110", "x.io/r$": "9"}, "conditions": [{"type": "Ready", "status": "True"}]}},
"deployment": {"kind": "Deployment", "metadata": {"namespace": "s", "name": "d", "labels": {"l$": "v$"}, "annotations": {"a$": "v$"}}, "spec": {"replicas": 2, "selector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}, "template": {"metadata": {"labels": {"l$": "v$"}, "annotations": {"a$": "v$"}}, "spec": {"nodeSelector": {"k$": "v$"}, "tolerations": [{"key": "t$", "operator": "Exists"}], "containers": [{"name": "c$", "resources": {"requests": {"cpu": "1m", "x.io/r$": "1"}}}]}}}},
"set": {"kind": "ReplicaSet", "metadata": {"namespace": "s", "name": "r", "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "", "controller": true}, {"apiVersion": "apps/v1", "kind": "X", "name": "o$", "uid": "o$"}]}, "spec": {"replicas": 1, "selector": {"matchLabels": {"l$": "v$"}}, "template": {"metadata": {"labels": {"l$": "v$"}}, "spec": {"containers": [{"name": "c$", "resources": {"requests": {"cpu": "1m"}}}]}}}},
"stateful": {"kind": "StatefulSet", "metadata": {"namespace": "s", "name": "st"}, "spec": {"replicas": 2, "serviceName": "x", "selector": {"matchLabels": {"l$": "v$"}}, "volumeClaimTemplates": [{"metadata": {"name": "d$", "labels": {"l$": "v$"}}, "spec": {"storageClassName": "sc", "accessModes": ["ReadWriteOnce", "M$"], "resources": {"requests": {"storage": "1Gi"}}}}], "template": {"metadata": {"labels": {"l$": "v$"}}, "spec": {"tolerations": [{"key": "t$", "operator": "Exists"}], "volumes": [{"name": "d$", "emptyDir": {}}, {"name": "o$", "emptyDir": {}}], "containers": [{"name": "c$", "volumeMounts": [{"name": "d$"}]}]}}}},
"storage class": {"kind": "StorageClass", "metadata": {"name": "sc"}, "provisioner": "x", "volumeBindingMode": "WaitForFirstConsumer"},
"daemons": {"kind": "DaemonSet", "metadata": {"namespace": "s", "name": "ds"}, "spec": {"selector": {"matchLabels": {"l$": "v$"}}, "template": {"metadata": {"labels": {"l$": "v$"}}, "spec": {"nodeSelector": {"k$": "v$"}, "tolerations": [{"key": "t$", "operator": "Equal", "value": "v$"}], "containers": [{"name": "c$", "resources": {"requests": {"cpu": "1m"}}}],
	"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n$"]}]}]}}}}}}},
"job": {"kind": "Job", "metadata": {"namespace": "s", "name": "j"}, "spec": {"parallelism": 1, "completions": 2, "template": {"metadata": {"labels": {"l$": "v$"}, "annotations": {"berth-sched.github.io/run-time": "1m"}}, "spec": {"restartPolicy": "Never", "tolerations": [{"key": "t$", "operator": "Exists"}], "containers": [{"name": "c$"}], "resourceClaims": [{"name": "n$", "resourceClaimTemplateName": "t"}]}}}, "status": {"conditions": [{"type": "c$", "status": "False"}]}},
"controller": {"kind": "ReplicationController", "metadata": {"namespace": "s", "name": "rc"}, "spec": {"replicas": 1, "selector": {"l$": "v$"}, "template": {"metadata": {"labels": {"l$": "v$"}}, "spec": {"containers": [{"name": "c$"}]}}}},
"pod": {"kind": "Pod", "metadata": {"namespace": "s", "name": "p", "uid": "p", "labels": {"l$": "v$"}, "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "", "controller": true}, {"apiVersion": "apps/v1", "kind": "X", "name": "o$", "uid": "o$"}]}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1m"}}}], "tolerations": [{"key": "t$", "operator": "Exists"}]}},
"there": {"kind": "Pod", "metadata": {"namespace": "s", "name": "there", "uid": "there"}, "spec": {"nodeName": "n0", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1m"}}}]}},
"template": {"kind": "ResourceClaimTemplate", "metadata": {"namespace": "s", "name": "t"}, "spec": {"metadata": {"labels": {"l$": "v$"}}, "spec": {"devices": {"requests": [{"name": "r$", "exactly": {"deviceClassName": "gpu", "count": 1}}]}}}},
"priority": {"kind": "PriorityClass", "metadata": {"name": "pc", "labels": {"l$": "v$"}}, "value": 5},
"service": {"kind": "Service", "metadata": {"namespace": "s", "name": "svc"}, "spec": {"selector": {"l$": "v$"}}},
"budget": {"kind": "PodDisruptionBudget", "metadata": {"namespace": "s", "name": "b"}, "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"l$": "v$"}}}, "status": {"disruptionsAllowed": 1, "disruptedPods": {"p$": "2030-01-01T00:00:00Z"}}}
}`,
	"use": `{
"node": {"kind": "Node", "metadata": {"name": "n0", "annotations": {"node.koordinator.sh/raw-allocatable": "{\"cpu\": \"4\"}", "a$": "v$"}}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110", "x.io/r$": "9"}}},
"other node": {"kind": "Node", "metadata": {"name": "b"}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110", "x.io/r$": "9"}}},
"pod": {"kind": "Pod", "metadata": {"namespace": "s", "name": "p", "uid": "p", "labels": {"koordinator.sh/qosClass": "LS", "l$": "v$"}}, "spec": {"priority": 9500, "containers": [{"name": "c$", "resources": {"requests": {"cpu": "1", "x.io/r$": "1"}, "limits": {"cpu": "2", "x.io/r$": "1"}}}]}},
"there": {"kind": "Pod", "metadata": {"namespace": "s", "name": "m0", "uid": "there", "creationTimestamp": "2030-01-01T00:00:00Z", "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "", "controller": true}]}, "spec": {"nodeName": "n0", "priority": 9001, "containers": [{"name": "c$", "resources": {"requests": {"cpu": "1", "x.io/r$": "1"}}}]}, "status": {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2030-01-01T00:00:00Z"}]}},
"metric": {"kind": "NodeMetric", "apiVersion": "slo.koordinator.sh/v1alpha1", "metadata": {"name": "n0"}, "spec": {"metricCollectPolicy": {"aggregateDurationSeconds": 300, "reportIntervalSeconds": 60, "nodeAggregatePolicy": {"durations": ["5m", "10m"]}}}, "status": {"updateTime": "2030-01-01T00:00:10Z",
	"nodeMetric": {"nodeUsage": {"resources": {"cpu": "7", "memory": "1Gi", "x.io/r$": "1"}}, "systemUsage": {"resources": {"cpu": "1", "x.io/r$": "1"}}, "aggregatedNodeUsages": [{"duration": "$m", "usage": {"p95": {"resources": {"cpu": "7", "x.io/r$": "1"}}, "q$": {"resources": {"cpu": "1"}}}}], "aggregatedSystemUsages": [{"duration": "5m", "usage": {"p95": {"resources": {"cpu": "1"}}}}]},
	"podsMetric": [{"namespace": "s", "name": "m$", "priority": "koord-prod", "podUsage": {"resources": {"cpu": "2", "x.io/r$": "1"}}}], "hostApplicationMetric": [{"name": "h$", "priority": "koord-prod", "usage": {"resources": {"cpu": "1", "x.io/r$": "1"}}}], "prodReclaimableMetric": {"resource": {"resources": {"cpu": "1"}}}}},
"other metric": {"kind": "NodeMetric", "apiVersion": "slo.koordinator.sh/v1alpha1", "metadata": {"name": "b"}, "status": {"updateTime": "2030-01-01T00:00:10Z", "nodeMetric": {"nodeUsage": {"resources": {"cpu": "100m", "memory": "1Gi"}}}}}
}`,
}

// clusterSeed is a federation: clusters and a workload with its placement.
const clusterSeed = `{
"cluster": {"kind": "Cluster", "apiVersion": "cluster.karmada.io/v1alpha1", "metadata": {"name": "c0", "labels": {"l$": "v$"}}, "spec": {"provider": "p", "region": "r0", "zones": ["z$"], "taints": [{"key": "t$", "value": "v$", "effect": "NoSchedule"}],
	"resourceModels": [{"grade": 0, "ranges": [{"name": "cpu", "min": "0", "max": "2"}, {"name": "x.io/r$", "min": "0", "max": "2"}]}, {"grade": "int:$", "ranges": [{"name": "cpu", "min": "2", "max": "1000"}, {"name": "x.io/r$", "min": "2", "max": "1000"}]}]},
	"status": {"apiEnablements": [{"groupVersion": "apps/v$", "resources": [{"name": "n$", "kind": "K$"}]}, {"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}, {"name": "n$", "kind": "K$"}]}], "conditions": [{"type": "C$", "status": "True"}],
		"resourceSummary": {"allocatable": {"cpu": "100", "pods": "1000", "x.io/r$": "1000"}, "allocated": {"cpu": "1", "x.io/r$": "1"}, "allocating": {"cpu": "1", "x.io/r$": "1"}, "allocatableModelings": [{"grade": 0, "count": 5}, {"grade": "int:$", "count": 5}]}}},
"other cluster": {"kind": "Cluster", "apiVersion": "cluster.karmada.io/v1alpha1", "metadata": {"name": "c1", "labels": {"l$": "v$"}}, "spec": {"provider": "q", "region": "r1", "zones": ["z$"]}, "status": {"apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]}], "resourceSummary": {"allocatable": {"cpu": "100", "pods": "1000", "x.io/r$": "1000"}}}},
"node": {"kind": "Node", "metadata": {"name": "n0", "labels": {"k$": "v$"}}, "spec": {"taints": [{"key": "t$", "value": "v$", "effect": "NoSchedule"}]}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110", "x.io/r$": "9"}}},
"pod": {"kind": "Pod", "metadata": {"namespace": "s", "name": "p", "uid": "p", "labels": {"l$": "v$"}}, "spec": {"nodeSelector": {"k$": "v$"}, "tolerations": [{"key": "t$", "operator": "Exists"}], "containers": [{"name": "c", "ports": [{"containerPort": 1, "hostPort": "int:$"}], "resources": {"requests": {"cpu": "1", "x.io/r$": "1"}}}],
	"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n$"]}]}]}}}}},
"workload": {"Name": "s/w", "APIVersion": "apps/v1", "Kind": "Deployment", "Replicas": 4, "Labels": {"l$": "v$"}, "Clusters": [{"name": "c$", "replicas": 1}], "Evicting": ["e$"],
	"Components": [{"name": "j$", "replicas": 1, "request": {"cpu": "1", "x.io/r$": "1"}}],
	"Placement": {"clusterAffinities": [
			{"affinityName": "a$", "clusterNames": ["c$"], "exclude": ["e$"], "labelSelector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}, "fieldSelector": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z$"]}, {"key": "region", "operator": "In", "values": ["r$"]}]}, "overflowAffinities": [{"affinityName": "o$", "clusterNames": ["c1", "c$"], "fieldSelector": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z$"]}]}}]}],
		"clusterTolerations": [{"key": "t$", "operator": "Equal", "value": "v$"}],
		"workloadAffinity": {"affinity": {"groupByLabelKey": "l0"}, "antiAffinity": {"groupByLabelKey": "l1"}},
		"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}, {"spreadByField": "region", "minGroups": 1, "maxGroups": 2}],
		"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted", "weightPreference": {"staticWeightList": [{"weight": 1, "targetCluster": {"clusterNames": ["c$"], "exclude": ["e$"], "labelSelector": {"matchLabels": {"l$": "v$"}, "matchExpressions": [{"key": "l$", "operator": "In", "values": ["v$"]}]}, "fieldSelector": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z$"]}]}}}]}}}}
}`

// configurationSeed is a file for config.Load.
const configurationSeed = `{
"file": {"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/v1",
	"extenders": [{"urlPrefix": "http://x$", "filterVerb": "f", "managedResources": [{"name": "x.io/m$", "ignoredByScheduler": true}]}],
	"profiles": [{"schedulerName": "p$",
		"plugins": {"multiPoint": {"disabled": [{"name": "M$"}]}, "score": {"enabled": [{"name": "NodeAffinity", "weight": 2}], "disabled": [{"name": "M$"}, {"name": "ImageLocality"}]}, "filter": {"disabled": [{"name": "M$"}]}},
		"pluginConfig": [
			{"name": "NodeResourcesFit", "args": {"ignoredResources": ["i.io/r$"], "ignoredResourceGroups": ["g$.io"], "scoringStrategy": {"type": "RequestedToCapacityRatio", "resources": [{"name": "x.io/r$", "weight": 1}], "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}}}},
			{"name": "NodeResourcesBalancedAllocation", "args": {"resources": [{"name": "x.io/r$", "weight": 1}]}},
			{"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": [{"maxSkew": 1, "topologyKey": "k$", "whenUnsatisfiable": "ScheduleAnyway"}]}},
			{"name": "NodeAffinity", "args": {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}], "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n$"]}]}]}, "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchExpressions": [{"key": "k$", "operator": "In", "values": ["v$"]}]}}]}}},
			{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 600, "shape": [{"utilization": 0, "score": 0}, {"utilization": "int:$", "score": 10}]}},
			{"name": "A$", "args": {"x$": ["y$"]}}]}]},
"node": {"kind": "Node", "metadata": {"name": "n0", "labels": {"k$": "v$"}}, "status": {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110", "x.io/r$": "9", "i.io/r$": "1"}}},
"pod": {"kind": "Pod", "metadata": {"namespace": "s", "name": "p", "uid": "p", "labels": {"l$": "v$"}}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "x.io/r$": "1", "i.io/r$": "1", "x.io/m$": "1"}}}]}}
}`
