//go:build full

package main

func Example() {
	main()
	// Output:
	// train, 8 workers of 8 GPUs in one rack: Short, proved: true
	//   rack r0 takes 7 of 8 pods; default/train-7: 0/7 nodes are available: 7 Insufficient example.com/gpu. Missing room for 1 pod: 1 empty node like its largest.
	// more nodes needed in rack r1: 3
	// more nodes needed in rack r2: 1
	// after node r2-7 has come: Placed in rack r2
	//   default/train-0 on r2-0, and 7 more
	// pod by pod: blue has 4 of 6 pods, green 4 of 6; both wait for ever
	// as groups: blue: Placed, 6 pods
	// as groups: green: Short, 0 pods
}
