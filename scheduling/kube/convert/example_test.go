package convert_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-sched/berth/framework/api"
	"github.com/berth-sched/berth/scheduling/kube/convert"
)

func ExamplePod() {
	pod, err := convert.Pod(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": quantity.MustParse("1500m")},
		}}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	cpu := api.PodRequests(pod, api.RequestOptions{})["cpu"]
	fmt.Println(pod.Key(), cpu)
	// Output: shop/web 1500m
}
