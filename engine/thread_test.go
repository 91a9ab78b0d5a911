package engine

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestThread(t *testing.T) {
	texts := func(all ...string) (blocks [][]byte) {
		for _, text := range all {
			blocks = append(blocks, []byte(text))
		}
		return blocks
	}
	base := Opening{System: texts("You mend fences."), First: texts("Mend the gate.")}
	same := []struct {
		name string
		o    Opening
	}{
		{"with tools", Opening{System: base.System, First: base.First, Tools: []Tool{{Name: []byte("saw")}}}},
		{"in other blocks", Opening{System: texts("You mend", " fences."), First: texts("Mend ", "", "the gate.")}},
		{"behind a telemetry line", Opening{System: texts("x-anthropic-billing-header: nonce=1;", "You mend fences."), First: base.First}},
		{"behind another telemetry line", Opening{System: texts("x-anthropic-billing-header: nonce=2; cc_version=3\nYou mend fences."), First: base.First}},
	}
	for _, c := range same {
		if Thread(c.o) != Thread(base) {
			t.Errorf("%s it is another thread", c.name)
		}
	}
	other := []struct {
		name string
		o    Opening
	}{
		{"system text", Opening{System: texts("You give titles."), First: base.First}},
		{"first message", Opening{System: base.System, First: texts("Find the hammer.")}},
		{"border of the two", Opening{System: texts("You mend fences.M"), First: texts("end the gate.")}},
		{"message alone", Opening{First: base.First}},
	}
	for _, c := range other {
		if Thread(c.o) == Thread(base) {
			t.Errorf("another %s is the same thread", c.name)
		}
	}
	if Thread(Opening{}) != 0 || Thread(Opening{System: texts("", "x-anthropic-billing-header: a"), Tools: []Tool{{Name: []byte("saw")}}}) != 0 {
		t.Error("no text is a thread")
	}
	long := bytes.Repeat([]byte("é"), MaxOpening)
	if Thread(Opening{First: [][]byte{long}}) != Thread(Opening{First: [][]byte{append(long[:len(long):len(long)], "more"...)}}) {
		t.Error("what is beyond the first 4,096 characters counts")
	}
	if Thread(Opening{First: [][]byte{long}}) == Thread(Opening{First: [][]byte{long[2:]}}) {
		t.Error("the last of the first 4,096 characters does not count")
	}
}

