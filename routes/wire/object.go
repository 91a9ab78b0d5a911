package wire

// Member is one member of a JSON object: its decoded name, and its value as it
// stands in the text, which it shares.
type Member struct {
	Name  string
	Value []byte
}

// Object reads a text that is one strict JSON object: UTF-8, nested at most 128
// deep, nothing after it, no name twice. The error is a *RefusedError.
func Object(text []byte) ([]Member, error) {
	start := space(text, 0)
	switch {
	case start == len(text):
		return nil, refused("the body is empty; send a JSON object")
	case text[start] != '{':
		return nil, refused("the body is not a JSON object")
	}
	var all []Member
	w := walk(text, start)
	for w.next() {
		name := string(w.name())
		for i := range all {
			if all[i].Name == name {
				return nil, refused("%q stands in the body twice; send it once", echoed(name))
			}
		}
		if len(all) == maxMembers {
			return nil, refused("the body has more than %d members", maxMembers)
		}
		all = append(all, Member{name, text[w.from:w.to:w.to]})
	}
	if w.end == 0 {
		return nil, refused("the body is not valid JSON: %s (at byte %d)", w.fault, w.bad)
	}
	if end := space(text, w.end); end != len(text) {
		return nil, refused("the body is not valid JSON: something follows the object (at byte %d)", end)
	}
	return all, nil
}

// maxEchoed is the most that is repeated of a member's name, in bytes.
const maxEchoed = 64

// echoed is a name as an error repeats it.
func echoed(name string) string {
	if len(name) > maxEchoed {
		return name[:maxEchoed]
	}
	return name
}
