package vendorsim

// maxResponses bounds how many answers of the API responses are kept to be
// continued; beyond it the oldest go first.
const maxResponses = 10_000

// responseKey names an answer: an account sees its own only.
type responseKey struct{ account, id string }

// conversation is what an answer can be continued from: the items that led to it,
// and itself. Tools and instructions are every request's own.
type conversation struct {
	items []segment
	turn  int
}

// conversations are the answers kept. They are guarded by their vendor.
type conversations struct {
	kept  map[responseKey]conversation
	order []responseKey // oldest first
}

// resume puts the conversation that a prompt continues before what it adds. An
// answer that the account was not given, or that was not to be stored, is not found.
func (v *Vendor) resume(account string, p *prompt) error {
	if p.previous == "" {
		return nil
	}
	v.mu.Lock()
	earlier, found := v.conversations.kept[responseKey{account, p.previous}]
	v.mu.Unlock()
	if !found {
		return &refused{status: 400, kind: "invalid_request_error", param: "previous_response_id",
			code:    "previous_response_not_found",
			message: "Previous response with id '" + p.previous + "' not found."}
	}
	segments := make([]segment, 0, len(p.segments)+len(earlier.items))
	segments = append(segments, p.segments[:p.items]...)
	segments = append(segments, earlier.items...)
	p.segments = append(segments, p.segments[p.items:]...)
	p.turn += earlier.turn
	return nil
}

// keep stores an answer so that it can be continued, unless it was not to be.
func (v *Vendor) keep(account string, a *answer) {
	if !a.keeps() {
		return
	}
	items := make([]segment, 0, len(a.p.segments)-a.p.items+1)
	items = append(items, a.p.segments[a.p.items:]...)
	items = append(items, segment{shape: "message assistant first", text: []byte(a.text)})
	key := responseKey{account, a.responseID()}
	v.mu.Lock()
	defer v.mu.Unlock()
	c := &v.conversations
	if c.kept == nil {
		c.kept = map[responseKey]conversation{}
	}
	c.kept[key], c.order = conversation{items, a.p.turn}, append(c.order, key)
	for len(c.order) > maxResponses {
		delete(c.kept, c.order[0])
		c.order = c.order[1:]
	}
}
