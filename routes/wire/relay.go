package wire

import (
	"bytes"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/pricing"
)

// RelayOptions say how one answer is passed on.
type RelayOptions struct {
	API       catalog.API
	Usage     *catalog.Usage // how the vendor counts; nil: as is usual on the API
	Metadata  []byte         // JSON value of provider_metadata to put in; nil: none
	HideUsage bool           // the client did not ask for usage that we asked for; chat streams only
	Hears     bool           // what the assistant says is wanted, by its hashes
}

// convention is how the vendor counts.
func (o *RelayOptions) convention() *catalog.Usage {
	if o.Usage != nil {
		return o.Usage
	}
	return catalog.UsageConvention("", o.API)
}

// maxEvent is the longest event that is looked into. A longer one is passed on
// as it comes, and the usage of its stream is unknown. It is also what a stream
// may hold in memory.
const maxEvent = 4 << 20

// roomy is how much of its buffers a stream keeps once a long event has gone out.
const roomy = 256 << 10

// Relay passes one event stream on and watches it. It is used by one goroutine.
//
// What it returns is the vendor's bytes, cut at the ends of events, but for the
// edits of the design: the metadata, usage the client did not ask for, and for
// messages clients the event lines a vendor left out. How the vendor's bytes
// were split on their way makes no difference to it.
type Relay struct {
	o    RelayOptions
	conv *catalog.Usage

	held  []byte // held[start:] is the incomplete event
	start int
	out   []byte // what an edited answer is built in

	scan    int  // how much of the incomplete event has no unseen line end
	line    int  // where its current line starts; -1: before what is held
	returns bool // a \r has come
	skipLF  bool // a line ended with \r at the end of what came
	dropped bool // the event that ended there was left out
	longest int  // events that are longer are passed on unread
	blind   bool // the current event is too long and passed as it comes
	closes  bool // it is, by its name, the stream's last
	first   bool // the stream's first event has been seen

	watch
}

// NewRelay starts to relay a stream.
func NewRelay(o RelayOptions) *Relay {
	r := &Relay{o: o, conv: o.convention(), longest: maxEvent}
	if o.Hears {
		r.heard = new(listener)
	}
	r.words = wordsOf(r.conv)
	return r
}

// Feed takes what arrived and returns what the client may have now: whole
// events. What is returned is valid until the next call and may be part of
// chunk, which therefore must stay unchanged as long.
func (r *Relay) Feed(chunk []byte) []byte {
	r.shed()
	data, holding := chunk, len(r.held) > 0
	if holding {
		r.hold(chunk)
		data = r.held
	}
	out, rest := r.cut(data)
	switch {
	case holding:
		r.start = rest
		if rest == len(r.held) {
			// out may lie in held: it is emptied by the next call.
			r.start = len(r.held)
		}
	case rest < len(data):
		r.hold(data[rest:])
	}
	return out
}

// shed forgets what is out, and the room that a long event has taken.
func (r *Relay) shed() {
	if r.start > 0 {
		rest := r.held[r.start:]
		if cap(r.held) > roomy && len(rest) <= roomy {
			r.held = append([]byte(nil), rest...)
		} else {
			r.held = r.held[:copy(r.held, rest)]
		}
		r.start = 0
	}
	if cap(r.out) > roomy {
		r.out = nil
	}
	if cap(r.joined) > roomy {
		r.joined, r.pieces = nil, nil
	}
}

// hold keeps what is no whole event yet. Room grows in few steps, the last to
// what the longest event needs, so that growing never takes much more than that.
func (r *Relay) hold(b []byte) {
	if need := len(r.held) + len(b); need > cap(r.held) {
		room := need + need/4
		if need > 64<<10 {
			room = 4 * need
		}
		room = max(need, min(room, r.longest+32<<10))
		r.held = append(make([]byte, 0, room), r.held...)
	}
	r.held = append(r.held, b...)
}

