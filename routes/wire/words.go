package wire

import "github.com/warmroute/warmroute/engine"

// maxWords is how many bytes of a message are decoded to tell threads apart. It
// holds the 4,096 characters that are looked at and the escapes of ordinary text.
// Where there are more of them, or other alphabets, fewer characters count, which
// tells threads apart as well.
const maxWords = 4096 + 4096/8

// words decodes the beginning of the opening's texts, and scans no further: the
// first messages of an agent are long, and every turn asks.
func (r *Request) words() engine.Opening {
	var o engine.Opening
	switch {
	case r.value(fieldSystem).found():
		o.System = beginning(r.Body, r.value(fieldSystem).from)
	case r.value(fieldInstructions).found():
		o.System = beginning(r.Body, r.value(fieldInstructions).from)
	default:
		o.System = contentBeginning(r.Body, r.opener.system)
	}
	if v := r.value(fieldInput); v.found() && r.Body[v.from] == '"' {
		o.First = beginning(r.Body, v.from)
	} else {
		o.First = contentBeginning(r.Body, r.opener.first)
	}
	return o
}

// contentBeginning is the beginning of the text of the message at v.
func contentBeginning(b []byte, v span) [][]byte {
	if !v.found() || b[v.from] != '{' {
		return nil
	}
	for w := walk(b, v.from); w.nextKey() && (w.is("content") || w.scanValue(false)); {
		if w.is("content") {
			return beginning(b, w.from)
		}
	}
	return nil
}

// beginning is the first maxWords bytes of the content at i: of a string, or of
// the texts of its blocks.
func beginning(b []byte, i int) [][]byte {
	left := maxWords
	switch b[i] {
	case '"':
		return [][]byte{textUpTo(b, i, &left)}
	case '[':
	default:
		return nil
	}
	var texts [][]byte
	s := scanner{b: b}
	for e := each(&s, i, 1, false); len(texts) < maxParts && left > 0 && e.nextStart(); {
		switch b[e.from] {
		case '"':
			texts = append(texts, textUpTo(b, e.from, &left))
		case '{':
			w := walk(b, e.from)
			for w.nextKey() {
				if w.is("text") && b[w.from] == '"' {
					if texts = append(texts, textUpTo(b, w.from, &left)); left == 0 {
						return texts
					}
				}
				if !w.scanValue(false) {
					return texts
				}
			}
			e.ends(w.end)
			continue
		}
		if left > 0 {
			e.ends(s.value(e.from, 1, false))
		}
	}
	return texts
}

// textUpTo decodes the string that begins at i, of its inner bytes no more than
// left, which it takes them from. No escape is cut in two.
func textUpTo(b []byte, i int, left *int) []byte {
	from := i + 1
	limit := min(from+*left, len(b))
	at, quote, slash := from, -1, -1
	for at < limit {
		quote, slash = nextByte(b[:limit], at, quote, '"'), nextByte(b[:limit], at, slash, '\\')
		if quote <= slash {
			at = quote // the end of the string, or of what is left
			break
		}
		size := 2
		if slash+1 < len(b) && b[slash+1] == 'u' {
			size = 6
		}
		if slash+size > limit {
			limit = slash
			at = slash
			break
		}
		at = slash + size
	}
	at = min(at, limit)
	if *left -= at - from; at >= len(b) || b[at] != '"' {
		*left = 0
	}
	return unescaped(b[from:at])
}
