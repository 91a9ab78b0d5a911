package wire

import (
	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/engine"
	"github.com/warmroute/warmroute/pricing"
)

// Report is what a vendor has said of one answer's usage, in buckets that do not
// overlap.
//
// The zero Report is that of an answer that said nothing.
type Report struct {
	Usage   pricing.Usage
	Quality pricing.Quality

	// ReadUnknown: the vendor did not say how much it read from its cache. Nothing
	// read is then not known, and no miss.
	ReadUnknown bool
	// Implicit: what was read comes from the vendor's own caching. Only vendors that
	// tell it from marked prefixes say so.
	Implicit bool

	Tier    string         // service tier that served; empty if it is not said, as are the next two
	Speed   string         // speed that served, such as "fast"
	Region  string         // where it was computed
	Charged pricing.Charge // what the vendor says it charged
	Sides   []engine.Side  // what was used besides Usage
	Raw     []byte         // the usage object, the last one of a stream, as it came but for text: see appendRaw
}

// Normalise reads one usage object by a convention, nil meaning OpenAI's: what an
// answer of a vendor's own API carries, which the gateway itself does not speak,
// or what a record kept. What is no JSON object is a report that is missing.
func Normalise(convention *catalog.Usage, object []byte) Report {
	if convention == nil {
		convention = catalog.UsageConvention("", catalog.Chat)
	}
	start := space(object, 0)
	s := scanner{b: object}
	end := -1
	if start < len(object) && object[start] == '{' {
		end = s.value(start, 0, false)
	}
	if end < 0 || space(object, end) != len(object) {
		return Report{}
	}
	var t tally
	t.read(convention, object, span{start, end})
	return t.report(convention)
}

// maxTokens is more than any answer can use; what is above is a mistake. Sums of it
// stay whole numbers: it takes billions of such answers to run out of them.
const maxTokens = 1 << 30

// maxUsageWord is how long a word of a usage object may be.
const maxUsageWord = 64

// maxIterations is how many steps of one answer are read.
const maxIterations = 64

// tally is what the usage objects of one answer have said. Vendors repeat running
// totals from event to event, so each number keeps its greatest value and nothing
// is ever added. See [tally.restate] for the one number that may become less.
type tally struct {
	count   [catalog.UsageCounters]int64
	seen    [catalog.UsageCounters]bool
	any     bool // some number was there
	told    bool // the last object named the output, or a total
	invalid bool // one was negative, broken or impossible
	marked  bool // a cache was asked for by markers
	inner   bool // it is a step's: lists of steps are not looked for
	tier    string
	speed   string
	region  string
	charged pricing.Charge
	steps   []iteration
	raw     []byte
}

// iteration is one step of an answer.
type iteration struct {
	kind, model string
	tally
}

// read merges the usage object at v. null and what is missing change nothing.
func (t *tally) read(c *catalog.Usage, b []byte, v span) {
	t.told = false
	switch b[v.from] {
	case 'n':
		return
	case '{':
	default:
		t.any, t.invalid = true, true
		return
	}
	t.raw = appendRaw(t.raw[:0], v.of(b))
	prompt, stored, named := t.count[catalog.PromptCount], t.stored(), t.seen[catalog.PromptCount]
	t.count[catalog.PromptCount], t.seen[catalog.PromptCount] = 0, false
	t.object(c, c.Root(), b, v.from)
	t.restate(c, prompt, stored, named)
}

// stored is the greatest count of what was read from a cache and written to it.
func (t *tally) stored() int64 {
	written := max(t.count[catalog.WriteCount], t.count[catalog.Write5mCount]+t.count[catalog.Write1hCount])
	return t.count[catalog.ReadCount] + written
}

// restate settles the prompt's number of the object that was just read with the
// one before it. The greater counts, but where cached tokens stand beside the
// prompt, a vendor may first state the whole prompt, and at the end what was cached
// of it: the second number is then the rest. A zero is one only if nothing is left.
func (t *tally) restate(c *catalog.Usage, prompt, stored int64, named bool) {
	now, grown := &t.count[catalog.PromptCount], t.stored()-stored
	again := t.seen[catalog.PromptCount]
	t.seen[catalog.PromptCount] = again || named
	if again && c.Cached == catalog.Beside && (*now > 0 && grown > 0 || grown == prompt) {
		return
	}
	*now = max(*now, prompt)
}

// object merges what is looked for in the object at from.
func (t *tally) object(c *catalog.Usage, n *catalog.UsageNode, b []byte, from int) {
	for w := walk(b, from); w.next(); {
		if m := n.Member(w.name()); m != nil {
			t.value(c, m, b, w.span())
		}
	}
}

