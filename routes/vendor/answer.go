package vendor

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
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
		a.fail(engine.StageAbandoned, engine.FailureClientLeft, errClientLeft.Error())
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
	case closeDelimited(answer) && !json.Valid(body):
		a.fail(engine.StageBroken, engine.FailureCut, "the answer ended in the middle")
		return
	case isError(body):
		a.fail(engine.StageBroken, engine.FailureStream, "an error as the answer")
		return
	}
	read := wire.JSONResponse(a.relayOptions(), body)
	a.Usage, a.Quality = read.Usage, read.Quality
	a.ServedModel, a.ServedTier, a.ResponseID = read.Model, read.Tier, read.ID
	a.Stage = engine.StageServed
	if a.left() {
		a.fail(engine.StageAbandoned, engine.FailureClientLeft, errClientLeft.Error())
		return
	}
	a.commit(answer, answer.Header.Get("Content-Type"), len(read.Body))
	for part := range slices.Chunk(read.Body, maxWrite) {
		if err := a.write(part); err != nil {
			a.fail(engine.StageAbandoned, engine.FailureClientLeft, errClientLeft.Error())
			return
		}
	}
	a.last()
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

// onlyError is how an answer begins that is nothing but an error, in the
// dialects' two forms. A member that is null is none.
var onlyError = regexp.MustCompile(`^\s*\{\s*("type"\s*:\s*"error"|"error"\s*:\s*\{)`)

// isError says whether an accepted answer is an error: some vendors say 200 and
// put the failure into the body.
func isError(body []byte) bool { return onlyError.Match(body[:min(len(body), 256)]) }

// closeDelimited says whether only the connection's end tells the answer's end:
// then a cut cannot be seen from outside.
func closeDelimited(answer *http.Response) bool {
	return answer.ContentLength < 0 && len(answer.TransferEncoding) == 0 && answer.ProtoMajor < 2
}
