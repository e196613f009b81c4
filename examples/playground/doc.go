// Playground is a page that shows how kube-scheduler decides: which node a pod goes to,
// what every plugin says about every node, and what would change it. The library runs in
// the browser, compiled to WebAssembly; nothing leaves the page.
//
//	go run ./examples/playground            # serves the page on this machine
//	go run ./examples/playground -out site  # writes it, for any server of files
//
// Paste what kubectl prints, or choose a sample. Move a weight, click a node, step through
// the pods. The address of the page holds all of it, so a link shows another person the
// same.
//
// The program compiles the page with the go command, so it needs Go and this source.
package main
