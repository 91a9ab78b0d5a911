package routes_test

import "testing"

// The same on the input the case came with.
func TestSharedForeignSignature(t *testing.T) {
	foreignSignature(t, sharedCase(t, "case-75-foreign-signature.json"))
}
