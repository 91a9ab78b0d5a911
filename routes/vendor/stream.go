package vendor

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/wire"
)

// maxHeld is how many bytes of comments and pings may come before the first event.
const maxHeld = 1 << 20

// chunks holds the buffers that streams are read into.
var chunks = sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }}

// streamed is a stream being relayed.
type streamed struct {
	*attempt
	answer *http.Response
	relay  *wire.Relay
	held   []byte  // what the client may have once the first event has come
	tail   [2]byte // the last bytes the client got
	over   bool    // a terminal or an error event has come: the end may follow
	gone   bool    // the client takes no more
	missed bool    // part of the answer came when it was gone
	told   bool    // the engine has been told what was made
	heard  bool    // what the whole answer says is told
}

// stream relays an event stream: each read is written and flushed at once.
func (a *attempt) stream(answer *http.Response, plain io.Reader) {
	s := streamed{attempt: a, answer: answer, relay: wire.NewRelay(a.relayOptions())}
	buffer := chunks.Get().(*[]byte)
	defer chunks.Put(buffer)
	err := s.copy(*buffer, plain)
	s.end(err)
	s.tellMade() // a client may go on from an answer that was cut
	model, _ := s.relay.Served()
	a.report(s.relay.Report(), model)
	a.ResponseID = s.relay.ResponseID()
	if a.Committed {
		a.last()
	}
}

// copy reads the stream to its end, which is io.EOF, or to what ended it.
func (s *streamed) copy(buffer []byte, plain io.Reader) error {
	for {
		n, err := plain.Read(buffer)
		if n > 0 {
			if s.FirstByte == 0 {
				s.FirstByte = s.c.o.Now().Sub(s.Started)
			}
			if stop := s.take(buffer[:n]); stop != nil {
				return stop
			}
		}
		if err != nil {
			return err
		}
		s.await()
	}
}

// await gives the next read its time.
func (s *streamed) await() {
	over := s.relay.Ending() || s.relay.Done() || s.relay.Failed() != nil
	switch {
	case over && s.over:
	case over:
		s.arm(s.c.o.Linger, errLingered)
	case !s.Committed && !s.gone:
		left := s.c.o.FirstByte - s.c.o.Now().Sub(s.Started)
		s.arm(min(s.c.o.Idle, max(left, 0)), errFirstByte)
	default:
		s.arm(s.c.o.Idle, errIdle)
	}
	s.over = over
}

// streamEnd is an end that the relay itself decides.
type streamEnd string

func (e streamEnd) Error() string { return string(e) }

const (
	endFailed  streamEnd = "the vendor's first event is an error"
	endNothing streamEnd = "only comments for too long"
	endDrained streamEnd = "the client left"
)

// take passes on what has arrived. Until the first event it goes line by line:
// whether a stream begins or fails is decided by its first event, not by how
// the network cut it up.
func (s *streamed) take(chunk []byte) error {
	s.gone = s.gone || s.left()
	for !s.Committed && !s.gone && len(chunk) > 0 {
		line := chunk
		if i := bytes.IndexByte(chunk, '\n'); i >= 0 {
			line = chunk[:i+1]
		}
		chunk = chunk[len(line):]
		s.held = append(s.held, s.feed(line)...)
		switch {
		case s.relay.Failed() != nil:
			return endFailed
		case s.relay.Began():
			s.open()
		case len(s.held) > maxHeld:
			return endNothing
		}
	}
	if len(chunk) == 0 {
		return nil
	}
	if s.gone {
		s.missed = s.missed || !s.relay.Done()
		s.feed(chunk)
		if !s.more(len(chunk)) {
			return endDrained
		}
		return nil
	}
	return s.pass(s.feed(chunk))
}

// feed has the relay look at what has come. What only this vendor can read again is
// told once the answer is complete, before the client has the event that says so.
func (s *streamed) feed(chunk []byte) []byte {
	out := s.relay.Feed(chunk)
	if s.relay.Finished() {
		s.tellMade()
	}
	return out
}

