// Package routes is warmroute's HTTP edge. To clients it serves turns in three
// dialects, the counting of tokens, embeddings and the list of models ([New]); to
// the owner, on the admin address, the JSON API /api/v1, /metrics, the state of
// health and the reload of the catalog ([Admin]).
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
//   - Where there are tenants, every path below /v1 wants the key of one, before a
//     body is read: Authorization: Bearer, x-api-key or api-key, two of which must
//     not differ. HEAD / and GET / are open. Keys are kept as hashes only.
//   - Several tenants may share a vendor's account. Then a stored response
//     (previous_response_id) is continued only by the tenant that is remembered to
//     have been given it, about a day, and idempotency keys are hashed with the
//     tenant. The same holds of conversations and containers, and not where only keys
//     of the tenant's own are used. What else is named by an id that the vendor made
//     up (item_reference, files) is as safe as that id is hard to guess. That
//     the account's rate limits and the counts of cached tokens tell of others'
//     traffic cannot be helped but by accounts of their own, with a tenant's `only`.
//   - Callers' own keys for vendors come in x-warmroute-key-<vendor> headers, several
//     of a vendor in several such headers, and in providerOptions.gateway.byok, where
//     of Vercel's shapes apiKey alone is understood: what needs more than a key would
//     be sent half. Keys of a header come before those of the body, and both before
//     what the tenant has stored for the vendor. Where the tenant may send none, the
//     request is a 403: to serve it all the same would put the bill on somebody else.
//     A gateway that asks /v1/route may pass its client's on in either of the two
//     headers. Keys are taken off the request before anything looks at it; an error that
//     repeats one is kept from the client. What they cost is in the books at the
//     catalog's prices like all else, told apart by the group of each attempt.
//   - A model whose every vendor the tenant's `only` excludes is not listed or
//     suggested. Who asks for it all the same is told that no vendor of it is open.
//   - A request body may be packed with gzip, zstd, br or deflate.
//
// Start with [New] and turn.go.
package routes
