// Package amplify measures how much memory a decoder takes for each byte of its
// input.
//
// Others choose the text that a decoder reads, so a decoder must not take much more
// memory than the text is long. [Run] gives a decoder hostile texts of a dozen
// shapes, each in two sizes, and fails the test if the memory exceeds a stated factor
// or grows faster than the text:
//
//	amplify.Run(t, amplify.Decoder{Name: "api.Decode", Decode: decode, Texts: amplify.JSON()})
//
// Memory is the sum of all allocations of a call, so it is an upper bound of what the
// call holds at any moment, and the same on every run. Time is bounded with it: the
// decoders do no work that is not paid for by text, except what a test of their own
// measures.
package amplify