// cut finds the events in data, edits them, and returns what may go out and how
// much of data that was.
func (r *Relay) cut(data []byte) (out []byte, rest int) {
	event, i, line := 0, r.scan, r.line
	from, edited := 0, false // what of data is not out yet
	r.out = r.out[:0]
	if r.skipLF && i < len(data) {
		r.skipLF = false
		if data[i] == '\n' {
			switch {
			case i > 0 || r.blind: // inside an event
				i++
				if line >= 0 {
					line = i
				}
			case r.dropped:
				i, line, event, from = 1, 1, 1, 1
			default:
				i, line, event = 1, 1, 1
			}
		}
	}
	lf, cr := -1, -1
	for i < len(data) {
		lf, cr = nextByte(data, i, lf, '\n'), nextByte(data, i, cr, '\r')
		at := min(lf, cr)
		r.returns = r.returns || cr < len(data)
		if at == len(data) {
			break
		}
		end := at + 1
		if data[at] == '\r' {
			if end == len(data) {
				r.skipLF = true
			} else if data[end] == '\n' {
				end++
			}
		}
		blank := at == line
		i, line = end, end
		if !blank {
			continue
		}
		verdict := r.take(data[event:end])
		r.dropped = verdict == drop
		if verdict != pass {
			edited = true
			r.out = append(r.out, data[from:event]...)
			if verdict == edit {
				r.out = r.edits.apply(r.out, data[event:end])
			}
			from = end
		}
		event = end
	}
	rest = event
	if !r.blind && r.tooLong(data[event:]) {
		r.lose(data[event:])
		r.blind = true
	}
	if r.blind {
		rest = len(data)
		r.scan, r.line = 0, -1
		if line == len(data) {
			r.line = 0
		}
	} else {
		r.scan, r.line = len(data)-event, line-event
	}
	if !edited {
		return data[from:rest], rest
	}
	r.out = append(r.out, data[from:rest]...)
	return r.out, rest
}

// nextByte is the offset of the next c at or after i, len(data) if there is
// none; known is what it said before.
func nextByte(data []byte, i, known int, c byte) int {
	if known >= i {
		return known
	}
	if n := bytes.IndexByte(data[i:], c); n >= 0 {
		return i + n
	}
	return len(data)
}

// doneMark is the data of a chat stream's last event.
var doneMark = []byte("[DONE]")

// verdict is what becomes of an event.
type verdict uint8

const (
	pass verdict = iota
	drop
	edit
)

// take looks at one whole event.
func (r *Relay) take(event []byte) verdict {
	switch {
	case r.blind:
		r.blind = false
		r.closed()
		return pass
	case r.tooLong(event):
		r.lose(event)
		r.closed()
		return pass
	}
	r.edits = r.edits[:0]
	if !r.look(event) {
		return drop
	}
	if len(r.edits) > 0 {
		return edit
	}
	return pass
}

// tooLong says whether an event, or what has come of it, is too long to read.
// Line ends at its end do not count: how they were split makes no difference.
func (r *Relay) tooLong(event []byte) bool {
	return len(event) > r.longest && len(bytes.TrimRight(event, "\r\n")) > r.longest
}

// maxHead is how much of an event is read that is too long.
const maxHead = 1 << 10

// lose gives up on an event that is too long. Its beginning still says what it
// is: an error, or the stream's last once it has come to its own end.
func (r *Relay) lose(event []byte) {
	r.lost, r.began = true, true
	e := r.parse(event[:min(len(event), maxHead, r.longest)])
	r.first = true
	if r.o.API == catalog.Chat {
		if string(e.name) == "error" {
			r.failed = first(r.failed, &StreamError{})
		}
		return
	}
	name := kind(&e)
	if name == "error" || name == "response.failed" {
		r.failed = first(r.failed, &StreamError{})
	}
	r.closes = terminal(name)
}

// closed notes the end of an event that was lost.
func (r *Relay) closed() {
	if r.closes {
		r.done, r.finished, r.closes = true, true, false
	}
}

