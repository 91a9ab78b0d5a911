package catalog

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/warmroute/warmroute/pricing"
)

// dice makes random prices and turns.
type dice struct{ *rand.Rand }

func oneOf[T any](d dice, all ...T) T { return all[d.IntN(len(all))] }

func (d dice) digits(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(byte('0' + d.IntN(10)))
	}
	return b.String()
}

// number is a price text of every form that the grammar has.
func (d dice) number() string {
	whole := strconv.Itoa(d.IntN(1000))
	switch d.IntN(8) {
	case 0:
		return oneOf(d, "0", "0.00", "0e5", ".0")
	case 1:
		return whole
	case 2:
		return whole + "."
	case 3:
		return "." + d.digits(1+d.IntN(18))
	case 4:
		return whole + "." + d.digits(d.IntN(4)) + oneOf(d, "e-06", "E-6", "e+02", "e1", "e-09")
	case 5:
		return strconv.Itoa(1+d.IntN(999_999_999)) + "." + d.digits(18)
	}
	return whole + "." + d.digits(2)
}

func (d dice) card() writtenCard {
	c := writtenCard{}
	for _, key := range []string{"input", "output", "cache_read", "cache_read_implicit", "cache_write", "cache_write_1h"} {
		if likely := map[string]int{"input": 39, "output": 38, "cache_read": 32}[key]; d.IntN(40) < max(likely, 20) {
			c[key] = d.number()
		}
	}
	return c
}

func (d dice) band(tiered int) writtenBand {
	b := writtenBand{card: d.card()}
	if d.IntN(10) >= tiered {
		return b
	}
	above := []int64{1, 32_000, 128_000, 200_000, 272_000, 1_000_000}
	d.Shuffle(len(above), func(i, j int) { above[i], above[j] = above[j], above[i] })
	above = above[:1+d.IntN(3)]
	slices.Sort(above)
	for _, n := range above {
		b.tiers = append(b.tiers, writtenTier{n, d.card()})
	}
	b.marginal = d.IntN(2) == 0
	return b
}

var zoneNames = []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe", "Asia/Kolkata", "Africa/Cairo"}

func (d dice) windows() []writtenWindow {
	hours := []string{"00:00", "00:59:59", "01:00", "02:00", "02:30", "03:00", "06:00", "08:30", "16:30", "22:00", "23:59:59", "24:00"}
	days := func() []string {
		return oneOf(d, nil, nil, []string{"mon-fri"}, []string{"sat", "sun"}, []string{"fri-mon"}, []string{"wed"}, []string{"tue", "thu-sat"})
	}
	window := func(from, to, zone string) writtenWindow {
		w := writtenWindow{days: days(), from: from, to: to, zone: zone, band: d.band(4)}
		if len(w.band.yaml()) == 0 {
			w.band.card["input"] = d.number()
		}
		return w
	}
	zone := oneOf(d, zoneNames...)
	switch d.IntN(4) {
	case 0:
		i := d.IntN(6)
		all := []writtenWindow{window(hours[i], hours[i+1+d.IntN(2)], zone)}
		return append(all, window(hours[8], hours[9+d.IntN(3)], zone))
	case 1: // over midnight
		return []writtenWindow{window(oneOf(d, "22:00", "23:59:59", "16:30"), oneOf(d, "00:59:59", "02:30", "03:00", "06:00"), zone)}
	case 2:
		i := d.IntN(len(hours) - 1)
		return []writtenWindow{window(hours[i], hours[i+1+d.IntN(len(hours)-1-i)], zone), window("03:00", "06:00", oneOf(d, zoneNames...))}
	}
	return nil
}

func (d dice) period() writtenPeriod {
	p := writtenPeriod{band: d.band(7), windows: d.windows(), service: map[string]writtenBand{}}
	if d.IntN(3) == 0 {
		p.fee = oneOf(d, "0.005", "1e-3", "0", "12.", ".000001")
	}
	for _, name := range []string{"flex", "priority", "batch"} {
		if d.IntN(3) == 0 {
			p.services = append(p.services, name)
			p.service[name] = d.band(5)
		}
	}
	for _, s := range []writtenSurcharge{{"fast", "", ""}, {"", "us", ""}, {"fast", "us", ""}, {"turbo", "eu", ""}} {
		if d.IntN(4) == 0 {
			s.times = oneOf(d, "6", "1.1", "2.0", ".5", "1.05", "1e1", "33.333333333333", "100")
			p.surcharges = append(p.surcharges, s)
		}
	}
	return p
}

