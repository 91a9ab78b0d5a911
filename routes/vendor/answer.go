package vendor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/routes/wire"
)

// maxWrite is the most that is written to the client under one deadline.
const maxWrite = 256 << 10

// whole relays an answer that is not a stream. It is read to its end before
// anything is sent, so that a short one can still be answered by another candidate.
func (a *attempt) whole(answer *http.Response, plain io.Reader) {
	buffer := pool.Get().(*[]byte)
	defer recycle(buffer)
	body, err := a.readAll((*buffer)[:0], answer.ContentLength, plain)
	*buffer = body
	switch {
	case err != nil && a.left():
		a.abandon()
		return
	case err != nil && (a.cause() == errFirstByte || a.cause() == errIdle):
		a.fail(engine.StageBroken, engine.FailureTimeout, a.cause().Error())
		return
	case err != nil:
		a.fail(engine.StageBroken, engine.FailureCut, a.brokeWhole(err))
		return
	case len(body) == 0 && answer.StatusCode != http.StatusNoContent:
		a.fail(engine.StageBroken, engine.FailureCut, "the answer is empty")
		return
	}
	read := wire.JSONResponse(a.relayOptions(), body)
	a.report(read.Report, read.Model)
	switch {
	case read.Error != nil:
		a.failedWith(read.Error)
		return
	case !isObject(body, &read) && answer.StatusCode != http.StatusNoContent:
		a.fail(engine.StageBroken, engine.FailureCut, "the answer is no JSON object, or ended in the middle")
		return
	}
	a.ResponseID = read.ID
	a.made(read.Made)
	a.Stage = engine.StageServed
	if a.left() {
		a.abandon()
		return
	}
	a.hear(read.Said)
	a.commit(answer, answer.Header.Get("Content-Type"), len(read.Body))
	for part := range slices.Chunk(read.Body, maxWrite) {
		if err := a.write(part); err != nil {
			a.abandon()
			return
		}
	}
	a.last()
}

// hear tells what a whole answer says, before the client has its end.
func (a *attempt) hear(said engine.Said) {
	if a.Said = said; a.try.Hears && a.try.Heard != nil {
		a.try.Heard(said, a.ResponseID)
	}
}

// tooLargeError is an answer over [Options.MaxJSON].
type tooLargeError struct{ limit int64 }

func (e tooLargeError) Error() string { return fmt.Sprintf("the answer is over %d bytes", e.limit) }

// brokeWhole is broke for an answer that may also have been too large.
func (a *attempt) brokeWhole(err error) string {
	if large, ok := err.(tooLargeError); ok {
		return large.Error()
	}
	return a.broke(err)
}

// readAll appends the answer to dst. declared is its Content-Length, -1 if unknown.
func (a *attempt) readAll(dst []byte, declared int64, plain io.Reader) ([]byte, error) {
	limit := a.c.o.MaxJSON
	if declared > limit {
		return dst, tooLargeError{limit}
	}
	if declared > 0 {
		dst = slices.Grow(dst, int(min(declared, 1<<20))+1)
	}
	for {
		if len(dst) == cap(dst) {
			dst = slices.Grow(dst, 32<<10)
		}
		n, err := plain.Read(dst[len(dst):cap(dst)])
		if n > 0 && len(dst) == 0 {
			a.FirstByte = a.c.o.Now().Sub(a.Started)
		}
		dst = dst[:len(dst)+n]
		switch {
		case a.call.Drain.on() && a.left() && !a.more(n):
			return dst, errClientLeft
		case int64(len(dst)) > limit:
			return dst, tooLargeError{limit}
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		}
		a.arm(a.c.o.Idle, errIdle)
	}
}

// isObject says whether an answer is a JSON object, whole. What the reader of
// answers understood is; the rest is looked at once more by a reader that does
// not mind its depth.
func isObject(body []byte, read *wire.JSONAnswer) bool {
	if read.Whole {
		return true
	}
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && body[0] == '{' && json.Valid(body)
}
