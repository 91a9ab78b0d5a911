package catalog

import "strings"

// Nearest is the known word with the fewest letters added, dropped, changed or
// swapped from word, the first in the list among equals; ok is false where even that
// one is another word. Case does not count.
func Nearest(word string, known []string) (near string, ok bool) {
	if len(word) > 64 {
		return "", false
	}
	best := min(2+(len(word)+1)/4, 4) // edits at which it is another word
	for _, k := range known {
		if d := edits(strings.ToLower(word), strings.ToLower(k), best); d < best {
			near, best, ok = k, d, true
		}
	}
	return near, ok
}

// edits counts the letters to add, drop, change or swap that turn a into b;
// it may stop counting at most.
func edits(a, b string, most int) int {
	if len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