func (d dice) price() writtenPrice {
	p := writtenPrice{unit: oneOf(d, "per_million", "per_million", "per_thousand", "per_token")}
	bounds := []string{"2026-03-08", "2026-03-29T01:00:00Z", "2026-08-16T16:00:00Z", "2026-10-25T02:30:00+02:00", "2026-11-01", "2027-01-01T00:00:00.5Z"}
	first := d.IntN(len(bounds))
	count := oneOf(d, 1, 1, 2, 3)
	from := oneOf(d, "", bounds[first])
	for i := range count {
		q := d.period()
		q.from = from
		if at := first + 1 + i; at < len(bounds) && (i+1 < count || d.IntN(2) == 0) {
			q.to, from = bounds[at], bounds[at]
			if d.IntN(4) == 0 && at+1 < len(bounds) { // a gap
				from, first = bounds[at+1], first+1
			}
			p.periods = append(p.periods, q)
			continue
		}
		p.periods = append(p.periods, q)
		break
	}
	d.Shuffle(len(p.periods), func(i, j int) { p.periods[i], p.periods[j] = p.periods[j], p.periods[i] })
	return p
}

// moment is a time, as often as not beside one at which a price changes.
func (d dice) moment(p *writtenPrice) time.Time {
	beside := oneOf(d, 0, -1, 1, -time.Second, time.Minute, -30*time.Minute, 30*time.Minute, -time.Hour, time.Hour)
	anywhere := func() time.Time {
		return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(d.Int64N(int64(540 * 24 * time.Hour))))
	}
	at := anywhere()
	for again := 0; again < 5 && p.at(at) == nil; again++ {
		at = anywhere()
	}
	period := &p.periods[d.IntN(len(p.periods))]
	switch d.IntN(4) {
	case 0: // where some zone's clock is changed
		zone := zoneNamed(oneOf(d, zoneNames...))
		if _, end := at.In(zone).ZoneBounds(); !end.IsZero() {
			at = end.Add(beside)
		}
	case 1: // where a window begins or ends
		if len(period.windows) > 0 {
			w := &period.windows[d.IntN(len(period.windows))]
			zone := zoneNamed(w.zone)
			text := oneOf(d, w.from, w.to)
			var h, m, s int
			_, _ = fmt.Sscanf(text+":00", "%d:%d:%d", &h, &m, &s)
			day := at.In(zone)
			at = time.Date(day.Year(), day.Month(), day.Day(), h, m, s, 0, zone).Add(beside)
		}
	case 2: // where a period begins or ends
		if text := oneOf(d, period.from, period.to); text != "" {
			at = boundOf(text).Add(beside)
		}
	}
	return at.In(zoneNamed(oneOf(d, zoneNames...)))
}

func (d dice) turn(p *writtenPrice) turn {
	t := turn{
		at:       d.moment(p),
		tier:     oneOf(d, "", "", "", "default", "standard", "auto"),
		speed:    oneOf(d, "", "", "", "standard"),
		region:   oneOf(d, "", "us", "eu", "global"),
		implicit: d.IntN(2) == 0,
	}
	if period := p.at(t.at); period != nil { // what it names, more often than what it does not
		if len(period.services) > 0 && d.IntN(3) == 0 {
			t.tier = oneOf(d, period.services...)
		}
		if len(period.surcharges) > 0 && d.IntN(2) == 0 {
			s := oneOf(d, period.surcharges...)
			t.speed, t.region = s.speed, s.region
		}
	}
	switch d.IntN(12) {
	case 0:
		t.tier = oneOf(d, "flex", "priority", "batch", "scale")
	case 1:
		t.speed = oneOf(d, "fast", "turbo", "Fast")
	}
	prompt := oneOf(d, d.Int64N(2_000_000), d.Int64N(5000), oneOf(d, int64(1), 32_000, 128_000, 200_000, 272_000, 1_000_000)+oneOf(d, int64(-1), 0, 1))
	t.usage.Output = oneOf(d, 0, 1, d.Int64N(130_000))
	if prompt == 0 && t.usage.Output == 0 {
		t.usage.Output = 1
	}
	left := prompt
	for _, bucket := range []*int64{&t.usage.CacheRead, &t.usage.CacheWrite1h, &t.usage.CacheWrite5m} {
		switch d.IntN(4) {
		case 0:
		case 1:
			*bucket = left
		default:
			*bucket = d.Int64N(left + 1)
		}
		left -= *bucket
	}
	t.usage.Input = left
	return t
}

