package sim

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// eachLine reads a recorded trace that lies beside the project.
func eachLine(t *testing.T, name string, each func(line []byte)) {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "traces", name))
	if os.IsNotExist(err) {
		t.Skip("the recorded traces are not here; the random sessions hold the same laws")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		each(lines.Bytes())
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
}

// recorded is one request of the recorded agent sessions: its size, and its prompt as
// runs of blocks, or a sub-agent with requests of its own.
type recorded struct {
	T        float64    `json:"t"`
	Type     string     `json:"type"`
	Model    string     `json:"model"`
	In       int64      `json:"in"`
	Out      int64      `json:"out"`
	Runs     [][2]int64 `json:"hash_runs"`
	Requests []recorded `json:"requests"`
}

const recordedBlock = 64 // tokens

// inCommon is how many blocks two prompts begin with alike.
func inCommon(a, b [][2]int64) (blocks int64) {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i][0] != b[i][0] {
			return blocks
		}
		n := min(a[i][1], b[i][1])
		blocks += n
		if a[i][1] != b[i][1] {
			break // the longer run's next block follows it; the other has jumped
		}
	}
	return blocks
}

// replayed is what recorded sessions come to under one way of serving them.
type replayed struct {
	Tally
	requests, prompt int64
	kept             int64 // tokens that a prompt has in common with the one before
}

// sessions are the recorded ones, read once.
var sessions []recorded

// replay puts every recorded request to the model. serve says how.
func replay(t *testing.T, serve func(n int, f *Fact, predict func(offer int) pricing.Usage)) (all replayed) {
	if sessions == nil {
		eachLine(t, "claude-code-weka.jsonl.gz", func(line []byte) {
			var session recorded
			if err := json.Unmarshal(line, &session); err != nil {
				t.Fatal(err)
			}
			sessions = append(sessions, session)
		})
	}
	for i := range sessions {
		one := player{t: t, serve: serve, all: &all}
		one.play(sessions[i].Requests, 0, 0)
		if !one.sum.Cost.Add(one.sum.Saving).Equal(one.sum.CostWithout) {
			t.Fatalf("%s + %s is not %s", one.sum.Cost, one.sum.Saving, one.sum.CostWithout)
		}
		all.Tally = all.Add(one.sum)
	}
	if !all.Cost.Add(all.Saving).Equal(all.CostWithout) {
		t.Fatalf("%s + %s is not %s", all.Cost, all.Saving, all.CostWithout)
	}
	return all
}

// player plays one session.
type player struct {
	t       *testing.T
	serve   func(n int, f *Fact, predict func(offer int) pricing.Usage)
	all     *replayed
	session Session
	sum     Tally
	threads uint64
	n       int
}

// play puts the requests of one thread to the model, and those of its sub-agents.
func (p *player) play(requests []recorded, from float64, thread uint64) {
	var last *recorded
	for i := range requests {
		q := &requests[i]
		if q.Type == "subagent" {
			p.threads++
			p.play(q.Requests, from+q.T, p.threads)
			continue
		}
		f := &Fact{Thread: thread, At: start.Add(time.Duration((from + q.T) * float64(time.Second))), Marks: marked, Kept: Kept{Known: true}}
		if last != nil {
			f.Kept.Tokens = min(inCommon(last.Runs, q.Runs)*recordedBlock, last.In, q.In)
			p.all.kept += f.Kept.Tokens
		}
		last = q
		p.serve(p.n, f, func(offer int) pricing.Usage {
			for i := range f.Offers {
				f.Offers[i].Model = q.Model
			}
			probe, s := *f, p.session.Clone()
			probe.Tries = []Try{{Offer: offer, Taken: true, Quality: pricing.Authoritative, Usage: pricing.Usage{Input: q.In}}}
			u := s.Step(&probe).Predicted
			u.Output = q.Out
			return u
		})
		p.n++
		res := p.session.Step(f)
		lawful(p.t, &res)
		if res.Predicted.Prompt() != q.In || res.Counterfactual.Prompt() != q.In {
			p.t.Fatalf("%d tokens, predicted %+v and %+v", q.In, res.Predicted, res.Counterfactual)
		}
		p.sum.Take(&res)
		p.all.requests++
		p.all.prompt += q.In
	}
}

// taken is an attempt that used what the model says.
func taken(f *Fact, offer int, u pricing.Usage) {
	c := f.Offers[offer].Card
	f.Tries = []Try{{Offer: offer, Taken: true, Billed: true, Usage: u, Quality: pricing.Authoritative, Card: c, Cost: Known(c.Cost(u).Total)}}
}

