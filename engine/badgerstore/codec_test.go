package badgerstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/warmroute/warmroute/engine"
)

func sample() engine.Record {
	now := time.Date(2026, 11, 30, 9, 0, 0, 123456789, time.UTC)
	r := engine.Record{}
	for i, vendor := range []string{"anthropic", "bedrock", "anthropic"} {
		at := now.Add(time.Duration(i) * time.Second)
		r = r.Keep([]string{"anthropic/claude-sonnet-5", "openai/gpt-5.6"}[i%2], engine.Entry{
			Vendor: vendor, Credential: "main", Group: engine.GroupClient, Thread: uint64(i) << 59, Turn: uint64(i) << 60,
			AcceptedAt: at, ExpiresAt: at.Add(285 * time.Second),
			Prompt: 48_000, Output: 700, TextBytes: 190_000, Read: 46_000, Write: 1_200, Silent: i, Reported: i == 1,
		})
	}
	return r
}

func TestAnyFlippedBitIsRefused(t *testing.T) {
	key := []byte("pkey")
	value := encode(key, sample())
	if got, ok := decode(key, value); !ok || !reflect.DeepEqual(got, sample()) {
		t.Fatalf("got %+v, %v", got, ok)
	}
	for i := range len(value) * 8 {
		value[i/8] ^= 1 << (i % 8)
		if _, ok := decode(key, value); ok {
			t.Errorf("bit %d flipped: still read", i)
		}
		value[i/8] ^= 1 << (i % 8)
	}
	for n := range value {
		if _, ok := decode(key, value[:n]); ok {
			t.Errorf("cut to %d bytes: still read", n)
		}
	}
	if _, ok := decode([]byte("pkez"), value); ok {
		t.Error("read under another key")
	}
}

// What an earlier version stored is skipped like anything else that cannot be read.
func TestAnEarlierVersionIsNotRead(t *testing.T) {
	key := []byte("pkey")
	value := encode(key, sample())
	value[0] = version - 1
	binary.LittleEndian.PutUint32(value[1:], checksum(key, value))
	if r, ok := decode(key, value); ok {
		t.Errorf("read as %+v", r)
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte("pkey"), encode([]byte("pkey"), sample())[headSize:], 3)
	f.Add([]byte{}, []byte{0}, 0)
	f.Add([]byte("p"), []byte{1, 1, 'm', 1}, 40)
	f.Fuzz(func(t *testing.T, key, models []byte, flip int) {
		r, ok := decodeModels(models)
		if !ok {
			return
		}
		value := encode(key, r)
		again, ok := decode(key, value)
		if !ok || !reflect.DeepEqual(again, r) {
			t.Fatalf("%+v came back as %+v", r, again)
		}
		if at := uint(flip) % uint(len(value)*8); true {
			value[at/8] ^= 1 << (at % 8)
			if _, ok := decode(key, value); ok {
				t.Fatalf("bit %d flipped: still read", at)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("pkey"), encode([]byte("pkey"), sample()))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		r, ok := decode(key, value)
		if ok && !bytes.Equal(value[:1], []byte{version}) {
			t.Fatalf("another version was read as %+v", r)
		}
	})
}

func TestDamagedRecordsAreSkippedAndCounted(t *testing.T) {
	s, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	good, bad, moved := engine.PinKey{Tenant: "t", ID: "good"}, engine.PinKey{Tenant: "t", ID: "bad"}, engine.PinKey{Tenant: "u", ID: "good"}
	now := time.Now()
	r := engine.Record{}.Keep("m", engine.Entry{Vendor: "a", AcceptedAt: now, ExpiresAt: now.Add(time.Hour)})
	if err := s.Write(ctx, []engine.PinWrite{{Key: good, Record: r}}); err != nil {
		t.Fatal(err)
	}
	err = s.db.Update(func(txn *badger.Txn) error {
		value := encode(dbKey(good), r)
		damaged := bytes.Clone(value)
		damaged[len(damaged)-1] ^= 4
		return errors.Join(
			txn.Set(dbKey(bad), damaged),
			txn.Set(dbKey(moved), value), // the record of another key, another tenant's even
			txn.Set([]byte{prefix, 200}, value),
			txn.Set([]byte("q-of-another-kind"), value),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []engine.PinKey{bad, moved} {
		if r, err := s.Get(ctx, key); err != nil || len(r.Models) != 0 {
			t.Errorf("%+v: %+v, %v", key, r, err)
		}
	}
	var loaded []engine.PinKey
	err = s.Load(ctx, func(key engine.PinKey, _ engine.Record) bool { loaded = append(loaded, key); return true })
	if err != nil || !reflect.DeepEqual(loaded, []engine.PinKey{good}) {
		t.Errorf("loaded %+v, %v", loaded, err)
	}
	if s.Bad() != 5 {
		t.Errorf("%d damaged records counted, want 2 read and 3 loaded", s.Bad())
	}
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// TestAHungDisk holds every place, as calls that hang would.
func TestAHungDisk(t *testing.T) {
	s, err := Open(t.TempDir(), Options{Calls: 2})
	if err != nil {
		t.Fatal(err)
	}
	s.places <- struct{}{}
	s.places <- struct{}{}
	soon := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.Background(), 5*time.Millisecond)
	}
	ctx, cancel := soon()
	defer cancel()
	if _, err := s.Get(ctx, engine.PinKey{ID: "s"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("get: %v", err)
	}
	if err := s.Write(ctx, []engine.PinWrite{{}}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("write: %v", err)
	}
	ctx, cancel = soon()
	defer cancel()
	if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("close: %v", err)
	}
	s.leave()
	s.leave()
	<-s.synced
	// The database closes now that the calls have ended; its directory is free then.
	again, err := Open(s.dir, Options{})
	if err != nil {
		t.Fatalf("open again: %v", err)
	}
	if err := again.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// TestAWriteThatHangs blocks a write inside, and looks at the next one.
func TestAWriteThatHangs(t *testing.T) {
	hang, entered := make(chan struct{}), make(chan struct{}, 1)
	asked := 0
	s, err := Open(t.TempDir(), Options{Free: func(string) (int64, error) {
		if asked++; asked == 2 { // once for Open
			entered <- struct{}{}
			<-hang
		}
		return 1 << 40, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	write := func(ctx context.Context, vendor string) error {
		return s.Write(ctx, []engine.PinWrite{{Key: engine.PinKey{ID: "s"}, Record: engine.Record{}.Keep("m", engine.Entry{
			Vendor: vendor, AcceptedAt: now, ExpiresAt: now.Add(time.Hour),
		})}})
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-entered; cancel() }()
	if err := write(ctx, "first"); !errors.Is(err, context.Canceled) {
		t.Fatalf("the write that hangs: %v", err)
	}
	second := make(chan error, 1)
	go func() { second <- write(context.Background(), "second") }()
	close(hang)
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	r, err := s.Get(context.Background(), engine.PinKey{ID: "s"})
	if err != nil || r.For("m")[0].Vendor != "second" {
		t.Errorf("the late write won: %+v, %v", r, err)
	}
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}
