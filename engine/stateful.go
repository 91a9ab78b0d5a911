package engine

import (
	"slices"
	"strings"
	"time"
)

// Kind says what sort of content only its maker can read, and is the word for it.
type Kind string

// The kinds.
const (
	KindResponse     Kind = "previous_response_id" // a response that a vendor has stored
	KindConversation Kind = "conversation"         // a conversation that a vendor keeps
	KindReasoning    Kind = "encrypted_reasoning"  // reasoning that is sealed for the account that made it
	KindSigned       Kind = "signed_thinking"      // thinking with a signature, or redacted
	KindFile         Kind = "file_id"              // a file that was given to a vendor
	KindContainer    Kind = "container"            // a vendor's container with what was computed in it
)

// Stateful is a piece of content that an account of a vendor made or keeps, and that
// no other account can read.
type Stateful struct {
	Kind Kind
	ID   string // as the vendor gave it; of sealed content the SHA-256 in hex
}

// MaxStateful is how many pieces of a request are looked up.
const MaxStateful = 8

// Key is where it is kept who made the content. Tenants do not see each other's.
func (c Stateful) Key(tenant string) PinKey {
	if c.Kind == KindResponse {
		return OriginKey(tenant, c.ID)
	}
	return PinKey{Tenant: tenant, Class: classOrigin, ID: bounded(string(c.Kind) + ":" + c.ID)}
}

// binds says whether content of the kind can be read at its maker's alone. Signed
// thinking is a wish: some vendors take each other's signatures.
func (k Kind) binds() bool { return k != KindSigned }

// named says whether content of the kind is an id that means something at one vendor
// only, so that it must be known which. What is sealed says for itself, to whoever
// gets it, that it is not theirs.
func (k Kind) named() bool { return k != KindSigned && k != KindReasoning }

// held says whether content of the kind came about through turns, so that at an
// account that tenants share it is one tenant's.
func (k Kind) held() bool { return k == KindResponse || k == KindConversation || k == KindContainer }

// sealed says whether content of the kind is text that only its maker can open.
func (k Kind) sealed() bool { return k == KindSigned || k == KindReasoning }

// Bound is stateful content of a request and what is remembered of its maker.
type Bound struct {
	Stateful
	Maker Entry
	Known bool
}

// renewal is how old the memory of a maker must be to be renewed when the maker has
// read the content once more.
const renewal = time.Hour

// keep is what is remembered of the content when the candidate of f has accepted it:
// it is the maker of what nobody was known to have made, and what it made itself is
// remembered for another day.
func (b *Bound) keep(f SettleFacts) (e Entry, ok bool) {
	e = originOf(f)
	if !b.Known {
		return e, true
	}
	old := b.Maker
	return e, old.SameCandidate(e) && f.AcceptedAt.Sub(old.AcceptedAt) >= renewal
}

// originOf is the candidate of f as the maker of something. It can be read for
// [Readable], and promises nothing of a cache.
func originOf(f SettleFacts) Entry {
	return Entry{
		Vendor:     f.Candidate.Route.Vendor.Name,
		Credential: f.Candidate.Credential,
		Group:      f.Candidate.Group,
		Thread:     f.Thread,
		Turn:       f.Turn,
		AcceptedAt: f.AcceptedAt,
		ExpiresAt:  f.AcceptedAt,
		TextBytes:  f.TextBytes,
	}
}

// continues says whether the body holds only what is new: the rest is with a vendor.
func (r *Request) continues() bool {
	return r.PreviousResponse != "" || slices.ContainsFunc(r.Stateful, func(c Stateful) bool { return c.Kind == KindConversation })
}

// bindings are the accounts whose content the request holds: a route must reach all
// of them. A response of which nobody remembers who made it is the session's last
// vendor's for this model, or else for any.
func (f *PlanFacts) bindings(to []Entry, model string) []Entry {
	switch {
	case f.Request.PreviousResponse == "":
	case f.Made:
		to = append(to, f.Maker)
	default:
		if warm := f.Record.For(model); len(warm) > 0 {
			to = append(to, warm[0])
		} else if _, e, ok := f.Record.Newest(); ok {
			to = append(to, e)
		}
	}
	for i := range f.Bound {
		if b := &f.Bound[i]; b.Known && b.Kind.binds() {
			to = append(to, b.Maker)
		}
	}
	return to
}

// open says whether the account may be asked: whether it is that of all content that
// is bound to one.
func (f *PlanFacts) open(vendor, credential string, group Group) bool {
	for i := range f.bound {
		e := &f.bound[i]
		if e.Vendor != vendor || e.Group != group || e.Credential != "" && e.Credential != credential {
			return false
		}
	}
	return true
}

// signer is the account that signed the request's last thinking; ok is false if it
// signed none or nobody knows.
func (f *PlanFacts) signer() (e Entry, ok bool) {
	for i := range f.Bound {
		if b := &f.Bound[i]; b.Known && b.Kind == KindSigned {
			return b.Maker, true
		}
	}
	return Entry{}, false
}

// foreignWords are how vendors name content that another account has sealed, in small
// letters. Sources: Anthropic's and OpenAI's errors as clients quote them.
var foreignWords = []string{
	"invalid `signature`", "invalid signature", "thinking.signature", "signature in thinking",
	"encrypted content", "encrypted_content", "could not be verified", "could not be decrypted",
}

// foreign says whether a vendor has refused the request because of content that was
// sealed by another: it holds some, no one remembers that this vendor made it, and
// the vendor's words name it.
func foreign(bound []Bound, a *Attempt) bool {
	if a.Failure != FailureRequest || a.Reply == nil {
		return false
	}
	suspect := slices.ContainsFunc(bound, func(b Bound) bool {
		return b.Kind.sealed() && !(b.Known && b.Maker.Vendor == a.Candidate.Route.Vendor.Name)
	})
	if !suspect {
		return false
	}
	words := strings.ToLower(string(a.Reply.Body))
	return slices.ContainsFunc(foreignWords, func(w string) bool { return strings.Contains(words, w) })
}

// sealer is another vendor than the one that refused it, that is known to have sealed content of the request, which can
// open it though another could not: it was passed over because it was down, or because
// the caller's own keys go first. Empty: nobody knows of one.
func sealer(bound []Bound, refused string) string {
	for i := range bound {
		if b := &bound[i]; b.Known && b.Kind.sealed() && b.Maker.Vendor != refused {
			return b.Maker.Vendor
		}
	}
	return ""
}