// Finish is called at the vendor's clean end of stream and returns what was
// held: a last event without its blank line, if it is whole. Half an event is
// dropped, since no client could read it.
//
// Where the stream is over but not done, the event is closed with the line ends
// it lacks, so that a [CutEvent] may follow.
func (r *Relay) Finish() []byte {
	event := r.held[r.start:]
	r.held, r.start = nil, 0
	r.out = r.out[:0]
	half := r.blind
	if len(event) > 0 {
		if half = !r.whole(event); !half {
			switch r.take(event) {
			case pass:
				r.out = append(r.out, event...)
			case edit:
				r.out = r.edits.apply(r.out, event)
			}
		}
	}
	// Some compatible vendors never send [DONE]: where every choice has ended and
	// the connection did so in good order, the answer is whole.
	if r.o.API == catalog.Chat && r.finished && !half && r.failed == nil {
		r.done = true
	}
	if n := len(r.out); n > 0 && !r.done {
		if last := r.out[n-1]; last != '\n' && last != '\r' {
			r.out = append(r.out, '\n')
		}
		r.out = append(r.out, '\n')
	}
	return r.out
}

// whole says whether an event that lacks its blank line lacks nothing else.
func (r *Relay) whole(event []byte) bool {
	p := r.parse(event)
	data := bytes.TrimSpace(p.data)
	if len(data) == 0 {
		last := event[len(event)-1]
		return len(p.name) == 0 && (last == '\n' || last == '\r')
	}
	if bytes.Equal(data, doneMark) {
		return true
	}
	s := scanner{b: data}
	return s.value(0, 0, false) == len(data)
}

// Began says whether an event that is neither a comment nor a ping has come.
func (r *Relay) Began() bool { return r.began }

// Done says whether the answer is over in its dialect: [DONE], message_stop or
// response.completed, incomplete or failed has come. A chat stream without
// [DONE] is done too once [Relay.Finish] was called, in the middle of nothing, after
// the finish_reason of every choice.
func (r *Relay) Done() bool { return r.done }

// Ending says whether what is held is the end mark of a chat stream without its
// blank line, which some vendors leave out before they keep the connection open:
// no further byte need come. How the mark was split on its way makes no
// difference.
func (r *Relay) Ending() bool {
	event := r.held[r.start:]
	if r.o.API != catalog.Chat || !bytes.HasSuffix(bytes.TrimRight(event, " \t\r\n"), doneMark) {
		return false
	}
	e := r.parse(event)
	return bytes.Equal(bytes.TrimSpace(e.data), doneMark)
}

// Finished says whether the answer itself is complete though the terminal event
// may be missing: a finish_reason or stop_reason has come.
func (r *Relay) Finished() bool { return r.finished || r.done }

// Failed is the error event the vendor sent inside the stream, nil if none.
func (r *Relay) Failed() *StreamError { return r.failed }

// Usage is what the stream has reported so far: a lower bound of quality
// partial until the answer is complete, and nothing at all of a stream with an
// event too long to read.
func (r *Relay) Usage() (pricing.Usage, pricing.Quality) {
	if r.lost {
		return pricing.Usage{}, pricing.Missing
	}
	u, q := r.tally.usage(r.conv)
	return u, r.judged(q)
}

// judged is the quality of what was reported, given how far the stream came. The
// first event of a messages or responses stream has counts of its own, which are
// no final ones even where the end names none. A chat stream may have its usage
// anywhere, but what came before an error is not all.
func (r *Relay) judged(q pricing.Quality) pricing.Quality {
	whole := r.done && r.o.API == catalog.Chat && r.failed == nil
	if q.Complete() && !whole && !r.final {
		return pricing.Partial
	}
	return q
}

// Report is all that the stream has said of its usage, and of the same quality as
// [Relay.Usage]. Raw is the relay's own: it holds until the next call of Feed or Finish.
func (r *Relay) Report() Report {
	if r.lost {
		return Report{Tier: r.tier}
	}
	all := r.tally.report(r.conv)
	all.Quality, all.Tier = r.judged(all.Quality), r.tier
	return all
}

// Served is the model and service tier the vendor says it used; empty if it does not.
func (r *Relay) Served() (model, tier string) { return r.model, r.tier }

// ResponseID is the id of the response a stream of the API responses carries: what
// previous_response_id names. It is empty for the other dialects.
func (r *Relay) ResponseID() string { return r.id }
