package routes_test

import "testing"

func TestSharedLongIDsAndBlankOnes(t *testing.T) {
	longAndBlank(t, sharedCase(t, "case-64-long-ids.yaml"))
}
