package vendor

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// MaxCodings is the number of content codings that may be laid over each other.
const MaxCodings = 2

// ErrWindow means that a packed body wants more memory to unpack than it may have.
var ErrWindow = errors.New("the packed body needs too large a window")

// UnknownCodingError is a content coding that is not one of gzip, deflate, br and zstd.
type UnknownCodingError struct{ Coding string }

// Error names the coding.
func (e *UnknownCodingError) Error() string {
	return fmt.Sprintf("content coding %q is not known", e.Coding)
}

// Decode undoes a Content-Encoding, its last coding first. Bytes come out as
// they arrive; the caller bounds their number. maxWindow bounds what a decoder
// may remember, in bytes. An error of Decode itself is an
// *[UnknownCodingError]; damage shows in Read. Close frees the decoders and
// leaves body open.
func Decode(contentEncoding string, body io.Reader, maxWindow uint64) (io.ReadCloser, error) {
	if contentEncoding == "" {
		return io.NopCloser(body), nil
	}
	codings := strings.Split(contentEncoding, ",")
	d := &decoded{Reader: body}
	for i := len(codings) - 1; i >= 0; i-- {
		name := strings.ToLower(strings.TrimSpace(codings[i]))
		if name == "" || name == "identity" {
			continue
		}
		if len(d.closers) == MaxCodings {
			d.Close()
			return nil, &UnknownCodingError{Coding: cut(contentEncoding)}
		}
		open := opener(name, maxWindow)
		if open == nil {
			d.Close()
			return nil, &UnknownCodingError{Coding: cut(name)}
		}
		lazy := &lazyReader{source: d.Reader, open: open}
		d.Reader = lazy
		d.closers = append(d.closers, lazy)
	}
	return d, nil
}

// cut keeps a stranger's word short enough for a log line.
func cut(text string) string { return text[:min(len(text), 40)] }

// decoded is a chain of decoders.
type decoded struct {
	io.Reader
	closers []*lazyReader
}

// Close frees the decoders.
func (d *decoded) Close() error {
	for _, c := range d.closers {
		c.free()
	}
	return nil
}

// lazyReader opens its decoder at the first read, since some wait for a header.
type lazyReader struct {
	source io.Reader
	open   func(io.Reader) (io.Reader, func(), error)
	opened io.Reader
	closer func()
	err    error
}

func (l *lazyReader) Read(p []byte) (int, error) {
	if l.opened == nil && l.err == nil {
		l.opened, l.closer, l.err = l.open(l.source)
		if l.err == io.EOF { // not even a header came
			l.err = io.ErrUnexpectedEOF
		}
	}
	if l.err != nil {
		return 0, l.err
	}
	n, err := l.opened.Read(p)
	if errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) {
		err = ErrWindow
	}
	return n, err
}

func (l *lazyReader) free() {
	if l.closer != nil {
		l.closer()
		l.closer = nil
	}
	l.err = io.ErrClosedPipe
}

// opener is how one coding is read, nil for an unknown one.
func opener(name string, maxWindow uint64) func(io.Reader) (io.Reader, func(), error) {
	switch name {
	case "gzip", "x-gzip":
		return ungzip
	case "deflate":
		return inflate
	case "br":
		return func(r io.Reader) (io.Reader, func(), error) { return brotli.NewReader(r), nil, nil }
	case "zstd":
		return func(r io.Reader) (io.Reader, func(), error) {
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				return nil, nil, err
			}
			return z, z.Close, nil
		}
	}
	return nil
}

// ungzip reads gzip: any number of members, and zeros after the last, with which
// some servers fill up a block.
func ungzip(r io.Reader) (io.Reader, func(), error) {
	b := bufio.NewReader(r)
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, nil, err
	}
	z.Multistream(false)
	return &gzipMembers{b: b, z: z}, nil, nil
}

type gzipMembers struct {
	b *bufio.Reader
	z *gzip.Reader
}

func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		if n > 0 || err != io.EOF {
			if err == io.EOF {
				err = nil
			}
			return n, err
		}
		if err := g.next(); err != nil {
			return 0, err
		}
	}
}

// next begins the next member; io.EOF if there is none.
func (g *gzipMembers) next() error {
	for {
		c, err := g.b.ReadByte()
		switch {
		case err != nil:
			return err
		case c == 0:
			continue
		}
		_ = g.b.UnreadByte() // it was just read
		if err := g.z.Reset(g.b); err != nil {
			if err == io.EOF {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		g.z.Multistream(false)
		return nil
	}
}

// inflate reads "deflate": zlib by the standard, raw by some servers' habit.
func inflate(r io.Reader) (io.Reader, func(), error) {
	b := bufio.NewReader(r)
	head, err := b.Peek(2)
	if err != nil {
		return nil, nil, err
	}
	if head[0]&0x0f == 8 && (uint16(head[0])<<8|uint16(head[1]))%31 == 0 {
		z, err := zlib.NewReader(b)
		return z, nil, err
	}
	return flate.NewReader(b), nil, nil
}
