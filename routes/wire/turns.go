package wire

// turns are the places of a conversation at which a cache marker may stand, and how
// much of it is history. It is filled while the body is scanned.
type turns struct {
	last   span // last message of the user's latest turn
	before span // last message of the user's turn before, behind which the assistant spoke
	spoken span // last before the assistant spoke last

	answered bool  // the assistant has spoken since last
	history  int   // user turns that follow an assistant's
	text     int64 // bytes of text up to the message that was seen last
	stable   int64 // of tools and system text
}

// see notes a message. text is the bytes of text up to its end. Results of tools that
// stand in messages of their own, as in the API chat, are the user's side of the talk.
func (t *turns) see(role []byte, at span, text int64) {
	size := text - t.text
	t.text = text
	switch string(role) {
	case "system", "developer":
		t.stable += size
	case "assistant":
		t.spoken, t.answered = t.last, true
	case "user", "tool":
		if t.answered && t.spoken.found() {
			t.history++
			t.before = t.spoken
		}
		t.answered = false
		t.last = at
	}
}