// parsedPrice reads a written price. Windows that overlap, which is a mistake, are
// taken out of it.
func parsedPrice(t *testing.T, p *writtenPrice) pricing.Price {
	t.Helper()
	for {
		text := "unit: " + p.unit + "\n" + frame + "  m: {routes: [{vendor: alpha, model: m, price: " + p.yaml() + "}]}\n"
		c, err := Parse("c.yaml", []byte(text))
		if err == nil {
			return c.Models[0].Routes[0].Price
		}
		if !strings.Contains(err.Error(), "overlaps another window") {
			t.Fatalf("%v\n%s", err, text)
		}
		for i := range p.periods {
			if w := p.periods[i].windows; len(w) > 1 {
				p.periods[i].windows = w[:1]
			}
		}
	}
}

// Every cost is the one that a reader of the YAML makes out in fractions, to the
// last digit. WARMROUTE_PRICES is how many turns are priced; WARMROUTE_SEED repeats
// those of an earlier run.
func TestEveryCostIsThatOfTheYAMLInFractions(t *testing.T) {
	turns, seed := 10_000, uint64(time.Now().UnixNano())
	if text := os.Getenv("WARMROUTE_PRICES"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		turns = n
	}
	if text := os.Getenv("WARMROUTE_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("WARMROUTE_SEED=%d WARMROUTE_PRICES=%d", seed, turns)
	d := dice{rand.New(rand.NewPCG(seed, 0))}
	var written writtenPrice
	var read pricing.Price
	var known, unknown, inWindow, pieces, implicit, multiplied, served, fees, savings int
	for i := range turns {
		if i%25 == 0 {
			written = d.price()
			read = parsedPrice(t, &written)
		}
		turn := d.turn(&written)
		want := written.billFor(&turn)
		card := read.At(pricing.Terms{Prompt: turn.usage.Prompt(), At: turn.at, Tier: turn.tier, Speed: turn.speed, Region: turn.region, Implicit: turn.implicit})
		got, saving := card.Cost(turn.usage), card.Saving(turn.usage)
		fail := func(what string, got, want any) {
			t.Helper()
			t.Fatalf("%s is %v, want %v\nWARMROUTE_SEED=%d, turn %d: %+v\nunit: %s\nprice: %s", what, got, want, seed, i, turn, written.unit, written.yaml())
		}
		if got.Known != want.known {
			fail("known", got.Known, want.known)
		}
		if !want.known {
			unknown++
			if !got.Total.IsZero() || saving.Known {
				fail("an unknown cost", got, saving)
			}
			continue
		}
		known++
		for _, part := range []struct {
			name      string
			got, want *big.Rat
		}{
			{"total", got.Total.Rat(), want.total()},
			{"input", got.Input.Rat(), want.input},
			{"cache read", got.CacheRead.Rat(), want.read},
			{"cache write 5m", got.CacheWrite5m.Rat(), want.write5m},
			{"cache write 1h", got.CacheWrite1h.Rat(), want.write1h},
			{"output", got.Output.Rat(), want.output},
			{"request", got.Request.Rat(), want.fee},
		} {
			if part.got.Cmp(part.want) != 0 {
				fail(part.name, part.got.FloatString(30), part.want.FloatString(30))
			}
		}
		if got.NoCachePrice != want.noCache {
			fail("no cache price", got.NoCachePrice, want.noCache)
		}
		if saving.Known != (want.saving != nil) {
			fail("saving known", saving.Known, want.saving)
		}
		if saving.Known && saving.Amount.Rat().Cmp(want.saving) != 0 {
			fail("saving", saving.Amount, want.saving.FloatString(30))
		}
		for _, c := range []struct {
			is    bool
			count *int
		}{{want.inWindow, &inWindow}, {want.pieces, &pieces}, {want.implicit, &implicit}, {want.multiplied, &multiplied}, {want.served, &served}, {want.fee.Sign() > 0, &fees}, {saving.Known, &savings}} {
			if c.is {
				*c.count++
			}
		}
	}
	t.Logf("%d known, %d unknown; of the known %d in a window, %d piece by piece, %d of an implicit cache, %d with a surcharge, %d in a service tier, %d with a fee, %d with a saving",
		known, unknown, inWindow, pieces, implicit, multiplied, served, fees, savings)
	if least := min(known, unknown, inWindow, pieces, implicit, multiplied, served, fees, savings); turns >= 10_000 && least < turns/200 {
		t.Errorf("some kind of price was met only %d times", least)
	}
}
