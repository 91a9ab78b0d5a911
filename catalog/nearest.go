package catalog

// Nearest is the known word with the fewest letters added, dropped, changed or
// swapped from word, the first in the list among equals; ok is false where even that
// one is another word. Case does not count.
func Nearest(word string, known []string) (near string, ok bool) { return nearest(word, known) }
