package badgerstore

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"time"

	"github.com/warmroute/warmroute/engine"
)

// The form of a stored value:
//
//	1 byte    version
//	4 bytes   CRC32C, little endian, of the key, the version and what follows
//	uvarint   models; for each: name, uvarint entries, entries
//
// A name is its length and its bytes; an entry is a byte of flags, its names,
// its thread and its turn in 8 bytes each, and signed varints. A value of another
// version is not read: a pin that is forgotten costs a promotion.
const (
	version  = 2
	headSize = 5

	flagReported = 1 // usage has been seen

	maxEntries = engine.MaxThreads * engine.MaxWarm // of a model
)

// farSecond bounds the seconds a stored time may have, on both sides of 1970:
// some 8,000 years.
const farSecond = 1 << 38

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// encode returns the value to be stored at key. Models and entries beyond the
// bounds of a record, which the engine never makes, are left out.
func encode(key []byte, r engine.Record) []byte {
	models := r.Models[:min(len(r.Models), engine.MaxModels)]
	b := make([]byte, headSize, 160)
	b[0] = version
	b = binary.AppendUvarint(b, uint64(len(models)))
	for i := range models {
		warm := models[i].Warm[:min(len(models[i].Warm), maxEntries)]
		b = appendString(b, models[i].Model)
		b = binary.AppendUvarint(b, uint64(len(warm)))
		for j := range warm {
			b = appendEntry(b, &warm[j])
		}
	}
	binary.LittleEndian.PutUint32(b[1:], checksum(key, b))
	return b
}

// checksum is that of the value b at key, whatever its checksum field holds.
func checksum(key, b []byte) uint32 {
	sum := crc32.Update(0, castagnoli, key)
	sum = crc32.Update(sum, castagnoli, b[:1])
	return crc32.Update(sum, castagnoli, b[headSize:])
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

func appendEntry(b []byte, e *engine.Entry) []byte {
	flags := byte(0)
	if e.Reported {
		flags |= flagReported
	}
	b = append(b, flags)
	b = appendString(b, e.Vendor)
	b = appendString(b, e.Credential)
	b = appendString(b, string(e.Group))
	b = binary.LittleEndian.AppendUint64(b, e.Thread)
	b = binary.LittleEndian.AppendUint64(b, e.Turn)
	for _, v := range [...]int64{
		e.AcceptedAt.Unix(), int64(e.AcceptedAt.Nanosecond()), e.ExpiresAt.Unix(), int64(e.ExpiresAt.Nanosecond()),
		e.Prompt, e.Output, e.TextBytes, e.Read, e.Write, int64(e.Silent),
	} {
		b = binary.AppendVarint(b, v)
	}
	return b
}

// decode reads a value stored at key. ok is false for anything that encode did
// not write there.
func decode(key, value []byte) (r engine.Record, ok bool) {
	if len(value) < headSize || value[0] != version || binary.LittleEndian.Uint32(value[1:]) != checksum(key, value) {
		return engine.Record{}, false
	}
	return decodeModels(value[headSize:])
}

// decodeModels reads what follows the head of a value.
func decodeModels(b []byte) (engine.Record, bool) {
	in := input{b: b}
	count := in.count(engine.MaxModels)
	var r engine.Record
	for range count {
		pins := engine.ModelPins{Model: in.string()}
		for range in.count(maxEntries) {
			pins.Warm = append(pins.Warm, in.entry())
		}
		if in.bad || len(pins.Warm) == 0 {
			return engine.Record{}, false
		}
		r.Models = append(r.Models, pins)
	}
	if in.bad || len(in.b) != 0 {
		return engine.Record{}, false
	}
	return r, true
}

// input is what is left to be read. Once bad, it reads zeros.
type input struct {
	b   []byte
	bad bool
}

func (in *input) fail() {
	in.b, in.bad = nil, true
}

func (in *input) uvarint() uint64 {
	v, n := binary.Uvarint(in.b)
	if n <= 0 {
		in.fail()
		return 0
	}
	in.b = in.b[n:]
	return v
}

// between reads a signed number from low to high.
func (in *input) between(low, high int64) int64 {
	v, n := binary.Varint(in.b)
	if n <= 0 || v < low || v > high {
		in.fail()
		return 0
	}
	in.b = in.b[n:]
	return v
}

func (in *input) number() int64 { return in.between(math.MinInt64, math.MaxInt64) }

func (in *input) count(limit uint64) uint64 {
	v := in.uvarint()
	if v > limit {
		in.fail()
		return 0
	}
	return v
}

func (in *input) string() string { return string(in.bytes()) }

// bytes are those of a string, where they lie.
func (in *input) bytes() []byte {
	n := in.uvarint()
	if n > uint64(len(in.b)) {
		in.fail()
		return nil
	}
	s := in.b[:n]
	in.b = in.b[n:]
	return s
}

func (in *input) time() time.Time {
	s := in.between(-farSecond, farSecond)
	return time.Unix(s, in.between(0, 999_999_999)).UTC()
}

func (in *input) entry() engine.Entry {
	if len(in.b) == 0 || in.b[0]&^flagReported != 0 {
		in.fail()
		return engine.Entry{}
	}
	e := engine.Entry{Reported: in.b[0]&flagReported != 0}
	in.b = in.b[1:]
	e.Vendor, e.Credential, e.Group = in.string(), in.string(), engine.Group(in.string())
	if len(in.b) < 16 {
		in.fail()
		return engine.Entry{}
	}
	e.Thread, e.Turn = binary.LittleEndian.Uint64(in.b), binary.LittleEndian.Uint64(in.b[8:])
	in.b = in.b[16:]
	e.AcceptedAt, e.ExpiresAt = in.time(), in.time()
	e.Prompt, e.Output, e.TextBytes, e.Read, e.Write = in.number(), in.number(), in.number(), in.number(), in.number()
	e.Silent = int(in.number())
	return e
}
