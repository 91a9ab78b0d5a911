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
// [JSONResponse] on the way down.
package wire
