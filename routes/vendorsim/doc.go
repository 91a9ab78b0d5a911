// Package vendorsim is a vendor that can be scripted: an [http.Handler] that
// speaks the three dialects, keeps a real prompt cache and reports usage with
// the fields its vendor documents. It serves the demo and the tests.
//
// Its promise: what it says about tokens is true of what it received. A prompt
// is read from the cache only if the same account sent the same leading content
// for the same model before, long enough to be worth caching, recently enough
// to be still there, and after the earlier answer had begun. Every token of a
// prompt is reported once: uncached, read or written. It is as strict as the
// strictest vendors, so that a member meant for the gateway that leaks through
// is a 400, and as deterministic as they are not: same configuration and same
// requests, same answers.
//
// # Tokens
//
// A token is four bytes of text, rounded up over the whole prompt. Text blocks
// count their text; tools, tool calls and every other block count their JSON,
// without insignificant space; an image, document or sound counts
// [MediaTokens].
//
// # The cache
//
// The prompt is hashed in the order tools, system, messages, as one chain. Keys
// keep the order they were sent in: a body that was rebuilt through a map has
// lost its cache here as it has at a vendor. Markers are not part of the
// content, so a marker that moves along does not change the prefix.
//
// With [catalog.Implicit] the chain is cut at MinPrefix tokens and then every
// Block tokens; the longest piece seen before is read, the rest up to the last
// cut is written. prompt_cache_retention "24h" and prompt_cache_options.ttl
// lengthen the lifetime.
//
// With [catalog.Explicit] only what stands before a cache_control marker is
// written, at most four markers, one-hour markers before five-minute ones. A
// marker finds an earlier entry at its own block or at one of the 19 before it. One on
// empty text, on thinking or on a tool that is loaded later is a 400; one at the top of
// the body stands for one on the last block that may have it.
// Simplified against the vendor: a block is one entry of content or one tool, so that a
// run of tool calls or results, which the Claude API counts as one, is as many as it
// has; blocks of nested content are not counted apart, the tool_choice and thinking
// settings do not invalidate messages, and a read refreshes the entry with the
// lifetime it was written with, whatever the reading marker says.
//
// An entry becomes readable when the first byte of its answer is sent, and a
// read counts its lifetime anew.
//
// # Faults
//
// [Vendor.Queue], or POST /sim/faults with the same as JSON, scripts what
// happens to the next requests: refusals, answers cut in the middle, error
// events, answers byte for byte. GET /sim/log tells what was received, GET
// /sim/cache what is held, POST /sim/reset forgets (?what=faults,log,cache for
// a part). Requests that a strict vendor would refuse use up no fault.
//
// Beside the three APIs there are count_tokens and embeddings, which cost
// nothing and touch no cache, and HEAD /. Tools are never called. An
// answer of the API responses can be continued by its id, by the account that was
// given it, unless store was false; any other previous_response_id is not found.
//
// Where a request asks for thinking (messages), or for reasoning.encrypted_content
// (responses), the answer holds some, sealed for its account. A request with what
// another account or another vendor has sealed is refused.
//
// Start with [New], [Config] and [Fault].
package vendorsim
