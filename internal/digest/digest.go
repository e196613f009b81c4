// Package digest has the SHA-256 digests by which long keys are told apart. In a browser it
// computes them itself: crypto/sha256 brings all modules of the standard library's FIPS mode
// with it, a seventieth of the playground's page.
package digest
