package web

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

func TestAmounts(t *testing.T) {
	for text, want := range map[string]string{
		"0": "$0", "0.0000001": "<\u202f$0.000001", "0.0000015": "$0.0000015", "0.0015": "$0.0015", "0.000431": "$0.000431", "0.0042": "$0.0042",
		"0.00431499": "$0.00431", "0.00999999": "$0.01", "0.5": "$0.5000", "0.01": "$0.0100", "12.3": "$12.30", "999.99": "$999.99", "123456": "$123,456",
		"1234567.89": "$1,234,568", "-0.0021": "−$0.0021", "-38.4": "−$38.40", "-0.00000001": "above −$0.000001",
	} {
		if got := money("$").amount(decimal.RequireFromString(text)); got != want {
			t.Errorf("%s is written %q, want %q", text, got, want)
		}
	}
}

func TestSmallMoneyAddsUpAndIsNeverWrittenAsNothing(t *testing.T) {
	// A thousand requests of three tokens each at 0.50 per million.
	total := engine.Sums{Turns: 1000, Billed: 1000, CostKnown: 1000}
	row := pricing.PerMillion(decimal.RequireFromString("0.50")).Of(3)
	for range 1000 {
		total.Cost = total.Cost.Add(row)
	}
	if got := money("$").exact(row); got != "$0.0000015" {
		t.Errorf("a row is written %q", got)
	}
	if got := costText(&total, money("$").amount).Text; got != "$0.0015" {
		t.Errorf("the total is written %q", got)
	}
	write := money("$").column([]decimal.Decimal{decimal.RequireFromString("12"), decimal.RequireFromString("0.0000001")})
	if got := write(decimal.RequireFromString("0.0000001")); got != "<\u202f$0.000001" {
		t.Errorf("in a column it is written %q", got)
	}
	if got := money("$").fixed(row, 2); got != "<\u202f$0.01" {
		t.Errorf("in cents it is written %q", got)
	}
}

func TestAColumnHasOnePrecision(t *testing.T) {
	amounts := []decimal.Decimal{decimal.RequireFromString("0.1571"), decimal.RequireFromString("12"), decimal.RequireFromString("0.00431")}
	write := money("$").column(amounts)
	for i, want := range []string{"$0.15710", "$12.00000", "$0.00431"} {
		if got := write(amounts[i]); got != want {
			t.Errorf("%s is written %q, want %q", amounts[i], got, want)
		}
	}
}

func TestRates(t *testing.T) {
	for text, want := range map[string]string{"0.3": "$0.30/M", "3": "$3.00/M", "0.0028": "$0.0028/M", "0": "$0.00/M", "12000": "$12,000.00/M"} {
		if got := money("$").rate(pricing.PerMillion(decimal.RequireFromString(text))); got != want {
			t.Errorf("%s is written %q, want %q", text, got, want)
		}
	}
	if got := money("$").rate(pricing.Rate{}); got != "unknown" {
		t.Errorf("an unknown rate is written %q", got)
	}
}

func TestCurrencies(t *testing.T) {
	for code, want := range map[string]string{"USD": "$1.00", "EUR": "€1.00", "GBP": "£1.00", "CHF": "CHF\u202f1.00"} {
		if got := moneyIn(code).exact(decimal.New(1, 0)); got != want {
			t.Errorf("%s is written %q", code, got)
		}
	}
}

func TestTokens(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 8120: "8\u202f120", 9999: "9\u202f999", 10_000: "10.0k", 41_249: "41.2k", 41_250: "41.3k", 999_949: "999.9k", 999_950: "1.0M",
		16_820_000: "16.8M", 999_949_999: "999.9M", 999_950_000: "1.0B", 1_234_000_000_000: "1\u202f234.0B",
	} {
		if got := tokens(n); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
}

