package wire

import (
	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
)

// JSONAnswer is a whole JSON answer, read and edited.
type JSONAnswer struct {
	Body  []byte // for the client; the vendor's own slice where nothing was put in
	Whole bool   // it is one JSON object, read to its end
	Report
	Model string            // the model the vendor says it was; empty if it does not
	Error *StreamError      // the error that it is in all its 200; nil if none
	Said  engine.Said       // what the assistant said, where it was asked for; nothing of an error
	Made  []engine.Stateful // what of it only its maker can read
	ID    string            // of an answer of the API responses: what previous_response_id names; empty for others
}

// JSONResponse reads a whole 2xx JSON answer and puts the metadata in, as the
// last member of the object. A body that is no JSON object, describes an error
// or carries provider_metadata already is passed on as it is. Usage is never
// hidden from a JSON answer.
func JSONResponse(o RelayOptions, body []byte) JSONAnswer {
	answer := JSONAnswer{Body: body}
	failure, object := answerError(body)
	if !object.found() {
		return answer
	}
	answer.Whole, answer.Error = true, failure
	// A relay's eyes on one object.
	r := Relay{o: o, conv: o.convention()}
	r.finished = true
	a := r.answer(body, object)
	r.madeWhole(body, object)
	answer.Made = r.made.list()
	answer.Report = r.tally.report(r.conv)
	answer.Model, answer.Tier, answer.ID = r.model, r.tier, r.id
	if o.Hears && failure == nil {
		answer.Said = hearAnswer(o.API, body, object)
	}
	// A failed response is an answer of its dialect all the same.
	isError := answer.Error != nil && o.API != catalog.Responses
	if o.Metadata == nil || carriesMetadata(body) || isError || a.members == 0 {
		return answer
	}
	const name = `,"provider_metadata":`
	out := make([]byte, 0, len(body)+len(name)+len(o.Metadata))
	out = append(out, body[:a.last]...)
	out = append(out, name...)
	out = append(out, o.Metadata...)
	answer.Body = append(out, body[a.last:]...)
	return answer
}
