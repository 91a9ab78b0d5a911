package wire

import "github.com/warmroute/warmroute/engine"

// appendRaw appends a usage object as it is kept: as it came, with "?" in the place
// of every text that is no word, since a vendor may repeat there what it was asked. An
// object with such a member name is not kept, nor one above [engine.MaxRawUsage].
func appendRaw(dst, object []byte) []byte {
	if len(object) > engine.MaxRawUsage {
		return dst
	}
	start := len(dst)
	for i := 0; i < len(object); {
		c := object[i]
		dst = append(dst, c)
		if i++; c != '"' {
			continue
		}
		end, _ := scanString(object, i)
		if end < 0 {
			return dst[:start]
		}
		text := object[i:end]
		after := space(object, end+1)
		named := after < len(object) && object[after] == ':'
		switch word := len(text) == 0 || isUsageWord(text); {
		case word:
			dst = append(dst, text...)
		case named:
			return dst[:start]
		default:
			dst = append(dst, '?')
		}
		dst = append(dst, '"')
		i = end + 1
	}
	return dst
}

// isUsageWord says whether text may be a word of a usage object: the name of a
// tier, a model, a kind of token. Nothing with a space is one.
func isUsageWord(text []byte) bool {
	if len(text) == 0 || len(text) > maxUsageWord {
		return false
	}
	for _, c := range text {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '-', c == '.', c == ':', c == '/', c == '@', c == '+':
		default:
			return false
		}
	}
	return true
}
