//go:build full

package main

func Example() {
	main()
	// Output:
	// without Solar
	//   grid-0: web-0 web-4 web-8
	//   grid-1: web-1 web-5 web-9
	//   solar-2: web-3 web-7
	//   solar-3: web-2 web-6
	// with Solar, weight 1
	//   grid-0: web-8
	//   grid-1: web-9
	//   solar-2: web-1 web-3 web-5 web-7
	//   solar-3: web-0 web-2 web-4 web-6
}
