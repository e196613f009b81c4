package dump

import "fmt"

func (c Config) pod(i int) object {
	t := i / replicas
	app := fmt.Sprintf("app-%d", t)
	template := hash(10, "template", t)
	meta := object{
		"annotations":       object{"cni.projectcalico.org/podIP": podIP(i) + "/32", "prometheus.io/port": "8080", "prometheus.io/scrape": "true"},
		"creationTimestamp": stamp(i), "generateName": app + "-" + template + "-",
		"labels": object{
			"app": app, "app.kubernetes.io/instance": app, "app.kubernetes.io/part-of": "shop", "pod-template-hash": template,
			"team": fmt.Sprintf("team-%d", t%30),
		},
		"name": app + "-" + template + "-" + hash(8, "pod", i), "namespace": fmt.Sprintf("namespace-%d", t%100),
		"ownerReferences": list{object{
			"apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": "ReplicaSet", "name": app + "-" + template, "uid": uid("owner", t),
		}},
		"resourceVersion": fmt.Sprint(80_000_000 + i), "uid": uid("pod", i),
	}
	if c.ManagedFields {
		meta["managedFields"] = managed("kubelet", "f:status", i)
	}
	return object{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": c.podSpec(i, app), "status": podStatus(i, t)}
}

func podIP(i int) string { return fmt.Sprintf("100.%d.%d.%d", 64+i/62500, i/250%250, i%250) }

// podSpec has what differs from one pod of a template to the next: the node, and the
// name of the token.
func (c Config) podSpec(i int, app string) object {
	t, token := i/replicas, "kube-api-access-"+hash(8, "token", i)
	spec := object{
		"containers": list{container("main", t, token)}, "dnsPolicy": "ClusterFirst", "enableServiceLinks": true,
		"nodeName": nodeName(i % c.Nodes), "preemptionPolicy": "PreemptLowerPriority", "priority": 0, "restartPolicy": "Always",
		"schedulerName": "default-scheduler", "securityContext": object{"fsGroup": 1000}, "serviceAccount": app, "serviceAccountName": app,
		"terminationGracePeriodSeconds": 30,
		"tolerations": list{
			object{"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300},
			object{"effect": "NoExecute", "key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300},
		},
		"volumes": list{
			object{"configMap": object{"defaultMode": 420, "name": app}, "name": "config"},
			object{"emptyDir": object{}, "name": "cache"},
			object{"name": token, "projected": object{"defaultMode": 420, "sources": list{
				object{"serviceAccountToken": object{"expirationSeconds": 3607, "path": "token"}},
				object{"configMap": object{"items": list{object{"key": "ca.crt", "path": "ca.crt"}}, "name": "kube-root-ca.crt"}},
				object{"downwardAPI": object{"items": list{object{"fieldRef": object{"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}}}},
			}}},
		},
	}
	selector := object{"matchLabels": object{"app": app}}
	if t%3 == 0 {
		spec["affinity"] = object{"podAntiAffinity": object{"preferredDuringSchedulingIgnoredDuringExecution": list{object{
			"podAffinityTerm": object{"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}, "weight": 100,
		}}}}
	}
	if t%4 == 0 {
		spec["initContainers"] = list{container("init", t, token)}
		spec["topologySpreadConstraints"] = list{object{
			"labelSelector": selector, "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway",
		}}
	}
	if t%2 == 0 {
		spec["containers"] = append(spec["containers"].(list), container("proxy", t, token))
	}
	return spec
}

func container(name string, t int, token string) object {
	probe := func(path string) object {
		return object{"failureThreshold": 3, "httpGet": object{"path": path, "port": "http", "scheme": "HTTP"}, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
	}
	env := list{
		object{"name": "POD_NAME", "valueFrom": object{"fieldRef": object{"apiVersion": "v1", "fieldPath": "metadata.name"}}},
		object{"name": "PASSWORD", "valueFrom": object{"secretKeyRef": object{"key": "password", "name": fmt.Sprintf("app-%d", t)}}},
	}
	for k := range 6 {
		env = append(env, object{"name": fmt.Sprintf("SETTING_%d", k), "value": "https://" + hash(12, "setting", t, k) + ".example.com/api"})
	}
	return object{
		"args": list{"--port=8080", "--config=/etc/app/config.yaml"}, "env": env,
		"image": fmt.Sprintf("registry.example.com/team/app-%d:v1", t%400), "imagePullPolicy": "IfNotPresent",
		"livenessProbe": probe("/healthz"), "name": name,
		"ports":          list{object{"containerPort": 8080, "name": "http", "protocol": "TCP"}, object{"containerPort": 9090, "name": "metrics", "protocol": "TCP"}},
		"readinessProbe": probe("/readyz"), "resources": resources(t),
		"securityContext":        object{"allowPrivilegeEscalation": false, "capabilities": object{"drop": list{"ALL"}}, "readOnlyRootFilesystem": true},
		"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
		"volumeMounts": list{
			object{"mountPath": "/etc/app", "name": "config"},
			object{"mountPath": "/cache", "name": "cache"},
			object{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": token, "readOnly": true},
		},
	}
}

func resources(t int) object {
	return object{
		"limits":   object{"cpu": "1", "memory": fmt.Sprintf("%dMi", 256+64*(t%5))},
		"requests": object{"cpu": fmt.Sprintf("%dm", 50+10*(t%7)), "memory": fmt.Sprintf("%dMi", 128+64*(t%5))},
	}
}

func podStatus(i, t int) object {
	conditions := list{}
	for k, name := range []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		conditions = append(conditions, object{"lastProbeTime": nil, "lastTransitionTime": stamp(i + k/2), "observedGeneration": 1, "status": "True", "type": name})
	}
	status := func(name string) object {
		r := resources(t)
		return object{
			"allocatedResources": r["requests"], "containerID": "containerd://" + hash(64, "id", i, name),
			"image": fmt.Sprintf("registry.example.com/team/app-%d:v1", t%400), "imageID": fmt.Sprintf("registry.example.com/team/app-%d@sha256:", t%400) + hash(64, "image", t%400),
			"lastState": object{}, "name": name, "ready": true, "resources": r, "restartCount": 0, "started": true,
			"state": object{"running": object{"startedAt": stamp(i + 1)}}, "user": object{"linux": object{"gid": 0, "supplementalGroups": list{0}, "uid": 0}},
			"volumeMounts": list{object{"mountPath": "/etc/app", "name": "config"}, object{"mountPath": "/cache", "name": "cache"}},
		}
	}
	s := object{
		"conditions": conditions, "containerStatuses": list{status("main")}, "hostIP": fmt.Sprintf("10.0.%d.%d", i/250%250, i%250),
		"hostIPs": list{object{"ip": fmt.Sprintf("10.0.%d.%d", i/250%250, i%250)}}, "observedGeneration": 1,
		"phase": "Running", "podIP": podIP(i), "podIPs": list{object{"ip": podIP(i)}}, "qosClass": "Burstable", "startTime": stamp(i),
	}
	if t%2 == 0 {
		s["containerStatuses"] = append(s["containerStatuses"].(list), status("proxy"))
	}
	if t%4 == 0 {
		s["initContainerStatuses"] = list{status("init")}
	}
	return s
}
