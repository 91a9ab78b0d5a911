// Package wire reads and edits the three client dialects as bytes.
//
// Its promise: what the vendor receives is the client's body byte for byte, and
// what the client receives is the vendor's, but for the edits the design names.
// A request is scanned once for offsets and edited by splicing; it is never
// decoded and encoded again, because rebuilding a body reorders it and breaks
// the caches this product exists for. A response stream is cut into events,
// looked at for usage and for its end, and passed on.
//
// Start with [ReadRequest] and [Request.Upstream] on the way up, [Relay] and
// [JSONResponse] on the way down. How each vendor counts tokens is the catalog's
// data; [Normalise] reads a usage object by it, and buckets.go says what numbers mean
// that do not agree. prefix.go hashes a prompt up to each of its boundaries, for the
// books to tell how much of it the next one keeps.
//
// Where the design is silent:
//
//   - Reading is strict. A member that routing looks at may stand in a body once
//     and spelled plainly; a second one, an escape or another case that a lenient
//     reader would take for it is refused, because the vendor might read the
//     other one.
//   - Text is every string value of system, instructions, messages, input and
//     tools, decoded. Not counted: data URLs, encrypted_content, signature, and
//     data and file_data that look like base64.
//   - A cache marker is a cache_control object of type ephemeral, in those
//     members or at the body's top.
//   - What names a session is a hint: session_id, sessionId, prompt_cache_key and
//     the gateway's sessionId and sessionAffinity of another type say nothing and
//     fail nothing. A privacy setting of another type is refused.
//   - Markers are placed in messages and chat; what the API responses sends has no
//     place for them. For a vendor that refuses them they are cut wherever they stand,
//     but for what a tool is called with or described by. See markers.go.
//   - A client's prompt_cache_key that is longer than vendors take is replaced in place.
//   - Without a model the first of models is the target, and the vendor's model is
//     appended.
//   - prompt_cache_key goes to messages vendors only if they accept it.
//   - A stream that has carried provider_metadata in any event gets none of ours.
//   - providerOptions.gateway goes before OpenRouter's provider, member by member, and
//     its caching and lifetime before those at the body's top.
//   - A filter that cannot be read or kept is refused, never dropped: limits of prices that
//     no catalog has, quantizations of no known name, privacy in another type. Members
//     that nobody reads are noted by name, at most eight, so that the client is told:
//     wishes, labels, options of a vendor, and what is not known.
//   - A vendor is never sent what is ours, so require_parameters looks at the members that
//     a vendor refuses in the catalog: only those are cut out of what the client says to it.
//   - Limits of prices are per million tokens, and per request, in the catalog's currency,
//     whatever unit the catalog is written in.
//   - The prompt up to its last marker is hashed by what the vendor would cache: without
//     markers, and a lone text like the block it would be.
//   - Usage is merged by the greatest value each counter has had. Numbers that
//     contradict each other in a way that can be settled (more cached than there
//     was prompt, a total that only fits with reasoning taken the other way) are
//     derived; numbers that cannot be (negative, fractional, above 2^40, a total
//     that nothing adds up to) are invalid.
//   - A prompt of no tokens is one that was not reported: such usage is partial.
//   - Writes beyond those whose lifetime is named have the ordinary one.
//   - Of an answer's iterations, those are sides that the numbers at the top leave
//     out: the kinds the convention names, and tries of another model than the last
//     step's, unless the top is the sum with them.
//   - A chat stream that ends in good order, in the middle of nothing, after every
//     choice that has begun had its finish_reason, is complete even if [DONE] never
//     came, as some compatible vendors never send it.
//   - An event above 4 MiB is passed on unread, and its stream's usage is missing.
//     What its first kilobyte says of its type holds once its end has come.
//   - An error that is null, an empty text or an empty object is none. An event
//     named error is one whatever its data.
//   - Of a chunk without choices that reports usage nobody asked for, the chunk is
//     left out only if it holds nothing that other chunks do not.
package wire
