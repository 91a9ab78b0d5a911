package vendor

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/wire"
)

const (
	maxReply  = 64 << 10 // bytes kept of a refusal
	maxWindow = 32 << 20 // bytes a zstd decoder may remember of an answer
)

// attempt is one Send under way.
type attempt struct {
	c    *Client
	ctx  context.Context // the client's
	w    http.ResponseWriter
	rc   *http.ResponseController
	call *Call
	try  *engine.Try
	on   draining
	watch
	engine.Attempt
}

// Send makes one attempt: it dials the candidate, relays its answer to w if
// there is one, and says how it went. It never panics on its own account and
// leaves no goroutine behind but those of the connection pool.
//
// Headers that w already carries go out with the answer; Send adds to them only
// when it commits. Where the attempt did not commit, w is as it was.
func (c *Client) Send(ctx context.Context, w http.ResponseWriter, call Call, try engine.Try) engine.Attempt {
	a := attempt{c: c, ctx: ctx, w: w, call: &call, try: &try}
	a.Candidate = try.Candidate
	a.Started = c.o.Now()
	a.send()
	a.Took = c.o.Now().Sub(a.Started)
	return a.Attempt
}

// fail notes how the attempt ended. The cause is for the log.
func (a *attempt) fail(stage engine.Stage, failure engine.Failure, cause string) {
	a.Stage, a.Failure, a.Cause = stage, failure, cause
}

// send is the attempt from the dial to the answer's kind.
func (a *attempt) send() {
	a.begin()
	defer a.stop()
	request, body, err := a.c.request(a.watch.ctx, a.call, a.try)
	if err != nil {
		a.fail(engine.StageRefused, engine.FailureCredential, err.Error())
		return
	}
	transport := a.c.transportFor(a.Candidate.Route.Vendor.AllowPrivate)
	answer, err := transport.RoundTrip(request)
	if unsent(err) && a.cause() == nil {
		// A pooled connection that its vendor was closing: nobody has read the
		// request, so it goes out once more.
		request.Body = body.reader()
		answer, err = transport.RoundTrip(request)
	}
	body.release() // a stream may last; the transport holds on where it still reads
	if err != nil {
		a.unanswered(err)
		return
	}
	defer answer.Body.Close()
	a.Status = answer.StatusCode
	plain, err := Decode(strings.Join(answer.Header["Content-Encoding"], ","), answer.Body, maxWindow)
	accepted := answer.StatusCode >= 200 && answer.StatusCode < 300
	if accepted {
		a.accept()
	}
	switch {
	case err != nil && accepted:
		a.fail(engine.StageBroken, engine.FailureCut, err.Error())
		return
	case err != nil:
		plain = io.NopCloser(strings.NewReader(""))
	}
	defer plain.Close()
	switch {
	case !accepted:
		a.refused(answer, plain)
	case a.streams(answer):
		a.stream(answer, plain)
	default:
		a.labelled(answer, plain)
	}
}

// unsent says whether an attempt failed in writing the request: it did not
// reach its vendor whole, and may be sent again.
func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && (op.Op == "write" || op.Op == "readfrom")
}

// accept tells the engine that 2xx headers have come.
func (a *attempt) accept() {
	a.AcceptedAt = a.c.o.Now()
	if a.try.Accepted != nil {
		a.try.Accepted()
	}
}

// unanswered sorts an attempt that got no answer at all.
func (a *attempt) unanswered(err error) {
	switch {
	case a.left():
		a.abandon()
	case a.cause() == errFirstByte:
		a.fail(engine.StageRefused, engine.FailureTimeout, errFirstByte.Error())
	default:
		a.fail(engine.StageRefused, engine.FailureConnect, describe(err))
	}
}

// streams says whether an accepted answer is an event stream. Where the client
// asked for one, whatever does not call itself JSON is taken for it: some
// vendors send events as text/plain.
func (a *attempt) streams(answer *http.Response) bool {
	switch t := mediaType(answer.Header.Get("Content-Type")); {
	case t == "text/event-stream":
		return true
	case strings.Contains(t, "json"):
		return false
	}
	return a.call.stream()
}

// labelled relays what calls itself JSON. Where the client asked for a stream it
// may be one all the same: its first letter tells.
func (a *attempt) labelled(answer *http.Response, plain io.Reader) {
	if !a.call.stream() {
		a.whole(answer, plain)
		return
	}
	b := bufio.NewReader(plain)
	if strings.IndexByte("deir:", firstByte(b)) >= 0 { // data, event, id, retry or a comment
		a.stream(answer, b)
		return
	}
	a.whole(answer, b)
}

