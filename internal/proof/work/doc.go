// Package work proves that work grows no faster than what others send.
//
// Its test builds itself with coverage that counts, and so knows how often each statement
// of the library runs. It gives hostile shapes to the library in two sizes. The larger is
// four times the smaller, so a loop in a loop runs 16 times as many statements, and the
// test fails. Counts are the same on every machine, unlike times.
//
// TestWork does so for shapes that somebody thought of. TestGrow takes small objects of all kinds,
// grows many of their lists and maps at once, and looks for single statements that run for each pair.
//
// The comparisons of package slices count as well, as do functions that the library gives to
// others. What else the standard library does is not counted, such as the work in a map.
package work
