package vendor

import (
	"context"
	"net/http"
	"strings"

	"github.com/warmroute/warmroute/engine"
)

// Pass makes one attempt at something that is no turn, such as counting tokens
// or embedding text: it sends the call to path below the candidate's base URL,
// such as "/messages/count_tokens", and relays the answer whole and byte for
// byte. Keys, headers, guard, time limits and refusals are those of
// [Client.Send], and w is treated in the same way.
//
// Neither endpoint streams: a vendor that answers with events has not answered.
// Call.Metadata, Call.Drain and `stream` in the body have no meaning here.
func (c *Client) Pass(ctx context.Context, w http.ResponseWriter, call Call, path string, try engine.Try) engine.Attempt {
	body := *call.Body // the client's is shared
	body.Stream = false
	call.Body, call.Metadata, call.Drain = &body, MetadataOff, Drain{}
	a := attempt{c: c, ctx: ctx, w: w, call: &call, try: &try}
	a.Candidate = try.Candidate
	a.Started = c.o.Now()
	a.pass(path)
	a.Took = c.o.Now().Sub(a.Started)
	return a.Attempt
}

// pass is the attempt from the dial to the answer's kind.
func (a *attempt) pass(path string) {
	a.begin()
	defer a.stop()
	v := a.Candidate.Route.Vendor
	request, body, err := a.c.request(a.watch.ctx, a.call, a.try)
	if err != nil {
		a.fail(engine.StageRefused, engine.FailureCredential, err.Error())
		return
	}
	request.URL = address(v.BaseURL, path, a.call.Query)
	transport := a.c.transportFor(v.AllowPrivate)
	answer, err := transport.RoundTrip(request)
	if unsent(err) && a.cause() == nil { // as in send
		request.Body = body.reader()
		answer, err = transport.RoundTrip(request)
	}
	body.release()
	if err != nil {
		a.unanswered(err)
		return
	}
	defer answer.Body.Close()
	a.Status = answer.StatusCode
	if a.Status >= 200 && a.Status < 300 {
		a.accept()
	}
	plain, err := Decode(strings.Join(answer.Header["Content-Encoding"], ","), answer.Body, maxWindow)
	switch {
	case a.AcceptedAt.IsZero() && err != nil:
		a.refused(answer, strings.NewReader(""))
		return
	case err != nil:
		a.fail(engine.StageBroken, engine.FailureCut, err.Error())
		return
	}
	defer plain.Close()
	switch {
	case a.AcceptedAt.IsZero():
		a.refused(answer, plain)
	case mediaType(answer.Header.Get("Content-Type")) == "text/event-stream":
		a.fail(engine.StageBroken, engine.FailureStream, "events where one object was asked for")
	default:
		a.whole(answer, plain)
	}
}