// tellMade tells the engine what of the answer only its maker can read, once.
func (s *streamed) tellMade() {
	if !s.told {
		s.told = true
		s.made(s.relay.Made())
	}
}

// open sends the header and what was held.
func (s *streamed) open() {
	contentType := s.answer.Header.Get("Content-Type")
	if mediaType(contentType) != "text/event-stream" {
		contentType = "text/event-stream; charset=utf-8"
	}
	s.ResponseID = s.relay.ResponseID()
	s.commit(s.answer, contentType, -1)
	_ = s.pass(s.held)
	s.held = nil
	if s.call.Began != nil {
		s.call.Began()
	}
}

// pass writes and flushes. A client that takes no more ends the stream unless
// it is drained.
func (s *streamed) pass(p []byte) error {
	if s.try.Hears && !s.heard && !s.gone && s.relay.Done() {
		s.heard = true
		s.hear(s.relay.Said())
	}
	if len(p) == 0 || s.gone {
		return nil
	}
	if s.relay.Failed() != nil && s.echoes(string(p)) {
		p = wire.CutEvent(s.call.Body.API, "The vendor's answer ended with an error.") // whose words repeat the key
	}
	for part := range slices.Chunk(p, maxWrite) {
		if err := s.write(part); err != nil {
			s.gone, s.missed = true, true
			if !s.more(0) {
				return endDrained
			}
			return nil
		}
	}
	if len(p) == 1 {
		s.tail = [2]byte{s.tail[1], p[0]}
	} else {
		s.tail = [2]byte(p[len(p)-2:])
	}
	return nil
}

// end says how the stream went and, if it was cut, tells the client.
func (s *streamed) end(err error) {
	gone := s.gone || s.left()
	_, quality := s.relay.Usage()
	complete := s.relay.Done() || s.cause() == errLingered || gone && s.relay.Finished() && quality.Complete()
	if err == io.EOF || complete {
		s.finish()
	}
	failed := s.relay.Failed()
	switch {
	case failed != nil && !s.Committed:
		s.failedWith(failed)
	case failed != nil:
		s.fail(engine.StageBroken, failureSaid(failed), "error event: "+s.word(failed.Type))
		if !s.relay.Done() {
			s.cut()
		}
	case s.relay.Done() && !s.missed:
		s.Stage = engine.StageServed
	case gone:
		s.abandon()
		if s.Committed && s.shut() && !s.gone {
			s.tell("The gateway is shutting down; the answer was cut before its end.")
		}
	case !s.Committed && (s.cause() == errFirstByte || s.cause() == errIdle):
		s.fail(engine.StageBroken, engine.FailureTimeout, s.cause().Error())
	case !s.Committed:
		s.fail(engine.StageBroken, engine.FailureCut, s.broke(err))
	default:
		s.fail(engine.StageBroken, engine.FailureCut, s.broke(err))
		s.tell("The vendor's answer was cut before its end.")
	}
}

// tell ends a stream that the client has part of: an error event in its dialect,
// then the connection's end.
func (s *streamed) tell(why string) {
	if s.tail != [2]byte{'\n', '\n'} {
		_ = s.pass([]byte("\n\n"))
	}
	_ = s.pass(wire.CutEvent(s.call.Body.API, why))
	s.cut()
}

// finish hands out what the relay still holds at the stream's end.
func (s *streamed) finish() {
	rest := s.relay.Finish()
	switch {
	case s.Committed:
		_ = s.pass(rest)
	case s.relay.Failed() != nil || s.gone || s.left():
	case s.relay.Began() && s.relay.Done(): // else another candidate may still answer whole
		s.held = append(s.held, rest...)
		s.open()
	}
}

// cut tells the connection's owner to abort it.
func (s *streamed) cut() {
	if s.call.Cut != nil {
		s.call.Cut()
	}
}

// word keeps of a vendor's error type what is surely a word, and not the key.
func (a *attempt) word(text string) string {
	const untyped = "untyped"
	if a.echoes(text) {
		return untyped
	}
	text = text[:min(len(text), 40)]
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.':
		default:
			return untyped
		}
	}
	if text == "" {
		return untyped
	}
	return text
}
