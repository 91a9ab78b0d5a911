package catalog

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// A reload of 500 models with three routes each uses at most 150 ms of a
// processor, all prices and the file's reading included.
func TestALargeCatalogLoadsInTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	text := large(500, 3)
	write(t, path, string(text))
	took := time.Hour
	for range 5 { // the best of five: rubbish of the others may be collected meanwhile
		began := processor(t)
		c, err := LoadKeys(path, keysOf(nil))
		took = min(took, processor(t)-began)
		if err != nil || len(c.Models) != 500 || len(c.Models[499].Routes) != 3 {
			t.Fatal(err)
		}
	}
	t.Logf("%d KiB in %s", len(text)>>10, took)
	if took > 3*150*time.Millisecond*slower { // others may be using the machine
		t.Errorf("it took %s", took)
	}
}

// Once read, a catalog is in force within a millisecond, whoever reads meanwhile.
func TestASwapIsInstant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.yaml")
	one, two := parse(t, priced("1")), parse(t, priced("2"))
	l := NewLive(path, one)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if c := l.Current(); c != one && c != two {
						t.Error("a catalog that never was in force")
					}
				}
			}
		})
	}
	took := time.Hour
	for i := range 1000 {
		began := time.Now()
		l.swap([]*Catalog{one, two}[i%2], nil, began)
		took = min(took, time.Since(began)) // the shortest: the others were interrupted
	}
	close(stop)
	readers.Wait()
	t.Logf("%s", took)
	if took > time.Millisecond {
		t.Errorf("a swap took %s", took)
	}
}

// One iteration puts one catalog in force in place of another.
func BenchmarkSwap(b *testing.B) {
	one, two := parse(b, priced("1")), parse(b, priced("2"))
	l := NewLive("catalog.yaml", one)
	now := time.Unix(1_700_000_000, 0)
	for b.Loop() {
		l.swap(two, nil, now)
		if l.Current() != two {
			b.Fatal("not in force")
		}
	}
}

// One iteration reads and checks a file of 500 models with three routes each and
// every price, as a reload does.
func BenchmarkReload(b *testing.B) {
	path := filepath.Join(b.TempDir(), "catalog.yaml")
	text := large(500, 3)
	write(b, path, string(text))
	c, err := LoadKeys(path, keysOf(nil))
	if err != nil {
		b.Fatal(err)
	}
	l := NewLive(path, c)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	began := processor(b)
	for b.Loop() {
		if err := l.Reload(time.Unix(1_700_000_000, 0)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((processor(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// FuzzReload: whatever is written to the file one after the other, the catalog in
// force is the last that was good, and the status says so.
func FuzzReload(f *testing.F) {
	f.Add([]byte("\x01\x02\x03"), []byte("a: ["))
	f.Add([]byte("\x00\x80\x00\xff"), []byte(priced("3")))
	f.Add([]byte("\x10\x91\x07\xf3\x22"), []byte("version: 1\n\tvendors"))
	f.Fuzz(func(t *testing.T, steps, other []byte) {
		if len(steps) > 12 {
			steps = steps[:12]
		}
		path := filepath.Join(t.TempDir(), "catalog.yaml")
		write(t, path, priced("1"))
		keys := keysOf(map[string]string{"V_KEY": "canary"})
		first, err := LoadKeys(path, keys)
		if err != nil {
			t.Fatal(err)
		}
		l := NewLive(path, first)
		accepted, refused := int64(0), int64(0)
		last := first.Digest
		for i, step := range steps {
			text := []byte(priced(fmt.Sprint(1 + step%64)))
			switch step >> 6 {
			case 1:
				text = text[:len(text)*int(step%64)/64]
			case 2:
				text = other
			}
			write(t, path, string(text))
			now := time.Unix(int64(i+1), 0)
			want, wrong := ParseKeys(path, text, keys)
			before := l.Current()
			err := l.Reload(now)
			s := l.Status()
			if wrong == nil {
				accepted, last = accepted+1, want.Digest
			} else {
				refused++
			}
			switch {
			case (err == nil) != (wrong == nil), s.Digest != last, l.Current().Digest != last, s.Accepted != accepted, s.Refused != refused:
				t.Fatalf("step %d: %v where the text alone gives %v; %+v", i, err, wrong, s)
			case wrong != nil && (l.Current() != before || s.Rejected == nil || s.Rejected.Error() != wrong.Error() || !s.RejectedAt.Equal(now)):
				t.Fatalf("step %d: refused, and the status is %+v", i, s)
			case wrong == nil && (s.Rejected != nil || !s.RejectedAt.IsZero() || !s.LoadedAt.Equal(now)):
				t.Fatalf("step %d: accepted, and the status is %+v", i, s)
			}
		}
	})
}
