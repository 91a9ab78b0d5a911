package vendor

import "github.com/warmroute/warmroute/engine"

// FailureOf is the kind of failure that a vendor's status means, which is not 2xx: for
// attempts that somebody else has made.
func FailureOf(status int) engine.Failure { return failureOf(status) }
