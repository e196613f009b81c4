//go:build full

package main

import (
	"fmt"
	"os"
)

func Example() {
	if err := run(os.Stdout, 1); err != nil {
		fmt.Println(err)
	}
	// Output:
	//           a replica requests        rule  member1  member2  member3
	//        500m CPU, by the sums  Karmada111        6        4        0
	//   3 CPUs and 20Gi, by models  Karmada111        7        8       10
	//   3 CPUs and 60Gi, by models  Karmada111        6        4        4
	//        500m CPU, by the sums  Karmada113        6        4        0
	//   3 CPUs and 20Gi, by models  Karmada113        6        4       10
	//   3 CPUs and 60Gi, by models  Karmada113        0        0        4
	//        500m CPU, by the sums  Karmada118        6        4        0
	//   3 CPUs and 20Gi, by models  Karmada118        6        4       10
	//   3 CPUs and 60Gi, by models  Karmada118        0        0        4
	//
	// 80 replicas of 3 CPUs and 10Gi, by models and rule Karmada111: 12 unplaced
	//   round   cluster  estimated  given  placed
	//       1  cluster2         33     29      19
	//       1  cluster4         29     26      14
	//       1  cluster6         28     25       8
	//       2  cluster1         27     22      15
	//       2  cluster3         10      8       6
	//       2  cluster5         11      9       6
}