func TestPercents(t *testing.T) {
	for _, x := range []struct {
		part, whole int64
		want        string
	}{
		{0, 0, "—"}, {0, 5, "0.0\u202f%"}, {1, 10_000, "<0.1\u202f%"}, {9_999, 10_000, ">99.9\u202f%"}, {5, 5, "100.0\u202f%"}, {713, 1000, "71.3\u202f%"},
		{1, 3, "33.3\u202f%"}, {18_400, 20_000, "92.0\u202f%"}, {9_000_000_000_000_000, 9_000_000_000_000_001, ">99.9\u202f%"},
	} {
		if got := percent(x.part, x.whole); got != x.want {
			t.Errorf("%d of %d is written %q, want %q", x.part, x.whole, got, x.want)
		}
	}
}

func TestTheHitRateIsOfTokensAndNamesItsCounts(t *testing.T) {
	sums := engine.Sums{Turns: 2, Billed: 2, UsageKnown: 2, Hits: 1, Usage: pricing.Usage{Input: 12 + 988, CacheRead: 18_400, CacheWrite5m: 600}}
	if got := hitRate(&sums); got.Rate != "92.0\u202f%" || got.Counts != "18.4k / 20.0k" || got.Value != "92.0" {
		t.Errorf("the hit rate is %+v", got)
	}
	if got := hitRate(&engine.Sums{}); got.Rate != "—" || got.Value != "" {
		t.Errorf("without traffic it is %+v", got)
	}
	if got := hitRate(&engine.Sums{Turns: 1, Billed: 1}); got.Rate != "unknown" || got.Value != "" {
		t.Errorf("without usage it is %+v", got)
	}
}

func TestDurations(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0\u202fs", 410 * time.Microsecond: "0.41\u202fms", 412 * time.Millisecond: "412\u202fms", 1940 * time.Millisecond: "1.94\u202fs", 59990 * time.Millisecond: "59.9\u202fs",
		5*time.Minute + 29*time.Second: "5m29s", 2*time.Hour + 5*time.Minute: "2h05m", 76 * time.Hour: "3d04h", -3 * time.Second: "−3.00\u202fs",
	} {
		if got := took(d); got != want {
			t.Errorf("%s is written %q, want %q", d, got, want)
		}
	}
}

func TestTextThatDoesNotPrintIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "héllo 世界": "héllo 世界", "a\u202eb": `a\u202eb`, "a\x00\nb": `a\u0000\u000ab`, "a\xffb": `a\xffb`, "<b>": "<b>", "\u200b": `\u200b`,
	} {
		if got := plain(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
	if got := short(strings.Repeat("a", 20) + strings.Repeat("é", 20)); got != strings.Repeat("a", 16)+"…"+strings.Repeat("é", 8) {
		t.Errorf("a long id is shown as %q", got)
	}
}

func TestTimesLeaveOutTheDayOnTheSameOne(t *testing.T) {
	now := time.Date(2026, 11, 29, 0, 30, 0, 0, time.UTC)
	if got := at(now.Add(-time.Minute), now).Short; got != "00:29:00" {
		t.Errorf("%q", got)
	}
	if got := at(now.Add(-time.Hour), now); got.Short != "Nov 28 23:30:00" || got.Full != "2026-11-28 23:30:00 UTC" {
		t.Errorf("%+v", got)
	}
	if got := at(time.Time{}, now); got.Short != "—" || got.Machine != "" {
		t.Errorf("%+v", got)
	}
}

// An attempt that does not say what it read is no miss, by attempt either.
func TestTheHitRateByAttemptLeavesOutThoseThatDoNotSay(t *testing.T) {
	sums := engine.Sums{Turns: 4, Billed: 4, UsageKnown: 4, Hits: 1, ReadUnknown: 2, UnreadPrompt: 2000, Usage: pricing.Usage{Input: 3000, CacheRead: 1000}}
	hit := (&call{money: "$"}).cards(&sums, accountOf{})[0]
	if len(hit.Lines) != 2 || hit.Lines[1] != "by attempt 50.0\u202f%: 1 / 2" {
		t.Errorf("%q", hit.Lines)
	}
}
