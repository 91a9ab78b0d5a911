package engine

import "context"

// A conversation whose client names no session is known by the assistant turns that
// this gateway served in it (public page "Session affinity" of Subconscious, "Sessions
// without a session signal"): each served turn is kept under hashes of what was said,
// and the next request, which repeats that turn, finds the chain it belongs to.
//
// Where the page is silent:
//
//   - White space around a turn's text counts for nothing: clients cut it off before
//     they send the turn back, and some vendors refuse a turn that ends with it.
//   - A turn that continues a stored response of the API responses repeats nothing;
//     the response's id is a third key then.
//   - Turns are looked up and kept with affinity off too: the chain is the
//     conversation's name, by which the books know it and by which it is drawn for a
//     hold-out. Only its pins are left alone.
//   - A key is forgotten a day after its turn was last served ([Readable]), and one
//     that is ambiguous a day after it was last claimed.
//   - Requests without any conversation, such as embeddings, have no chain.

// classTurn is the class of the records that say which chain a served turn belongs
// to. They lie beside the pins and are none.
const classTurn Class = "turn"

// turnModel is the model under which a turn's chain is kept: it is one of all models.
const turnModel = "chain"

// ambiguous stands in a turn's record instead of a chain, once two have claimed it.
const ambiguous = "*"

// TurnKey is where it is kept which chain a served turn belongs to, by one of its
// hashes. Callers with other keys of the gateway, and other tenants, do not meet.
func TurnKey(tenant, key, kind, hash string) PinKey {
	return PinKey{Tenant: tenant, Class: classTurn, ID: hashOf(key, kind, hash)}
}

// turnKeys are the keys of one turn: by its text, by its tool calls and by the id of
// its stored response, as far as it has them.
func turnKeys(r *Request, said Said, response string) []PinKey {
	keys := make([]PinKey, 0, 3)
	for _, by := range [...]struct{ kind, hash string }{{"text", said.Text}, {"tools", said.Tools}, {"response", response}} {
		if by.hash != "" {
			keys = append(keys, TurnKey(r.Tenant, r.Key, by.kind, by.hash))
		}
	}
	return keys
}

// ChainOf is the chain that a turn's record names. ok is false where it names none
// or two, and from then on.
func ChainOf(record Record) (chain string, ok bool) {
	for _, e := range record.For(turnModel) {
		if e.Vendor == ambiguous || chain != "" && e.Vendor != chain {
			return "", false
		}
		chain = e.Vendor
	}
	return chain, chain != ""
}

// unnamed says whether the session is one that only the turns before it can name.
func (s Session) unnamed() bool { return s.Class == ClassChain && s.ID == "" }

// rejoin is the chain that the request continues: the one that all keys of its last
// assistant turn name which name any. Else it is fresh, also where the store fails or
// is late: that costs one conversation in two, where a guess would join two in one.
func (g *Gateway) rejoin(ctx context.Context, r *Request, fresh string) string {
	if g.Pins == nil {
		return fresh
	}
	var said Said
	if r.Last != nil {
		said = r.Last()
	}
	found := ""
	for _, key := range turnKeys(r, said, r.PreviousResponse) {
		record, err := g.Pins.Recall(ctx, key)
		if err != nil {
			return fresh
		}
		chain, ok := ChainOf(record)
		switch {
		case !ok:
		case found == "":
			found = chain
		case found != chain:
			return fresh
		}
	}
	if found == "" {
		return fresh
	}
	return found
}

// heard keeps to which chain a turn belongs that was served to its end, once. It has a
// deadline of its own, and what it cannot keep costs one conversation in two.
func (g *Gateway) heard(ctx context.Context, s *turnState, r *Request, said Said, response string) {
	if g.Pins == nil || s.heard || s.turn.Session.Class != ClassChain {
		return
	}
	s.heard = true
	if r.Unstored {
		response = "" // nothing can continue it
	}
	brief := within(context.WithoutCancel(ctx), g.deadline())
	defer brief.stop()
	now := g.now()
	for _, key := range turnKeys(r, said, response) {
		e := Entry{Vendor: s.turn.Session.ID, Turn: s.id, AcceptedAt: now, ExpiresAt: now}
		record, err := g.Pins.Recall(brief, key)
		if err != nil {
			continue // not known to be another's, nor to be nobody's
		}
		if chain, ok := ChainOf(record); len(record.Models) > 0 && (!ok || chain != e.Vendor) {
			e.Vendor = ambiguous
		}
		_ = g.Pins.Keep(brief, key, turnModel, e)
	}
}
