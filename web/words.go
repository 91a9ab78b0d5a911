package web

import "github.com/warmroute/warmroute/engine"

// meaning is an outcome in a sentence (design section 5); empty for one that
// these pages do not know.
func meaning(o engine.Outcome) string {
	switch o {
	case engine.SkippedModeOff:
		return "affinity is off for this request"
	case engine.StoreUnavailable:
		return "the pins did not answer in time"
	case engine.NotCacheCapable:
		return "the model cannot cache"
	case engine.SkippedBelowMinPrefix:
		return "the prompt is shorter than a cache takes"
	case engine.NoPin:
		return "nothing remembered for this session and model"
	case engine.PinExpired:
		return "the cache's lifetime has passed"
	case engine.SkippedNotInPlan:
		return "the request's own settings leave the warm vendor out"
	case engine.SkippedHealthDown:
		return "the warm vendor is down or cooling"
	case engine.Confirmed:
		return "the warm vendor was first already"
	case engine.SkippedOrder:
		return "an explicit order takes precedence"
	case engine.SkippedPriceUnknown:
		return "a price that the gate needs is not known"
	case engine.SkippedNotCheaper:
		return "reading the cache would not have been cheapest"
	case engine.Promoted:
		return "moved to the warm vendor, which was cheapest"
	case engine.MovedOnPrice:
		return "moved on price, not on warmth"
	}
	return ""
}

// detailMeaning is a detail in a sentence.
func detailMeaning(d engine.Detail) string {
	switch d {
	case engine.DetailOlderWarmVendor:
		return "not the vendor that served last, but one that is still warm"
	case engine.DetailModelChanged:
		return "the session has pins, but none for this model"
	case engine.DetailSingleRoute:
		return "the model has one route here"
	case engine.DetailNeverEngaged:
		return "the vendor has not reported a cache for turns that should have had one"
	case engine.DetailNoCacheMarker:
		return "the vendor caches only what is marked, and nothing is"
	case engine.DetailNotBelowOwnInput:
		return "its cache-read price is not below its own input price"
	case engine.DetailNotBelowRivalInput:
		return "its cache-read price is not below a rival's input price"
	case engine.DetailRouteRemoved:
		return "the catalog no longer has that route"
	case engine.DetailNoKey:
		return "its vendor has no key any longer, or the caller's own has not come again"
	case engine.DetailBehindOwnKeys:
		return "among our keys, which stand behind the caller's own"
	case engine.DetailSignedBy:
		return "the vendor that signed the last thinking goes first"
	case engine.DetailForeignSignature:
		return "the vendor refused what another had sealed; nothing else was tried"
	case engine.DetailBoundToOrigin:
		return "the content belongs to the vendor that made it"
	case engine.DetailNoSession:
		return "the request could not be named as part of a session"
	case engine.DetailHoldout:
		return "the session is held out: it runs without affinity, so that the others can be compared with it"
	}
	return ""
}

// classMeaning says how a session of a class was named.
func classMeaning(c engine.Class) string {
	switch c {
	case engine.ClassExplicit:
		return "the client named it"
	case engine.ClassCacheKey:
		return "a prompt cache key, which many conversations may share"
	case engine.ClassAgent:
		return "the agent's own header or metadata"
	case engine.ClassChain:
		return "the last answer this gateway gave"
	case engine.ClassFingerprint:
		return "the opening of the conversation and its tools"
	}
	return ""
}