// Real agent sessions at one vendor. What the model says is read agrees with what was
// counted apart from it: 96.31 % of all main-chain input is shared with the request
// before, 95.09 % of that is asked for again within five minutes, 99.64 % within an
// hour. And marking for an hour saves what the turns of the shorter lifetime say.
func TestSharedTracePredictsTheHitRateOfOneVendor(t *testing.T) {
	shop := (&shop{}).sell("one", byMarker, card("5", "25", "0.50", "6.25", "10"))
	under := func(marks Marks) replayed {
		got := replay(t, func(_ int, f *Fact, predict func(int) pricing.Usage) {
			f.Marks, f.Offers, f.Outcome = marks, append(f.Offers, shop.vendors...), engine.Confirmed
			taken(f, 0, predict(0))
		})
		if got.requests != 49_334 || got.Same != got.Turns || !got.Saving.IsZero() || !got.Deviation.IsZero() || got.PromptTokens != got.prompt {
			t.Errorf("%+v", got)
		}
		hits, _ := got.TokenHitRate().Percent(3)
		kept, _ := Share{got.kept, got.prompt}.Percent(3)
		retained, _ := got.Retention().Percent(3)
		t.Logf("%d requests of %d tokens, %s %% in common with the one before; hit rate %s %%, retention %s %%, $%s", got.requests, got.prompt, kept, hits, retained, got.Cost.StringFixed(2))
		for cause, m := range got.Missed {
			if m.Turns > 0 {
				t.Logf("  %s: %d turns, %d tokens, $%s", Cause(cause), m.Turns, m.Tokens, m.Loss.StringFixed(2))
			}
		}
		return got
	}
	five, sixty := under(marked), under(Marks{Any: true, Hour: Whole})
	for _, c := range []struct {
		name string
		got  Share
		want string
	}{
		{"in common", Share{five.kept, five.prompt}, "96.31"},
		{"again within five minutes", five.Retention(), "95.09"},
		{"again within an hour", sixty.Retention(), "99.64"},
		{"read, of all", five.TokenHitRate(), "91.58"},
	} {
		got, _ := c.got.Percent(3)
		if got.Sub(dec(c.want)).Abs().GreaterThan(dec("0.1")) {
			t.Errorf("%s: %s %%, want about %s", c.name, got, c.want)
		}
	}
	if !five.Cost.Sub(sixty.Cost).Equal(five.Hour) {
		t.Errorf("marking for an hour saves %s; the turns say %s", five.Cost.Sub(sixty.Cost), five.Hour)
	}
	t.Logf("marking for an hour saves $%s", five.Hour.StringFixed(2))
}

// Two equal vendors in an order that goes round: affinity stays where the first turn
// went.
func TestSharedTraceSavingsAddUp(t *testing.T) {
	opus := card("5", "25", "0.50", "6.25", "10")
	shop := (&shop{}).sell("one", byMarker, opus).sell("two", byMarker, opus)
	got := replay(t, func(n int, f *Fact, predict func(int) pricing.Usage) {
		f.Offers, f.Outcome = append(f.Offers, shop.vendors...), engine.Promoted
		at := 0
		if n%2 == 1 {
			f.Offers[0], f.Offers[1] = f.Offers[1], f.Offers[0]
			at = 1
		}
		taken(f, at, predict(at))
	})
	if got.Uncovered != 0 || got.Covered != got.requests || !got.Saving.IsPositive() || !got.Deviation.IsZero() {
		t.Errorf("%+v", got.Tally)
	}
	t.Logf("cost $%s + saving $%s = $%s without; %d of %d turns the same", got.Cost.StringFixed(2), got.Saving.StringFixed(2), got.CostWithout.StringFixed(2), got.Same, got.Turns)
}

// Two real sessions with what was billed: how near the model comes when it knows no
// more than sizes and times.
func TestSharedTraceModelError(t *testing.T) {
	type line struct {
		Session string `json:"session"`
		Event   string `json:"event"`
		Model   string `json:"model"`
		Started int64  `json:"started_ms"`
		Input   int64  `json:"input"`
		Output  int64  `json:"output"`
		Read    int64  `json:"cache_read"`
		Write   int64  `json:"cache_write"`
	}
	cards := map[string]pricing.Card{
		"claude-opus-4-5":   card("5", "25", "0.50", "6.25", "10"),
		"claude-sonnet-4-5": card("3", "15", "0.30", "3.75", "6"),
	}
	pi, sums, learned := map[string]*Session{}, map[string]*Tally{}, map[string]*Learned{}
	eachLine(t, "pi-sessions-usage.jsonl.gz", func(text []byte) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatal(err)
		}
		u := pricing.Usage{Input: l.Input, CacheRead: l.Read, CacheWrite5m: l.Write, Output: l.Output}
		if l.Event != "" || u.Prompt() == 0 {
			return
		}
		if pi[l.Session] == nil {
			pi[l.Session], sums[l.Session], learned[l.Session] = &Session{}, &Tally{}, &Learned{}
		}
		f := &Fact{At: time.UnixMilli(l.Started), Marks: marked, Outcome: engine.Confirmed, Offers: []Offer{{Model: l.Model, ID: Name("anthropic", "k", ""), Rules: byMarker, Card: cards[l.Model]}}}
		taken(f, 0, u)
		res := pi[l.Session].Step(f)
		lawful(t, &res)
		sums[l.Session].Take(&res)
		learned[l.Session].Learn(&res)
	})
	for name, want := range map[string]string{"pi-before-compaction": "42.60", "pi-large-session": "30.33"} {
		sum, l := sums[name], learned[name]
		off, ok := sum.ModelError()
		if !ok || sum.Cost.StringFixed(2) != want || !sum.Saving.IsZero() || sum.Same != sum.Turns {
			t.Errorf("%s: %+v", name, sum)
		}
		rate, _ := sum.TokenHitRate().Percent(2)
		t.Logf("%s: %d turns, $%s, hit rate %s %%, model error %s, low confidence %t, survival %+v, life %+v", name, sum.Turns, sum.Cost.StringFixed(2), rate, off.Round(4), sum.LowConfidence(), Survival(Aged{*l, 0}), l.Lifetime(5*time.Minute))
		for cause, m := range sum.Missed {
			if m.Turns > 0 {
				t.Logf("  %s: %d turns, %d tokens, $%s", Cause(cause), m.Turns, m.Tokens, m.Loss.StringFixed(2))
			}
		}
		t.Logf("  marking for an hour would have saved $%s over %d turns; pay-back %s, %s", sum.Hour.StringFixed(2), sum.HourTurns, sum.PayBack(), decimal.NewFromInt(sum.Reads).DivRound(decimal.NewFromInt(max(sum.Writes, 1)), 2))
	}
}
