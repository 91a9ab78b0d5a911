package catalog

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Excerpt is the line of a file in which a problem is, without what may be a key.
//
// The zero Excerpt shows nothing.
type Excerpt struct {
	Text   string // one line; characters that do not print are spaces
	Column int    // of the problem in Text, in characters, from 1
}

// widest is the longest excerpt, in characters. Of a longer line the part around
// the problem is shown.
const widest = 120

// excerpts gives problems their lines.
func excerpts(problems Problems, text []byte) {
	if len(problems) == 0 || len(text) > MaxSize {
		return
	}
	byLine := make([]*Problem, len(problems))
	for i := range problems {
		byLine[i] = &problems[i]
	}
	slices.SortStableFunc(byLine, func(a, b *Problem) int { return a.Line - b.Line })
	number := 0
	eachLine(bytes.TrimPrefix(text, byteOrder), func(line []byte) bool {
		number++
		for len(byLine) > 0 && byLine[0].Line <= number {
			if p := byLine[0]; p.Line == number && p.Excerpt == (Excerpt{}) && p.Code != CodeTooMany {
				p.Excerpt = excerpt(line, p)
			}
			byLine = byLine[1:]
		}
		return len(byLine) > 0
	})
}

// excerpt shows one line.
func excerpt(line []byte, p *Problem) Excerpt {
	if len(line) > 16<<10 {
		return Excerpt{}
	}
	shown := []rune(strings.Map(func(c rune) rune {
		if c == utf8.RuneError || !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, strings.TrimRight(string(line), "\r\n\u0085\u2028\u2029")))
	at := min(max(p.Column-1, 0), len(shown))
	text, at := conceal(shown, at, p)
	from, to := 0, len(text)
	if to > widest {
		from = max(0, min(at-widest/2, to-widest))
		to = from + widest
	}
	cut := string(text[from:to])
	if from > 0 {
		cut = "…" + cut
		at++
	}
	if to < len(text) {
		cut += "…"
	}
	return Excerpt{Text: strings.TrimRight(cut, " "), Column: at - from + 1}
}

// conceal puts [concealed] in the place of everything on a line that may be a
// key, and moves the place of the problem along.
//
// It judges words as messages do, more strictly inside a vendor or a tenant. What
// stands where only a key can be meant is not shown whatever it looks like, nor
// is anything behind the place of a key that was reported.
func conceal(line []rune, at int, p *Problem) (shown []rune, column int) {
	wary := !strings.HasPrefix(p.Where, "model ") && !strings.HasPrefix(p.Where, "policy ")
	column = at
	moved := false
	put := func(from, to int) {
		if at >= from && !moved {
			column, moved = len(shown)+min(at-from, max(to-from-1, 0)), at < to
		}
	}
	var hide []bool // the values of a sensitive key that opens a list or a mapping, by depth
	secretNext := ""
	for i := 0; i < len(line); {
		c := line[i]
		if isBreak(line, i) {
			switch {
			case c == '[' || c == '{':
				hide = append(hide, secretNext == "credentials" || secretNext == "keys" || secretNext == "auth")
				secretNext = ""
			case (c == ']' || c == '}') && len(hide) > 0:
				hide, secretNext = hide[:len(hide)-1], ""
			case c == ',':
				secretNext = ""
			}
			put(i, i+1)
			shown = append(shown, c)
			i++
			continue
		}
		end, word := wordAt(line, i)
		isKey := end < len(line) && line[end] == ':' && (end+1 == len(line) || line[end+1] == ' ')
		put(i, end)
		switch {
		case p.Code == CodeSecret && i >= at && !(isKey && i == at && isToken(word) && !mayBeKey(word)):
			return append(shown, []rune(concealed)...), column
		case isKey:
			if looksLikeKey(word) || wary && mayBeKey(word) {
				shown = append(shown, []rune(concealed)...)
			} else {
				shown = append(shown, line[i:end]...)
			}
			if secretNext = ""; isSensitive(word) {
				secretNext = strings.ToLower(word)
			}
		case maySpell(word, secretNext, len(hide) > 0 && hide[len(hide)-1]) || looksLikeKey(word) || wary && mayBeKey(word) || isBearer(shown):
			shown = append(shown, []rune(concealed)...)
		default:
			shown = append(shown, line[i:end]...)
		}
		i = end
	}
	put(len(line), len(line)+1)
	return shown, column
}

// isBreak says whether the character at i stands between the words of a line.
func isBreak(line []rune, i int) bool {
	switch line[i] {
	case ' ', ',', '[', ']', '{', '}':
		return true
	case '"', '\'': // inside a word it is part of it
		return i == 0 || i+1 == len(line) || strings.ContainsRune(" ,[{\"'", line[i-1]) || strings.ContainsRune(" ,]}:\"'", line[i+1])
	case ':':
		return i+1 == len(line) || line[i+1] == ' '
	}
	return false
}

// wordAt is the word that begins at i.
func wordAt(line []rune, i int) (end int, word string) {
	for end = i; end < len(line) && !isBreak(line, end); end++ {
	}
	return end, string(line[i:end])
}

// isSensitive says whether the value of a key may be a secret whatever it looks like.
func isSensitive(key string) bool {
	switch low := strings.ToLower(key); low {
	case "base_url", "env", "file", "credentials", "keys", "auth", "sha256":
		return true
	default:
		return isLiteralKey(low) || carriesKey(low, Auth{})
	}
}

// maySpell says whether a word is not to be shown as the value of a sensitive
// key, or as a bare entry of a list of credentials.
func maySpell(word, key string, bare bool) bool {
	if word == "-" || strings.HasPrefix(word, "#") {
		return false
	}
	switch key {
	case "":
		return bare
	case "env":
		return !isEnvName(word) || word != strings.ToUpper(word)
	case "file":
		return showFile(word) == showFile("") || mayBeKey(word)
	case "base_url":
		u, err := url.Parse(word)
		return err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Contains(word, "@")
	}
	return true
}

// isBearer says whether what was shown last announces a key.
func isBearer(shown []rune) bool {
	low := strings.ToLower(strings.TrimRight(string(shown[max(0, len(shown)-12):]), " "))
	return strings.HasSuffix(low, "bearer") || strings.HasSuffix(low, "basic")
}
