package vendorsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// Fault scripts what happens to the next matching request. The zero Fault, used
// once, changes nothing.
type Fault struct {
	// Times is how many requests it happens to; zero: one, negative: until reset.
	Times     int    `json:"times,omitempty"`
	ForModel  string `json:"for_model,omitempty"`  // only requests for this model
	ForStream *bool  `json:"for_stream,omitempty"` // only streams, or only the others

	DelayMS int  `json:"delay_ms,omitempty"` // wait before anything is answered
	Hang    bool `json:"hang,omitempty"`     // answer nothing until the client leaves or a reset

	// Status refuses with this status and an error in the dialect; for a raw answer it is its status.
	Status     int    `json:"status,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"` // the header, as written
	Message    string `json:"message,omitempty"`     // text of the error
	ErrorType  string `json:"error_type,omitempty"`  // its type, instead of the documented one
	Redirect   string `json:"redirect,omitempty"`    // answer with a redirect (307 unless Status is set) to this address

	// CutAfterEvents ends a stream after so many events, and any other answer in its middle. How: see Cut.
	CutAfterEvents *int   `json:"cut_after_events,omitempty"`
	Cut            string `json:"cut,omitempty"` // abort (default: the connection closes), reset (TCP RST, which may lose what was just sent) or clean (as if complete)
	// HangAfterEvents sends so many events and then nothing, until the client leaves or a reset.
	HangAfterEvents *int `json:"hang_after_events,omitempty"`

	ErrorEventAfter *int `json:"error_event_after,omitempty"` // an error event after so many events, and then the end
	ErrorEventFirst bool `json:"error_event_first,omitempty"` // a 200 whose first event, or whole body, is an error

	Gzip         bool `json:"gzip,omitempty"`           // compress although not asked
	NoUsage      bool `json:"no_usage,omitempty"`       // report no usage
	NoEventLines bool `json:"no_event_lines,omitempty"` // leave out "event:" lines
	ExtraDone    bool `json:"extra_done,omitempty"`     // end with a "[DONE]" too many

	// A raw answer: these bytes instead of an answer, and nothing is cached. One of the three.
	RawFile string   `json:"raw_file,omitempty"` // of Config.Files, sent in one piece
	RawBody string   `json:"raw_body,omitempty"` // sent in one piece
	Chunks  [][]byte `json:"chunks,omitempty"`   // base64 in JSON; each its own write and flush
	// ContentType of a raw answer; empty: text/event-stream.
	ContentType string `json:"content_type,omitempty"`
}

// The ways a cut looks to the client.
const (
	CutAbort = "abort" // the connection closes before the announced end
	CutReset = "reset" // the connection is reset
	CutClean = "clean" // the body ends properly, its content does not
)

// After is a count for the fields that take a pointer.
func After(events int) *int { return &events }

// check says what is wrong with a fault, and reads its file.
func (f *Fault) check(files fs.FS) error {
	if f.Status != 0 && (f.Status < 200 || f.Status > 599) {
		return fmt.Errorf("status %d: use 200 to 599", f.Status)
	}
	switch f.Cut {
	case "", CutAbort, CutReset, CutClean:
	default:
		return fmt.Errorf("cut %q: use abort, reset or clean", f.Cut)
	}
	for _, n := range []*int{f.CutAfterEvents, f.HangAfterEvents, f.ErrorEventAfter} {
		if n != nil && *n < 0 {
			return errors.New("a number of events is negative")
		}
	}
	raws := 0
	for _, used := range []bool{f.RawFile != "", f.RawBody != "", len(f.Chunks) > 0} {
		if used {
			raws++
		}
	}
	if raws > 1 {
		return errors.New("use only one of raw_file, raw_body and chunks")
	}
	if f.RawFile == "" {
		return nil
	}
	if files == nil {
		return errors.New("raw_file is not enabled here; use raw_body or chunks")
	}
	text, err := fs.ReadFile(files, f.RawFile)
	if err != nil {
		return fmt.Errorf("raw_file: %w", err)
	}
	f.RawFile, f.Chunks = "", [][]byte{text}
	return nil
}

// raw is the scripted answer in pieces; ok is false where none is scripted.
func (f *Fault) raw() (chunks [][]byte, ok bool) {
	if f.RawBody != "" {
		chunks = [][]byte{[]byte(f.RawBody)}
	} else {
		chunks = f.Chunks
	}
	if len(chunks) == 0 {
		return nil, false
	}
	if len(chunks) == 1 && (f.CutAfterEvents != nil || f.HangAfterEvents != nil) {
		return splitEvents(chunks[0]), true
	}
	return chunks, true
}

// splitEvents cuts a recorded stream behind each blank line.
func splitEvents(text []byte) [][]byte {
	var events [][]byte
	for len(text) > 0 {
		at := bytes.Index(text, []byte("\n\n"))
		if at < 0 {
			return append(events, text)
		}
		events = append(events, text[:at+2])
		text = text[at+2:]
	}
	return events
}

// Queue scripts faults for the next requests, in order, each used up before the
// next one that matches. An error means that none was queued.
func (v *Vendor) Queue(faults ...Fault) error {
	checked := make([]*Fault, len(faults))
	for i := range faults {
		f := faults[i]
		if f.Times == 0 {
			f.Times = 1
		}
		if err := f.check(v.config.Files); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
		checked[i] = &f
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.faults = append(v.faults, checked...)
	return nil
}

// Faults are the faults still queued, with the times left.
func (v *Vendor) Faults() []Fault {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := make([]Fault, len(v.faults))
	for i, f := range v.faults {
		list[i] = *f
	}
	return list
}

// take uses up one time of the first fault that matches; the zero Fault is none.
func (v *Vendor) take(p *prompt) (f Fault, found bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, queued := range v.faults {
		if queued.ForModel != "" && queued.ForModel != p.model {
			continue
		}
		if queued.ForStream != nil && *queued.ForStream != p.stream {
			continue
		}
		f = *queued
		if queued.Times > 0 {
			queued.Times--
		}
		if queued.Times == 0 {
			v.faults = slices.Delete(v.faults, i, i+1)
		}
		return f, true
	}
	return Fault{}, false
}

// decodeFaults reads a list of faults, or one fault, from JSON.
func decodeFaults(text []byte) ([]Fault, error) {
	text = bytes.TrimSpace(text)
	if len(text) > 0 && text[0] == '{' {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var faults []Fault
	if err := d.Decode(&faults); err != nil {
		return nil, err
	}
	return faults, nil
}