// The threads of a session are told apart in its record; each has its own bounds.
func TestKeepThreadsApart(t *testing.T) {
	of := func(thread uint64, vendor string, turn int) Entry {
		e := entryAt(vendor, uint64(turn), turn)
		e.Thread = thread
		return e
	}
	show := func(r Record) string {
		var b strings.Builder
		for _, e := range r.For("m") {
			fmt.Fprintf(&b, "%s%d ", e.Vendor, e.Thread)
		}
		return b.String()
	}
	keep := func(entries ...Entry) (r Record) {
		for _, e := range entries {
			r = r.Keep("m", e)
		}
		return r
	}
	full := func(thread uint64, from int) (entries []Entry) {
		for i, vendor := range []string{"a", "b", "c", "d"} {
			entries = append(entries, of(thread, vendor, from+i))
		}
		return entries
	}
	var eight []Entry
	for thread := range uint64(MaxThreads) {
		eight = append(eight, of(thread, "a", int(thread)+1))
	}
	sized := func(e Entry, bytes int64, warm time.Duration) Entry {
		e.TextBytes, e.ExpiresAt = bytes, e.AcceptedAt.Add(warm)
		return e
	}
	main := sized(of(20, "z", 0), 90_000, time.Hour)      // the conversation itself
	expired := sized(of(20, "z", 0), 90_000, time.Minute) // and one that nobody goes on with
	later := sized(of(21, "y", 2), 100_000, time.Hour)    // a longer one
	seven := eight[1:]
	cases := []struct {
		name string
		r    Record
		want string
	}{
		{"a side call at another vendor", keep(of(7, "a", 1), of(8, "b", 2)), "b8 a7 "},
		{"a side call at the same vendor", keep(of(7, "a", 1), of(8, "a", 2)), "a8 a7 "},
		{"a thread renews its own", keep(of(7, "a", 1), of(8, "a", 2), of(7, "a", 3)), "a7 a8 "},
		{"late news of a thread", keep(of(7, "a", 3), of(8, "a", 2), of(7, "a", 1)), "a7 a8 "},
		{"a fifth of one thread leaves the other alone", keep(append(append(full(7, 2), of(8, "e", 1)), of(7, "e", 9))...), "e7 d7 c7 b7 e8 "},
		{"a ninth thread drops the one served least recently", keep(append(eight, of(8, "a", 20))...), "a8 a7 a6 a5 a4 a3 a2 a1 "},
		{"a ninth thread that is oldest is not kept", keep(append(eight, of(8, "a", 0))...), "a7 a6 a5 a4 a3 a2 a1 a0 "},
		{"a ninth thread leaves the longest alone", keep(append(append([]Entry{main}, seven...), of(8, "a", 20))...), "a8 a7 a6 a5 a4 a3 a2 z20 "},
		{"and so do a tenth and more", keep(append(append([]Entry{main}, seven...), of(8, "a", 20), of(9, "a", 21), of(10, "a", 22))...), "a10 a9 a8 a7 a6 a5 a4 z20 "},
		{"a ninth that is longer drops it", keep(append(append([]Entry{main}, seven...), sized(of(8, "a", 20), 95_000, time.Hour))...), "a8 a7 a6 a5 a4 a3 a2 a1 "},
		{"a longer one there already as well", keep(append(append([]Entry{main, later}, seven[1:]...), of(8, "a", 20))...), "a8 a7 a6 a5 a4 a3 a2 y21 "},
		{"the longest has expired", keep(append(append([]Entry{expired}, seven...), of(8, "a", 20))...), "a8 a7 a6 a5 a4 a3 a2 a1 "},
		{"a ninth that is late", keep(append(append([]Entry{main}, eight[2:]...), of(8, "a", 20), of(0, "a", 1))...), "a8 a7 a6 a5 a4 a3 a2 z20 "},
		{"a thread served again stays", keep(append(append(eight, of(0, "b", 19)), of(8, "a", 20))...), "a8 b0 a7 a6 a5 a4 a3 a2 a0 "},
	}
	for _, c := range cases {
		if got := show(c.r); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	r := keep(of(7, "a", 1), of(8, "a", 2))
	wrong := of(7, "a", 2) // the turn of the other thread
	if got := show(r.Drop("m", wrong).Update("m", wrong)); got != "a8 a7 " {
		t.Errorf("an entry of another thread was taken for it: %q", got)
	}
	if got := show(r.Drop("m", of(8, "a", 2))); got != "a7 " {
		t.Errorf("after a drop %q", got)
	}
}

func TestUpdateOnlyWhatIsThere(t *testing.T) {
	e := entryAt("a", 1, 0)
	report := e
	report.Prompt, report.Reported = 900, true
	r := Record{}.Keep("m", e).Keep("m", entryAt("b", 2, 1))
	updated := r.Update("m", report)
	if got := updated.For("m"); vendorsOf(got) != "b a " || got[1].Prompt != 900 {
		t.Errorf("updated: %+v", got)
	}
	if r.For("m")[1].Reported {
		t.Error("the record itself changed")
	}
	for name, was := range map[string]Record{
		"nothing":       {},
		"dropped":       r.Drop("m", e),
		"renewed":       r.Keep("m", entryAt("a", 3, 2)),
		"another model": Record{}.Keep("n", e),
	} {
		got := was.Update("m", report)
		for _, m := range got.Models {
			for _, e := range m.Warm {
				if e.Reported {
					t.Errorf("%s: brought back %+v", name, e)
				}
			}
		}
		if len(got.Models) != len(was.Models) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The line in which entries are judged: own thread, other threads, parent.
func TestLineUp(t *testing.T) {
	of := func(thread uint64, vendor, credential string, turn int) Entry {
		e := entryAt(vendor, uint64(turn), turn)
		e.Thread, e.Credential = thread, credential
		return e
	}
	record := func(entries ...Entry) (r Record) {
		for _, e := range entries {
			r = r.Keep("m", e)
		}
		return r
	}
	cases := []struct {
		name        string
		own, parent Record
		want        string
	}{
		{"nothing", Record{}, Record{}, ""},
		{"newest first", record(of(1, "a", "", 1), of(1, "b", "", 2)), Record{}, "b1@2 a1@1 "},
		{"own thread before a newer one", record(of(1, "a", "", 1), of(2, "b", "", 2)), Record{}, "a1@1 b2@2 "},
		{"a candidate once, by its own thread", record(of(1, "a", "", 1), of(2, "a", "", 2), of(2, "b", "", 3)), Record{}, "a1@1 b2@3 "},
		{"a candidate of two other threads once, by the newer", record(of(2, "a", "", 1), of(3, "a", "", 2)), Record{}, "a3@2 "},
		{"two credentials are two candidates", record(of(1, "a", "k", 1), of(2, "a", "l", 2)), Record{}, "a1@1 a2@2 "},
		{"the parent's where there is nothing", Record{}, record(of(9, "a", "", 1), of(8, "b", "", 2)), "b8@2 a9@1 "},
		{"the parent's behind other threads", record(of(2, "a", "", 5)), record(of(1, "b", "", 9)), "a2@5 b1@9 "},
		{"not the parent's beside an own thread", record(of(1, "a", "", 5)), record(of(1, "b", "", 9)), "a1@5 "},
	}
	for _, c := range cases {
		f := Facts{Thread: 1, Record: c.own, Parent: c.parent}
		got := ""
		for _, e := range f.lineUp(nil, "m") {
			got += fmt.Sprintf("%s%d@%d ", e.Vendor, e.Thread, e.Turn)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
