package catalog

import "bytes"

// What a text may hold before the YAML package is given it, which needs about a
// microsecond for each key or value whatever they are: a text that is meant to
// keep a reader busy is refused by counting. Five thousand routes with every
// price need little more than half of it.
const (
	maxWeight   = 600_000  // words and marks: keys, values, dashes, colons, commas and brackets
	maxEntries  = 20_000   // entries of one mapping or list, or lines of one text
	maxText     = 64 << 10 // bytes of one word or text
	maxComments = 1 << 20  // bytes of all comments together
	maxLines    = 250_000  // lines, empty ones too
	maxIndent   = 1 << 10  // spaces before a line
	maxNesting  = 100      // mappings and lists inside each other; maxDepth is told with more care
)

// measure counts what a text holds, roughly as YAML would read it.
//
// It may take for a mark what is part of a text, or the other way round: its
// limits are far from what any file needs, so that does not matter.
type measure struct {
	text   []byte
	blocks []openBlock // the open mappings and lists of the block style, outermost first
	flows  []int       // entries so far of each open bracket

	weight, lines, comments int
	start                   int  // of the line
	going                   bool // a plain text may go on in the next line
	parent                  int  // how far that must then be indented more than

	at    int    // where the fault is
	fault string // what there is too much of; empty if nothing is
}

// openBlock is an open mapping or list in the block style.
type openBlock struct{ indent, entries int }

// measured counts what the first document of a text holds. end is where the
// line begins that starts a second one, or the text's length; the rest is not
// looked at.
func measured(text []byte) (m measure, end int) {
	m = measure{text: text}
	i := 0
	if bytes.HasPrefix(text, byteOrder) {
		i = len(byteOrder)
	}
	begun := false // a document has begun
	for i < len(text) && m.fault == "" {
		if m.lines++; m.lines > maxLines {
			m.stop(i, "the file has more than 250,000 lines")
			break
		}
		if m.marker(i) {
			if begun {
				return m, i
			}
			begun, m.going, m.blocks = true, false, nil
			i += 3
		}
		begun = begun || m.begins(i)
		i = m.line(i)
	}
	return m, len(text)
}

// stop records the first fault.
func (m *measure) stop(at int, fault string) {
	if m.fault == "" {
		m.at, m.fault = at, fault
	}
}

// begins says whether a line is of a document: no comment, no directive and not
// empty.
func (m *measure) begins(i int) bool {
	for ; i < len(m.text); i++ {
		if c := m.text[i]; c != ' ' && c != '\t' {
			return c != '\n' && c != '\r' && c != '#' && c != '%'
		}
	}
	return false
}

