package pricelist

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/warmroute/warmroute/pricing"
)

// The lists that [Read] understands, by their own names.
const (
	LiteLLM     = "litellm"
	ModelsDev   = "models.dev"
	OpenRouter  = "openrouter"
	Portkey     = "portkey"
	GenaiPrices = "genai-prices"
)

// Sources are the names that [Read] understands.
func Sources() []string { return []string{LiteLLM, ModelsDev, OpenRouter, Portkey, GenaiPrices} }

// List is one price list in the neutral form.
//
// The zero List is empty. [Check] adds flags to its rows; otherwise a list does
// not change once read, and several goroutines may read it.
type List struct {
	Source  string // the name given to [Read], without a provider
	Rows    []Row  // chat models only, in the order of the file
	Skipped []Skip // every other entry of the file, in its order
}

// Row is one entry of a list: what one vendor charges for one model under one id.
//
// What the list does not state is unknown, the zero value. The same (Model,
// Vendor) pair may have several rows, such as one for each region; see [List.Routes].
type Row struct {
	Key           string // where the entry stands in the file, such as "openai/gpt-5.5" or "azure-ai#o3"
	Provider      string // the list's own word for who serves it, such as "bedrock_converse"
	Vendor        string // our word for it, such as "bedrock"; see [VendorName]
	UpstreamModel string // the id to send to the vendor
	Model         string // the public name proposed, such as "anthropic/claude-haiku-4.5"; see [ModelName]
	Region        string // the region that the id is bound to, such as "eu"; empty: none
	Variant       string // what else sets the id apart, such as "fp8", "turbo" or "2025-08-07", joined by commas; empty: nothing

	Context   int64         // tokens of prompt and answer, or of the prompt where that is what the list states; 0: not stated
	MinPrefix int64         // the shortest prefix the vendor caches, in tokens; 0: not stated
	Price     pricing.Price // USD per million tokens; never nil in a row that [Read] returns
	AsOf      string        // the day the list says it checked the price, as 2006-01-02; empty: it does not say
	Flags     []Flag        // what is wrong or doubtful, in the order found, up to 100 in one entry
}

// Flag is one doubt about a row.
type Flag struct {
	Code    Code
	Field   string // what it is about, such as "cache_read" or "tiers[0].input"; for unread members, their name in the file
	Message string // a sentence that says what was found and what became of it
}

// Skip is an entry of the file that is not a row.
type Skip struct {
	Key    string // where it stands in the file
	Reason Reason
	Detail string // more of it, such as the mode; may be empty
}

// Reason says why an entry is not a row.
type Reason string

// The reasons of a [Skip].
const (
	NotChat    Reason = "not_chat"  // embeddings, images, audio, video, reranking, legacy completions, a mode not stated
	Free       Reason = "free"      // all its prices are zero, or it is named a free variant: nobody bills by it
	NoPrice    Reason = "no_price"  // neither input nor output price can be read
	Negative   Reason = "negative"  // a router's placeholder: the price depends on where it sends
	Template   Reason = "template"  // not a model: a sample, a default, rules
	Commitment Reason = "committed" // a price per hour or for a commitment, not per token
	Malformed  Reason = "malformed" // not the shape of an entry, or a name that cannot be used
	Repeated   Reason = "repeated"  // the same key stands again further down, and that one counts
)

