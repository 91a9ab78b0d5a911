package badgerstore

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/engine/storetest"
)

// someBooked are random turns as they are booked.
func someBooked(n int, seed uint64) []engine.Booked {
	r := rand.New(rand.NewPCG(seed, 1))
	market := storetest.NewMarket()
	all := make([]engine.Booked, n)
	for i := range all {
		all[i] = engine.Book(market.Turn(r, i, time.Date(2026, 11, 30, 9, 0, i, 123456789, time.UTC)))
	}
	return all
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestBookedTurnsComeBack(t *testing.T) {
	size := 0
	for _, b := range someBooked(500, 1) {
		key := turnKey(&b)
		value := encodeBooked(key, &b)
		got, ok := decodeBooked(key, value)
		if !ok || asJSON(t, got) != asJSON(t, b) {
			t.Fatalf("%v\n got %s\nwant %s", ok, asJSON(t, got), asJSON(t, b))
		}
		if bytes.Contains(value, []byte(storetest.Secret)) {
			t.Fatal("a vendor's words are stored")
		}
		size += len(value)
	}
	if size > 500*700 {
		t.Errorf("a turn takes %d bytes", size/500)
	}
}

func TestAnyFlippedBitOfATurnIsRefused(t *testing.T) {
	b := someBooked(1, 2)[0]
	key := turnKey(&b)
	value := encodeBooked(key, &b)
	for i := range len(value) * 8 {
		value[i/8] ^= 1 << (i % 8)
		if _, ok := decodeBooked(key, value); ok {
			t.Errorf("bit %d flipped: still read", i)
		}
		value[i/8] ^= 1 << (i % 8)
	}
	if _, ok := decodeBooked(append(key, 'x'), value); ok {
		t.Error("read under another key")
	}
}

func TestDecimalsComeBackAsTheyWere(t *testing.T) {
	for _, text := range []string{
		"0", "0.00", "-1", "3.750", "0.000000000000001", "9223372036854775807", "-9223372036854775808", "9223372036854775808",
		"123456789012345678", "1234567890123456789", "-123456789012345678901234567890.123456789", "1e99", "1e-117",
	} {
		d := decimal.RequireFromString(text)
		in := input{b: appendDecimal(nil, d)}
		got := in.decimal()
		if in.bad || len(in.b) != 0 || got.Exponent() != d.Exponent() || got.Coefficient().Cmp(d.Coefficient()) != 0 {
			t.Errorf("%s came back as %s", d, got)
		}
	}
}

func FuzzBooked(f *testing.F) {
	for _, b := range someBooked(4, 3) {
		f.Add(encodeBooked(nil, &b)[headSize:])
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, held []byte) {
		b, ok := readBooked(bookVersion, held)
		if !ok {
			return
		}
		value := encodeBooked(nil, &b)
		again, ok := decodeBooked(nil, value)
		if !ok || !bytes.Equal(encodeBooked(nil, &again), value) {
			t.Fatalf("%+v came back as %+v", b, again)
		}
	})
}

func FuzzSessionBook(f *testing.F) {
	var s engine.SessionBook
	for _, b := range someBooked(9, 4) {
		s.Add(&b)
		f.Add(encodeSession(nil, &s)[headSize:])
	}
	f.Fuzz(func(t *testing.T, held []byte) {
		s, ok := readSession(held)
		if !ok {
			return
		}
		value := encodeSession(nil, &s)
		again, ok := decodeSession(nil, value)
		if !ok || !bytes.Equal(encodeSession(nil, &again), value) {
			t.Fatalf("%+v came back as %+v", s, again)
		}
	})
}

// FuzzRollUp reads a roll-up in both ways and adds it up: they must agree on
// what is damaged and on what it comes to.
func FuzzRollUp(f *testing.F) {
	var lines rows
	for _, b := range someBooked(9, 5) {
		line, _ := lines.at(b.Vendor(), b.Outcome)
		*line.sums = line.sums.Add(engine.Sum(b))
		f.Add(encodeRows(nil, lines)[headSize:])
	}
	f.Fuzz(func(t *testing.T, held []byte) {
		lines, ok := readRows(held)
		a := adder{q: &engine.Query{}, lines: map[string]*fast{}, slots: map[int64]*fast{}}
		added := a.add(0, nil, held)
		if !ok {
			return
		}
		var slow engine.Sums
		for i := range lines {
			line, whole := lines.at(string(lines[i].vendor), engine.Outcome(lines[i].outcome))
			if !whole {
				return
			}
			slow = slow.Add(*line.sums)
		}
		if !added {
			t.Fatal("one reader takes it, the other does not")
		}
		if len(lines) > 0 && !a.slots[0].sums().Equal(slow) {
			t.Fatalf("fast %+v\nslow %+v", a.slots[0].sums(), slow)
		}
	})
}

// FuzzPlace holds that keys sort as their places.
func FuzzPlace(f *testing.F) {
	f.Add(int64(0), "t", "id", int64(1), "t", "id2")
	f.Add(int64(-1), "", "", int64(1)<<62, "a\x00", "b")
	f.Fuzz(func(t *testing.T, at1 int64, tenant1, id1 string, at2 int64, tenant2, id2 string) {
		a := engine.Place{At: time.Unix(0, at1).UTC(), Tenant: tenant1, ID: id1}
		b := engine.Place{At: time.Unix(0, at2).UTC(), Tenant: tenant2, ID: id2}
		if bytes.Compare(a.AppendBytes(nil), b.AppendBytes(nil)) != a.Compare(b) {
			t.Fatalf("%+v and %+v", a, b)
		}
		if got, ok, err := engine.ParsePlace(a.Token()); err != nil || !ok || got != a {
			t.Fatalf("%+v came back as %+v", a, got)
		}
	})
}
