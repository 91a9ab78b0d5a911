// Package vendor makes one attempt: it sends a turn to one candidate's vendor
// and passes the answer on.
//
// Its promises: the request is built, not copied, so that nothing of the
// client's reaches a vendor but what is named here; the key reaches no one but
// its own vendor, neither by a redirect nor by a name that resolves to a private
// address; nothing is sent to the client before the answer has begun, so that
// another candidate may still be tried; an answer that was cut never looks
// complete; and when the client leaves, the vendor's request is cancelled, or read
// on within limits where that was asked for, so that its usage is known.
//
// What is a surprise:
//
//   - A stream is held until its first event that is neither a comment nor a
//     ping. An error as that first event is a failed attempt; an error after it
//     is the vendor's answer and is passed on.
//   - What a vendor says inside an accepted answer tells whose failure it is: a
//     client's own mistake ends the turn and is held against no vendor, a limit
//     on rates counts as a 429, all else as the vendor's failure.
//   - A 200 that is no JSON object, or is an error, is a failed attempt.
//   - What calls itself JSON is a stream if one was asked for and it begins like one.
//   - A 403 passes the credential over in this turn and says nothing of it for
//     others.
//   - Words and headers of a vendor that repeat the key, or its last eight
//     characters, in any of their usual forms are not passed on.
//   - A request that a vendor may have read whole is never sent to it again.
//   - A vendor that compresses although asked not to is decoded; the client
//     gets plain bytes.
//   - A redirect is a failed attempt. Its address is the vendor's to choose and
//     is never followed, nor shown.
//   - After the dialect's terminal event the connection is given a tenth of a
//     second to end by itself, so that it can be used again; the client's answer
//     is not held longer than that.
//
// Start with [New] and [Client.Send].
package vendor