// marker says whether a line begins a document.
func (m *measure) marker(i int) bool {
	if len(m.flows) > 0 || !bytes.HasPrefix(m.text[i:], []byte("---")) {
		return false
	}
	return i+3 == len(m.text) || isBlank(m.text[i+3])
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// line reads one line, or as many as a text goes on for, and returns where the
// next one begins.
func (m *measure) line(i int) (next int) {
	from := i
	m.start = from
	for i < len(m.text) && m.text[i] == ' ' {
		i++
	}
	indent := i - from
	if indent > maxIndent {
		m.stop(from, "a line begins with more than 1,024 spaces")
		return len(m.text)
	}
	if i == len(m.text) || m.text[i] == '\n' || m.text[i] == '\r' {
		return m.lineEnd(i)
	}
	going := m.going && (len(m.flows) > 0 || indent > m.parent)
	if m.text[i] != '#' && len(m.flows) == 0 && !going {
		i = m.entry(i, indent)
	}
	return m.words(i, !going)
}

// entry notes that an entry of a mapping or list begins with a line, and those
// that begin behind its dashes.
func (m *measure) entry(i, indent int) int {
	for len(m.blocks) > 0 && m.blocks[len(m.blocks)-1].indent > indent {
		m.blocks = m.blocks[:len(m.blocks)-1]
	}
	if n := len(m.blocks); n > 0 && m.blocks[n-1].indent == indent {
		m.blocks[n-1].entries++
		m.counted(i, m.blocks[n-1].entries)
	} else {
		m.nest(i, indent)
	}
	for i+1 < len(m.text) && (m.text[i] == '-' || m.text[i] == '?') && isBlank(m.text[i+1]) && m.fault == "" {
		m.weigh(i)
		i++
		indent++
		for i < len(m.text) && m.text[i] == ' ' {
			i++
			indent++
		}
		m.nest(i, indent)
	}
	return i
}

// nest opens a mapping or list in the block style.
func (m *measure) nest(i, indent int) {
	m.blocks = append(m.blocks, openBlock{indent, 1})
	m.deep(i)
}

func (m *measure) deep(i int) {
	if len(m.blocks)+len(m.flows) > maxNesting {
		m.stop(i, "mappings and lists are nested more than 100 levels deep")
	}
}

func (m *measure) counted(i, entries int) {
	if entries > maxEntries {
		m.stop(i, "a mapping or a list has more than 20,000 entries, or a text as many lines")
	}
}

func (m *measure) weigh(i int) {
	if m.weight++; m.weight > maxWeight {
		m.stop(i, "the file holds more than 600,000 keys, values and marks between them")
	}
}

// words reads what stands on a line from i on. start says whether a value may
// begin there.
func (m *measure) words(i int, start bool) (next int) {
	text := m.text
	blank, quoted := true, false // white space is before, or a text in quotes or brackets
	run := i                     // where the word began
	m.going = !start
	for i < len(text) && m.fault == "" {
		c := text[i]
		flow := len(m.flows) > 0
		switch {
		case c == '\n', c == '\r':
			return m.lineEnd(i)
		case c == ' ', c == '\t':
			i, blank = i+1, true
			if i-run > maxText {
				m.stop(run, "a line holds a text or a gap of more than 64 KiB")
			}
			continue
		case c == '#' && blank:
			return m.comment(i)
		case start && (c == '"' || c == '\''):
			m.weigh(i)
			i = m.quoted(i)
			m.going, start, quoted, blank, run = false, false, true, false, i
			continue
		case (start || flow) && (c == '[' || c == '{'):
			m.weigh(i)
			m.flows = append(m.flows, 1)
			m.deep(i)
			start = true
		case flow && (c == ']' || c == '}'):
			m.flows = m.flows[:len(m.flows)-1]
			start, quoted = false, true
		case flow && c == ',':
			m.weigh(i)
			m.flows[len(m.flows)-1]++
			m.counted(i, m.flows[len(m.flows)-1])
			start = true
		case c == ':' && (i+1 == len(text) || isBlank(text[i+1]) || flow && (quoted || bytes.IndexByte([]byte(",[]{}"), text[i+1]) >= 0)):
			m.weigh(i)
			start = true
		case start && !flow && (c == '|' || c == '>'):
			m.weigh(i)
			return m.literal(i)
		default:
			if start {
				m.weigh(i)
				start = c == '&' || c == '!' // behind those the value is still to come
				m.going, m.parent = !start, m.outer(i)
			}
			for i++; i < len(text) && plain[text[i]]; i++ {
			}
			if i-run > maxText {
				m.stop(run, "a word or a text is longer than 64 KiB")
			}
			blank, quoted = false, false
			continue
		}
		i++
		m.going = false
		blank, run = true, i // a comment needs no space behind a comma, as far as costs go
		if c == ']' || c == '}' {
			blank = false
		} else {
			quoted = false
		}
	}
	return i
}

// plain are the characters that end nothing, wherever they stand.
var plain = func() (all [256]bool) {
	for c := range all {
		all[c] = bytes.IndexByte([]byte(" \t\n\r#:,[]{}"), byte(c)) < 0
	}
	return all
}()

// lineEnd steps over a line break.
func (m *measure) lineEnd(i int) int {
	if i < len(m.text) && m.text[i] == '\r' {
		i++
	}
	if i < len(m.text) && m.text[i] == '\n' {
		i++
	}
	return i
}

// rest is where the line ends.
func (m *measure) rest(i int) int {
	if n := bytes.IndexAny(m.text[i:], "\n\r"); n >= 0 {
		return i + n
	}
	return len(m.text)
}

// comment steps over a comment.
func (m *measure) comment(i int) int {
	end := m.rest(i)
	m.going = false
	if m.comments += end - i; m.comments > maxComments {
		m.stop(i, "the file has more than 1 MiB of comments")
	}
	return m.lineEnd(end)
}

// quoted steps over a text in quotes.
func (m *measure) quoted(i int) int {
	quote, from := m.text[i], i
	for i++; i < len(m.text); i++ {
		if i-from > maxText {
			m.stop(from, "a text is longer than 64 KiB, or its closing quote is missing")
			break
		}
		switch c := m.text[i]; {
		case c == quote && quote == '\'' && i+1 < len(m.text) && m.text[i+1] == '\'':
			i++
		case c == quote:
			return i + 1
		case c == '\\' && quote == '"':
			i++
		case c == '\n':
			m.lines++
		}
	}
	return min(i, len(m.text))
}

// outer is how far the mapping or list is indented in which a text stands that
// begins at i; -1 if it stands in none.
func (m *measure) outer(i int) int {
	n := len(m.blocks)
	if n > 0 && m.blocks[n-1].indent == i-m.start { // it is an entry, not a value in one
		n--
	}
	if n == 0 {
		return -1
	}
	return m.blocks[n-1].indent
}

// literal steps over a text in the block style: what is indented more than the
// mapping or list it stands in.
func (m *measure) literal(i int) int {
	parent, from, lines := m.outer(i), i, 0
	m.going = false
	for i = m.lineEnd(m.rest(i)); i < len(m.text); i = m.lineEnd(m.rest(i)) {
		k := i
		for k < len(m.text) && m.text[k] == ' ' {
			k++
		}
		if k-i <= parent && k < len(m.text) && m.text[k] != '\n' && m.text[k] != '\r' {
			break
		}
		lines++
		if m.counted(i, lines); i-from > maxText {
			m.stop(from, "a text is longer than 64 KiB")
		}
		if m.fault != "" {
			break
		}
	}
	m.lines += lines
	return i
}