// Read reads a price list of a source, which is one of [Sources]. The text may
// be gzip.
//
// A single provider's file of Portkey does not name its provider, so it is read
// as "portkey:NAME" with the file's name without ".json".
//
// An error means that nothing was read: the source is unknown, the text is not
// JSON, not the shape of that list, deeper than 32 levels, more than 2 million
// values or larger than 64 MiB unpacked. Whatever is wrong with a single entry is
// a flag or a skip. Read never passes a price through a float.
func Read(source string, from io.Reader) (*List, error) {
	name, provider, named := strings.Cut(source, ":")
	read, ok := readers[name]
	if !ok {
		return nil, fmt.Errorf("price list %q is not known; name one of %s", source, strings.Join(Sources(), ", "))
	}
	if named && (name != Portkey || provider == "") {
		return nil, fmt.Errorf("price list %q: only portkey takes a provider after the colon, such as portkey:anthropic", source)
	}
	text, err := unpack(from)
	if err != nil {
		return nil, fmt.Errorf("price list %s: %w", name, err)
	}
	root, err := parse(text, maxValues)
	if err != nil {
		return nil, fmt.Errorf("price list %s: %w", name, err)
	}
	l := &List{Source: name}
	if err := read(l, root, provider); err != nil {
		return nil, fmt.Errorf("price list %s: %w", name, err)
	}
	return l, nil
}

var readers = map[string]func(l *List, root *value, provider string) error{
	LiteLLM:     readLiteLLM,
	ModelsDev:   readModelsDev,
	OpenRouter:  readOpenRouter,
	Portkey:     readPortkey,
	GenaiPrices: readGenai,
}

func (l *List) skip(key string, reason Reason, detail string) {
	l.Skipped = append(l.Skipped, Skip{Key: key, Reason: reason, Detail: detail})
}

// Routes is one row for each (Model, Vendor) pair, in the order in which the
// pairs first stand in the list.
//
// Of several rows it is the plainest: bound to no region before "global" before
// "us" before others; then with the fewest variants; then of the
// vendor's first platform rather than a second one of the same account, such as
// azure_ai or bedrock_mantle; then the first.
func (l *List) Routes() []*Row {
	type pair struct{ model, vendor string }
	at := make(map[pair]int, len(l.Rows))
	var routes []*Row
	for i := range l.Rows {
		row := &l.Rows[i]
		key := pair{row.Model, row.Vendor}
		j, ok := at[key]
		switch {
		case !ok:
			at[key] = len(routes)
			routes = append(routes, row)
		case row.plainer(routes[j]):
			routes[j] = row
		}
	}
	return routes
}

// plainer says whether r stands for the pair rather than other.
func (r *Row) plainer(other *Row) bool {
	if a, b := regionRank(r.Region), regionRank(other.Region); a != b {
		return a < b
	}
	if a, b := variants(r.Variant), variants(other.Variant); a != b {
		return a < b
	}
	return platformRank(r.Provider) < platformRank(other.Provider)
}

func regionRank(region string) int {
	if i := slices.Index([]string{"", "global", "us"}, region); i >= 0 {
		return i
	}
	return 3
}

func variants(text string) int {
	if text == "" {
		return 0
	}
	return 1 + strings.Count(text, ",")
}

// Has says whether the row has a flag of this code.
func (r *Row) Has(code Code) bool {
	return slices.ContainsFunc(r.Flags, func(f Flag) bool { return f.Code == code })
}

// maxFlags bounds the flags that reading puts on a row; no real one has more than 20.
const maxFlags = 100

func (r *Row) flag(code Code, field, format string, args ...any) {
	if len(r.Flags) < maxFlags {
		r.mark(code, field, format, args...)
	}
}

func (r *Row) mark(code Code, field, format string, args ...any) {
	r.Flags = append(r.Flags, Flag{Code: code, Field: short(field, 200), Message: short(fmt.Sprintf(format, args...), 1000)})
}

// short is a text's first bytes, cut between characters.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// notPriced flags a price that was not read, once for each kind of unit: the last
// word of its name.
func (r *Row) notPriced(name string, v *value) {
	unit := name[strings.LastIndexByte(name, '.')+1:]
	if slices.ContainsFunc(r.Flags, func(f Flag) bool {
		return f.Code == NotPriced && f.Field[strings.LastIndexByte(f.Field, '.')+1:] == unit
	}) {
		return
	}
	r.flag(NotPriced, name, "%s %s: a route has no place for such a price; not read", unit, quote(v.text))
}
