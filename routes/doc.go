// Package routes is warmroute's HTTP edge: the client APIs, and the health and
// reload endpoints of the admin address.
//
// Its promises: a client sees warmroute's own errors in its own dialect, and a
// vendor's as the vendor wrote them; an answer that was cut looks cut; no key,
// prompt, header or query string is ever logged; and a request's body is read
// whole, within its limits, before any vendor is called, since only then does
// the server notice that the client has left.
//
// Neither gin's logger nor its recovery is used: the first logs query strings,
// the second swallows [http.ErrAbortHandler], which makes a cut answer look
// complete, and prints request headers.
//
// What the design leaves open and how it is done here:
//
//   - metadata `off` leaves only x-warmroute-request-id on a response; with
//     `header` the other x-warmroute headers are there and the body is the vendor's.
//   - A refusal of the last vendor is relayed if it is JSON; else its status is,
//     with a body in the client's dialect. It keeps the vendor's ids and limits.
//     An error inside an accepted answer is relayed as the refusal it stands for.
//   - A body has 30 s to arrive, and beyond them as long as it keeps a pace of
//     16 KiB a second, up to ten minutes.
//   - A page of another web site is refused unless its request says JSON, for
//     which a browser asks leave first, and gets none.
//   - A name that does not exist is a 404 that names it, also where it is a
//     fallback beside a model that does exist: it would never be reached, and
//     whoever wrote it would never know.
//   - Every answer of the client APIs has an x-warmroute-request-id. Where the
//     request was refused before a turn began, the id is in the access log only.
//   - What asks for privacy is a filter: zeroDataRetention of the gateway's options
//     and zdr of OpenRouter's `provider` require the tag zdr, disallowPromptTraining
//     and data_collection "deny" the tag no_training, of the route or its vendor.
//   - x-warmroute-affinity is on or off; on undoes nothing that is off elsewhere.
//   - GET /v1/models lists each model once, its aliases as a member of it.
//   - A request body may be packed with gzip, zstd, br or deflate.
//
// Start with [New] and turn.go.
package routes
