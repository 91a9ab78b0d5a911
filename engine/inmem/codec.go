package inmem

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// The form of a record in memory. It never leaves the process, so it carries
// neither a version nor a checksum:
//
//	4 bytes   second in which the last entry's window has surely passed
//	uvarint   models
//	uvarint   entries of all models
//	models    name, uvarint entries, entries
//
// An entry is a byte of flags, its names, its turn, and signed varints.
const (
	flagReported = 1 << iota // usage has been seen
	flagClient               // the group is the client's
	flagGroup                // the group is neither; its name follows
	flagSameNano             // expiry and acceptance have the same nanosecond
	flagThread               // the thread is not 0; its 8 bytes follow
)

// headSize is the length of the part that is read without decoding.
const headSize = 4

// until returns the second a block's last window has passed by.
func until(block []byte) uint32 { return binary.LittleEndian.Uint32(block) }

// second is t in seconds, rounded up, in the range of a block's head.
func second(t time.Time) uint32 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return uint32(min(max(s, 0), math.MaxUint32))
}

// appendRecord appends the encoded form of r to b.
func (n *names) appendRecord(b []byte, r engine.Record) []byte {
	start, entries := len(b), 0
	b = append(b, 0, 0, 0, 0)
	for i := range r.Models {
		entries += len(r.Models[i].Warm)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Models)))
	b = binary.AppendUvarint(b, uint64(entries))
	last := uint32(0)
	for i := range r.Models {
		b = n.appendName(b, r.Models[i].Model, true)
		b = binary.AppendUvarint(b, uint64(len(r.Models[i].Warm)))
		for j := range r.Models[i].Warm {
			b = n.appendEntry(b, &r.Models[i].Warm[j])
			last = max(last, second(r.Models[i].Warm[j].ExpiresAt))
		}
	}
	binary.LittleEndian.PutUint32(b[start:], last)
	return b
}

func (n *names) appendEntry(b []byte, e *engine.Entry) []byte {
	flags := byte(0)
	if e.Reported {
		flags |= flagReported
	}
	switch e.Group {
	case engine.GroupOperator:
	case engine.GroupClient:
		flags |= flagClient
	default:
		flags |= flagGroup
	}
	if e.AcceptedAt.Nanosecond() == e.ExpiresAt.Nanosecond() {
		flags |= flagSameNano
	}
	if e.Thread != 0 {
		flags |= flagThread
	}
	b = append(b, flags)
	b = n.appendName(b, e.Vendor, true)
	b = n.appendName(b, e.Credential, e.Group == engine.GroupOperator)
	if flags&flagGroup != 0 {
		b = n.appendName(b, string(e.Group), false)
	}
	if flags&flagThread != 0 {
		b = binary.LittleEndian.AppendUint64(b, e.Thread)
	}
	b = binary.LittleEndian.AppendUint64(b, e.Turn)
	b = binary.AppendVarint(b, e.AcceptedAt.Unix())
	b = binary.AppendUvarint(b, uint64(e.AcceptedAt.Nanosecond()))
	b = binary.AppendVarint(b, e.ExpiresAt.Unix()-e.AcceptedAt.Unix())
	if flags&flagSameNano == 0 {
		b = binary.AppendUvarint(b, uint64(e.ExpiresAt.Nanosecond()))
	}
	for _, v := range [...]int64{e.Prompt, e.Output, e.TextBytes, e.Read, e.Write, int64(e.Silent)} {
		b = binary.AppendVarint(b, v)
	}
	return b
}

// single is the ordinary record, one entry of one model, in one allocation.
type single struct {
	models [1]engine.ModelPins
	warm   [1]engine.Entry
}

// record decodes a block. What it returns shares nothing with the block.
func (n *names) record(block []byte) engine.Record {
	d := *n.words.Load()
	b := block[headSize:]
	models, b := readUvarint(b)
	entries, b := readUvarint(b)
	var r engine.Record
	var warm []engine.Entry
	if models == 1 && entries == 1 {
		one := &single{}
		r.Models, warm = one.models[:], one.warm[:]
	} else {
		r.Models, warm = make([]engine.ModelPins, models), make([]engine.Entry, entries)
	}
	for i := range r.Models {
		r.Models[i].Model, b = d.readName(b)
		var count uint64
		count, b = readUvarint(b)
		for j := range warm[:count] {
			b = d.readEntry(b, &warm[j])
		}
		r.Models[i].Warm, warm = warm[:count:count], warm[count:]
	}
	return r
}

func (d dictionary) readEntry(b []byte, e *engine.Entry) []byte {
	flags := b[0]
	e.Vendor, b = d.readName(b[1:])
	e.Credential, b = d.readName(b)
	e.Reported = flags&flagReported != 0
	if flags&flagClient != 0 {
		e.Group = engine.GroupClient
	}
	if flags&flagGroup != 0 {
		var group string
		group, b = d.readName(b)
		e.Group = engine.Group(group)
	}
	if flags&flagThread != 0 {
		e.Thread = binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	e.Turn = binary.LittleEndian.Uint64(b)
	accepted, b := readVarint(b[8:])
	nano, b := readUvarint(b)
	lasts, b := readVarint(b)
	endNano := nano
	if flags&flagSameNano == 0 {
		endNano, b = readUvarint(b)
	}
	e.AcceptedAt = time.Unix(accepted, int64(nano)).UTC()
	e.ExpiresAt = time.Unix(accepted+lasts, int64(endNano)).UTC()
	e.Prompt, b = readVarint(b)
	e.Output, b = readVarint(b)
	e.TextBytes, b = readVarint(b)
	e.Read, b = readVarint(b)
	e.Write, b = readVarint(b)
	silent, b := readVarint(b)
	e.Silent = int(silent)
	return b
}

func readUvarint(b []byte) (uint64, []byte) {
	v, n := binary.Uvarint(b)
	return v, b[n:]
}

func readVarint(b []byte) (int64, []byte) {
	v, n := binary.Varint(b)
	return v, b[n:]
}