// firstByte waits for the first byte that is not white space; 0 if there is none
// in what b can hold. It takes nothing away.
func firstByte(b *bufio.Reader) byte {
	for n := 1; n <= b.Size(); n++ {
		head, err := b.Peek(n)
		if err != nil {
			return 0
		}
		if c := head[n-1]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

// refused keeps what a vendor said instead of an answer. A redirect keeps
// nothing: where it points is not for the client.
func (a *attempt) refused(answer *http.Response, plain io.Reader) {
	a.fail(engine.StageRefused, failureOf(answer.StatusCode), "status "+strconv.Itoa(answer.StatusCode))
	retry := answer.Header.Get("Retry-After")
	a.RetryAfter = RetryAfter(retry, a.c.o.Now())
	if answer.StatusCode < 400 {
		return
	}
	a.arm(a.c.o.Idle, errIdle)
	body, err := io.ReadAll(io.LimitReader(plain, maxReply+1))
	switch {
	case a.left():
		a.abandon()
		return
	case err != nil || len(body) > maxReply:
		body = nil // half a refusal is no refusal; the status still says it
	case a.Failure == engine.FailureCredential, a.Failure == engine.FailureForbidden, a.echoes(string(body)):
		body = nil // what is said of a key may contain it, whole or in part
	}
	if !readableRetry(retry, a.c.o.Now()) {
		retry = ""
	}
	a.Reply = &engine.Reply{
		Status:     answer.StatusCode,
		Type:       answer.Header.Get("Content-Type"),
		Body:       body,
		RetryAfter: retry,
		Header:     a.allowed(answer.Header),
	}
}

// allowed is what the client may have of a vendor's header beside a refusal,
// which names its Retry-After itself.
func (a *attempt) allowed(vendor http.Header) http.Header {
	h := http.Header{}
	a.copyHeader(h, vendor)
	delete(h, "Retry-After")
	return h
}

// readableRetry says whether a Retry-After may be given to the client: a number
// of seconds or a date, not junk.
func readableRetry(value string, now time.Time) bool {
	if _, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31); err == nil {
		return true
	}
	_, err := http.ParseTime(value)
	return err == nil
}

// failureOf sorts a status that is not 2xx.
func failureOf(status int) engine.Failure {
	switch {
	case status == http.StatusTooManyRequests:
		return engine.FailureThrottled
	case status == http.StatusUnauthorized, status == http.StatusPaymentRequired:
		return engine.FailureCredential
	case status == http.StatusForbidden:
		return engine.FailureForbidden
	case status == http.StatusNotFound:
		return engine.FailureNotFound
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500, status < 400:
		return engine.FailureServer
	}
	return engine.FailureRequest
}

// relayOptions say how an answer is read and what is put into it.
func (a *attempt) relayOptions() wire.RelayOptions {
	o := wire.RelayOptions{
		API:       a.call.Body.API,
		Usage:     a.Candidate.Route.Vendor.UsageOf(a.call.Body.API),
		Hears:     a.try.Hears,
		HideUsage: a.call.Body.AsksUsage(a.Candidate.Route.Vendor.Refuses),
	}
	if a.call.Metadata == MetadataBody || a.call.Metadata == "" {
		o.Metadata = wire.Metadata(a.try.Session, a.try.Finding)
	}
	return o
}

// made tells the engine what of the answer only its maker can read.
func (a *attempt) made(all []engine.Stateful) {
	if a.try.Made == nil {
		return
	}
	for _, c := range all {
		a.try.Made(c)
	}
}

// commit sends the header of an accepted answer. length is the body's, -1 for a
// stream.
func (a *attempt) commit(answer *http.Response, contentType string, length int) {
	if a.ResponseID != "" && a.try.Made != nil {
		a.try.Made(engine.Stateful{Kind: engine.KindResponse, ID: a.ResponseID})
	}
	a.Committed = true
	h := a.w.Header()
	a.copyHeader(h, answer.Header)
	if contentType != "" {
		h["Content-Type"] = []string{contentType}
	}
	h["Cache-Control"] = []string{"no-store"}
	if length >= 0 {
		h["Content-Length"] = []string{strconv.Itoa(length)}
	} else {
		h["X-Accel-Buffering"] = []string{"no"}
	}
	a.rc = http.NewResponseController(a.w)
	a.w.WriteHeader(answer.StatusCode)
}

// write gives the client some bytes and sends them on their way, at most
// Options.Write late. Between writes no deadline stands: HTTP/2 would reset the
// stream when it passes.
func (a *attempt) write(p []byte) error {
	a.deadline(time.Now().Add(a.c.o.Write))
	if _, err := a.w.Write(p); err != nil {
		return err
	}
	if err := a.rc.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	a.deadline(time.Time{})
	return nil
}

// last leaves a deadline for what net/http writes after us. It lifts it itself
// before the connection is used again.
func (a *attempt) last() { a.deadline(time.Now().Add(a.c.o.Write)) }

// deadline is the client's for taking what is written; a writer that has none
// is left alone.
func (a *attempt) deadline(t time.Time) { _ = a.rc.SetWriteDeadline(t) }
