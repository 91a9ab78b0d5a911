package engine

// Outcome is what affinity did on a turn (design section 5). Readers treat an
// outcome they do not know as "no change".
type Outcome string

// The outcomes, in the order of their ladder.
const (
	SkippedModeOff        Outcome = "skipped_mode_off"
	StoreUnavailable      Outcome = "store_unavailable"
	NotCacheCapable       Outcome = "not_cache_capable"
	SkippedBelowMinPrefix Outcome = "skipped_below_min_prefix"
	NoPin                 Outcome = "no_pin"
	PinExpired            Outcome = "pin_expired"
	SkippedNotInPlan      Outcome = "skipped_not_in_plan"
	SkippedHealthDown     Outcome = "skipped_health_down"
	Confirmed             Outcome = "confirmed"
	SkippedOrder          Outcome = "skipped_order"
	SkippedPriceUnknown   Outcome = "skipped_price_unknown"
	SkippedNotCheaper     Outcome = "skipped_not_cheaper"
	Promoted              Outcome = "promoted"
	MovedOnPrice          Outcome = "moved_on_price" // gate expected only
)

// Detail refines an outcome. The zero Detail adds nothing.
type Detail string

// The details.
const (
	DetailOlderWarmVendor    Detail = "older_warm_vendor"
	DetailModelChanged       Detail = "model_changed"
	DetailSingleRoute        Detail = "single_route"
	DetailNeverEngaged       Detail = "never_engaged"
	DetailNoCacheMarker      Detail = "no_cache_marker"
	DetailNotBelowOwnInput   Detail = "not_below_own_input"
	DetailNotBelowRivalInput Detail = "not_below_rival_input"
	DetailRouteRemoved       Detail = "route_removed"
	DetailBoundToOrigin      Detail = "bound_to_origin"
	DetailNoKey              Detail = "no_key"            // the catalog has the route or credential, but not its key; or the caller has not brought its own again
	DetailBehindOwnKeys      Detail = "behind_own_keys"   // the pin is one of the operator's group, which stands behind the caller's own keys
	DetailSignedBy           Detail = "signed_by"         // the vendor signed the request's last thinking and goes first
	DetailForeignSignature   Detail = "foreign_signature" // the vendor refused what another had sealed
	DetailNoSession          Detail = "no_session"
	DetailSessionLimit       Detail = "session_limit" // the tenant began more sessions than it may: this one is served and not pinned
	DetailModelPinned        Detail = "model_pinned"  // the model that served the session last goes before the others of the target
	DetailHoldout            Detail = "holdout"       // affinity is off for the session, to be measured by: see [Holdout]
)
