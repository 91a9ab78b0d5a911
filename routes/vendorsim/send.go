package vendorsim

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/warmroute/warmroute/catalog"
)

// end notes that nothing more will happen. It runs while an abort unwinds, too.
func (c *call) end() {
	gone := c.r.Context().Err() != nil
	var ended Seen
	c.v.note(c.seen, func(s *Seen) {
		s.Done, s.ClientGone = true, s.ClientGone || gone
		ended = *s
	})
	if c.v.config.Ended != nil {
		c.v.config.Ended(ended)
	}
}

// status sends the status line.
func (c *call) status(status int) {
	c.v.note(c.seen, func(s *Seen) { s.Status = status })
	c.w.WriteHeader(status)
}

// json sends one whole answer.
func (c *call) json(status int, body []byte) {
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	c.status(status)
	c.send(body)
}

// refuse sends an error in the dialect.
func (c *call) refuse(err error) {
	var r *refused
	if !errors.As(err, &r) {
		r = refusal("", err.Error())
	}
	c.json(r.status, r.body(c.api))
}

// refused is the error of a scripted status.
func (f *Fault) refused(api catalog.API) *refused {
	r := &refused{status: f.Status, kind: f.ErrorType, message: f.Message}
	if r.kind == "" {
		r.kind = kindOf(api, f.Status)
	}
	if r.message == "" {
		r.message = "Scripted: " + strconv.Itoa(f.Status) + " " + http.StatusText(f.Status)
	}
	return r
}

// errorEvent is an error inside a stream, as each dialect documents it.
func (f *Fault) errorEvent(api catalog.API, sequence int) event {
	r := &refused{kind: f.ErrorType, message: f.Message}
	if r.message == "" {
		r.message = "Scripted: the vendor is overloaded"
	}
	switch {
	case api == catalog.Messages:
		if r.kind == "" {
			r.kind = "overloaded_error"
		}
		return event{name: "error", data: r.body(api)}
	case api == catalog.Chat:
		if r.kind == "" {
			r.kind = "server_error"
		}
		return event{data: r.body(api)}
	case r.kind == "response.failed":
		return named("response.failed", struct {
			head
			Response response `json:"response"`
		}{head{"response.failed", sequence}, response{
			ID: "resp_failed", Object: "response", Status: "failed", Output: []any{}, Tools: []string{},
			ToolChoice: "auto", Error: &responseError{Code: "server_error", Message: r.message},
		}})
	}
	if r.kind == "" {
		r.kind = "server_error"
	}
	return named("error", struct {
		head
		Code    string  `json:"code"`
		Message string  `json:"message"`
		Param   *string `json:"param"`
	}{head{"error", sequence}, r.kind, r.message, nil})
}

// whole sends an answer that is no stream.
func (c *call) whole(a *answer, f *Fault, commit func()) {
	body := a.json()
	if f.ErrorEventFirst {
		e := f.refused(c.api)
		if f.ErrorType == "" {
			e.kind = "server_error"
		}
		if f.Message == "" {
			e.message = "Scripted: the vendor is overloaded"
		}
		body = e.body(c.api)
	}
	if f.Gzip {
		body = gzipped(body)
		c.w.Header().Set("Content-Encoding", "gzip")
	}
	commit()
	if f.CutAfterEvents == nil && f.HangAfterEvents == nil {
		c.json(http.StatusOK, body)
		return
	}
	half := body[:len(body)/2]
	if f.HangAfterEvents == nil && f.Cut == CutClean {
		c.json(http.StatusOK, half)
		return
	}
	c.w.Header().Set("Content-Type", "application/json")
	c.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	c.status(http.StatusOK)
	c.send(half)
	if f.HangAfterEvents != nil {
		c.hang()
		return
	}
	c.cut(f)
}

// play sends a stream piece by piece.
func (c *call) play(pieces [][]byte, f *Fault, commit func()) {
	h := c.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	if f.ContentType != "" {
		h.Set("Content-Type", f.ContentType)
	}
	var out io.Writer = c.w
	var zip *gzip.Writer
	if f.Gzip {
		h.Set("Content-Encoding", "gzip")
		zip = gzip.NewWriter(c.w)
		out = zip
	}
	if f.Status == 0 {
		f.Status = http.StatusOK
	}
	c.status(f.Status)
	for i, piece := range pieces {
		if c.stops(f, i) {
			return
		}
		if i > 0 && !c.wait(c.v.config.EventGap) {
			return
		}
		if i == 0 {
			commit()
		}
		if _, err := out.Write(piece); err != nil {
			c.v.note(c.seen, func(s *Seen) { s.ClientGone = true })
			return
		}
		if zip != nil {
			_ = zip.Flush() // an error shows at the next write
		}
		c.flush()
		c.v.note(c.seen, func(s *Seen) { s.Events++ })
	}
	if c.stops(f, len(pieces)) {
		return
	}
	if zip != nil {
		_ = zip.Close()
	}
}

// stops says whether the stream ends after the given number of events, and ends it.
func (c *call) stops(f *Fault, sent int) bool {
	switch {
	case f.HangAfterEvents != nil && *f.HangAfterEvents == sent:
		c.flush()
		c.hang()
		return true
	case f.CutAfterEvents != nil && *f.CutAfterEvents == sent:
		c.flush()
		c.cut(f)
		return true
	}
	return false
}

// cut ends the connection the scripted way. It returns only for a clean end.
func (c *call) cut(f *Fault) {
	c.flush()
	switch f.Cut {
	case CutClean:
		return
	case CutReset:
		if conn, _, err := http.NewResponseController(c.w).Hijack(); err == nil {
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
			return
		}
	}
	panic(http.ErrAbortHandler)
}

// send writes to the client; a failure means that it left.
func (c *call) send(body []byte) {
	if c.r.Method == http.MethodHead {
		return
	}
	if _, err := c.w.Write(body); err != nil {
		c.v.note(c.seen, func(s *Seen) { s.ClientGone = true })
		return
	}
	c.flush()
	c.v.note(c.seen, func(s *Seen) { s.Events++ })
}

func (c *call) flush() {
	_ = http.NewResponseController(c.w).Flush() // a writer without Flush sends at the end
}

// wait pauses; it returns false if the client left meanwhile.
func (c *call) wait(pause time.Duration) bool {
	if pause <= 0 {
		return c.r.Context().Err() == nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-c.r.Context().Done():
		return false
	}
}

// hang waits until the client leaves, or a reset.
func (c *call) hang() {
	c.v.mu.Lock()
	released := c.v.released
	c.v.mu.Unlock()
	select {
	case <-released:
		panic(http.ErrAbortHandler)
	case <-c.r.Context().Done():
	}
}

// gzipped compresses a whole body.
func gzipped(body []byte) []byte {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	_, _ = zip.Write(body) // a bytes.Buffer never fails
	_ = zip.Close()
	return b.Bytes()
}