// value merges one value that something is looked for in.
func (t *tally) value(c *catalog.Usage, m *catalog.UsageNode, b []byte, v span) {
	switch first := b[v.from]; {
	case first == 'n':
	case first == '{' && len(m.Members) > 0:
		t.object(c, m, b, v.from)
	case first == '[' && m.Feeds == catalog.IterationList:
		t.iterations(c, b, v)
	case first == '[' && len(m.Items) > 0:
		t.items(c, m, b, v)
	case m.Feeds == 0:
	case m.Feeds < catalog.UsageCounters:
		t.number(m.Feeds, v.of(b))
	default:
		t.aside(m.Feeds, b, v)
	}
}

// number merges a number of tokens.
func (t *tally) number(f catalog.UsageField, text []byte) {
	t.any = true
	n, ok := tokenCount(text)
	if !ok {
		t.invalid = true
		return
	}
	t.seen[f] = true
	t.told = t.told || f == catalog.OutputCount || f == catalog.TotalCount
	t.count[f] = max(t.count[f], n)
}

// aside takes what is no number of tokens: the last one counts.
func (t *tally) aside(f catalog.UsageField, b []byte, v span) {
	switch f {
	case catalog.ChargeUSD, catalog.ChargeTicks:
		shift := int32(0)
		if f == catalog.ChargeTicks {
			shift = -10
		}
		if charge := pricing.ParseCharge(string(v.of(b)), shift); charge.Known {
			t.charged = charge
		}
		return
	}
	text, ok := textOf(b, v)
	if !ok || !isUsageWord(text) || string(text) == "not_available" {
		return
	}
	switch f {
	case catalog.TierWord:
		keepWord(&t.tier, text)
	case catalog.SpeedWord:
		keepWord(&t.speed, text)
	case catalog.RegionWord:
		keepWord(&t.region, text)
	case catalog.CacheModeWord:
		t.marked = true
	}
}

// keepWord keeps text, and makes no copy of what is known.
func keepWord(word *string, text []byte) {
	if *word != string(text) {
		*word = string(text)
	}
}

// items merges the objects of a list that are meant.
func (t *tally) items(c *catalog.Usage, m *catalog.UsageNode, b []byte, v span) {
	s := scanner{b: b}
	for e := each(&s, v.from, 1, false); e.next(); {
		if b[e.from] != '{' {
			continue
		}
		for i := range m.Items {
			if item := &m.Items[i]; chosen(item, b, e.from) {
				t.object(c, &item.Node, b, e.from)
			}
		}
	}
}

// chosen says whether the object at from is one that the item describes.
func chosen(item *catalog.UsageItem, b []byte, from int) bool {
	for w := walk(b, from); w.next(); {
		if w.is(item.Key) && w.isText(item.Value) {
			return true
		}
	}
	return false
}

// iterations takes the steps of an answer: the last list counts.
func (t *tally) iterations(c *catalog.Usage, b []byte, v span) {
	if t.inner {
		return
	}
	t.steps = t.steps[:0]
	s := scanner{b: b}
	for e := each(&s, v.from, 1, false); e.next(); {
		if b[e.from] != '{' {
			continue
		}
		if len(t.steps) == maxIterations {
			t.any, t.invalid = true, true
			return
		}
		step := iteration{tally: tally{inner: true}}
		step.object(c, c.Root(), b, e.from)
		for w := walk(b, e.from); w.next(); {
			text, ok := textOf(b, w.span())
			switch {
			case !ok || !isUsageWord(text):
			case w.is("type"):
				step.kind = string(text)
			case w.is("model"):
				step.model = string(text)
			}
		}
		t.steps = append(t.steps, step)
	}
}

// tokenCount reads a whole number from 0 to maxTokens.
func tokenCount(text []byte) (n int64, ok bool) {
	if len(text) > 10 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, n <= maxTokens
}

// report is all that was said.
func (t *tally) report(c *catalog.Usage) Report {
	u, q := t.usage(c)
	r := Report{
		Usage: u, Quality: q,
		ReadUnknown: t.any && !c.NoReadIsZero && !t.seen[catalog.ReadCount] && u.CacheRead == 0,
		Implicit:    t.any && len(c.Paths(catalog.CacheModeWord)) > 0 && !t.marked,
		Tier:        t.tier, Speed: t.speed, Region: t.region, Charged: t.charged,
	}
	if len(t.raw) > 0 {
		r.Raw = t.raw
	}
	if len(t.steps) > 0 {
		t.sides(c, &r)
	}
	return r
}
