package catalog

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed starter.yaml
var starter string

// Starter is the text of the catalog that comes with the program: models that
// several vendors serve, each price with the day it was read and where it is to be
// checked. It parses without an error. Its first line names the schema.
func Starter() string { return starter }

// StarterPart is the part of [Starter] for these vendors and models, comments
// included; all of it where both are empty.
//
// What stands above a model speaks of all its vendors, so it goes where only some are
// wanted.
//
// A model is a pattern as of [path.Match] for a name, or the part of one after its
// last slash, or an alias: claude-* and anthropic/* name the same. A model is left
// out with its last route, and a vendor where no route is left for it, so the part
// is a whole catalog. The error names a vendor or a pattern that matches nothing,
// or says that they have nothing in common.
func StarterPart(vendors, models []string) (string, error) {
	if len(vendors) == 0 && len(models) == 0 {
		return starter, nil
	}
	head, vendorText, modelText := sections(starter)
	served := blocks(vendorText, "  ")
	known := make([]string, len(served))
	for i := range served {
		known[i] = served[i].name
	}
	for _, name := range vendors {
		if !slices.Contains(known, name) {
			return "", fmt.Errorf("the starter catalog has no vendor %q%s; it has %s", name, meant(name, known), strings.Join(known, ", "))
		}
	}
	matched := make([]bool, len(models))
	used := map[string]bool{}
	var kept strings.Builder
	for _, model := range blocks(modelText, "  ") {
		wanted, err := model.wanted(models, matched)
		if err != nil {
			return "", err
		}
		if !wanted {
			continue
		}
		top, routes := model.routes()
		var own strings.Builder
		for _, route := range routes {
			if len(vendors) == 0 || slices.Contains(vendors, route.name) {
				used[route.name] = true
				own.WriteString(route.text)
			}
		}
		if own.Len() > 0 {
			if len(vendors) > 0 {
				top = uncommented(top)
			}
			kept.WriteString(top)
			kept.WriteString(own.String())
		}
	}
	for i, pattern := range models {
		if !matched[i] {
			return "", fmt.Errorf("no model of the starter catalog matches %q; write a name, an alias, or a pattern such as claude-* or openai/*", pattern)
		}
	}
	if kept.Len() == 0 {
		return "", fmt.Errorf("none of the models %s is at %s in the starter catalog", strings.Join(models, ", "), strings.Join(vendors, ", "))
	}
	var text strings.Builder
	text.WriteString(head)
	for _, vendor := range served {
		if used[vendor.name] {
			text.WriteString(vendor.text)
		}
	}
	text.WriteString("\nmodels:\n")
	text.WriteString(kept.String())
	return text.String(), nil
}

// meant is a guess at what a name was to be.
func meant(name string, known []string) string {
	if near, ok := Nearest(name, known); ok {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// sections cuts the starter catalog: up to and with the line vendors:, the vendors,
// and the models without the comments at its end.
func sections(text string) (head, vendors, models string) {
	head, rest, _ := strings.Cut(text, "\nvendors:\n")
	vendors, models, _ = strings.Cut(rest, "\nmodels:\n")
	if end := strings.Index(models, "\n#"); end >= 0 {
		models = models[:end+1]
	}
	return head + "\nvendors:\n", strings.TrimRight(vendors, "\n") + "\n", models
}

// block is an entry of a mapping or a list with the comments above it.
type block struct{ name, text string }

// blocks cuts a text into the entries at an indentation. The starter catalog is
// written in one way throughout, which its tests hold, so lines suffice.
func blocks(text, indent string) []block {
	var all []block
	var pending strings.Builder // comments that belong to the next entry
	for line := range strings.Lines(text) {
		rest, deep := strings.CutPrefix(line, indent)
		switch {
		case deep && strings.HasPrefix(rest, "#"):
			pending.WriteString(line)
		case deep && rest[0] != ' ':
			name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(rest), "- vendor: "), ":")
			all = append(all, block{name, pending.String() + line})
			pending.Reset()
		default:
			all[len(all)-1].text += pending.String() + line
			pending.Reset()
		}
	}
	return all
}

// routes cuts a model into what stands above its routes and the routes, each named
// by its vendor.
func (b block) routes() (top string, routes []block) {
	top, rest, _ := strings.Cut(b.text, "    routes:\n")
	return top + "    routes:\n", blocks(rest, "      ")
}

// uncommented is a text without the comments at its beginning.
func uncommented(text string) string {
	for strings.HasPrefix(text, "  #") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

// wanted says whether one of the patterns matches a model, and marks those that do.
func (b block) wanted(patterns []string, matched []bool) (bool, error) {
	names := []string{b.name, path.Base(b.name)}
	if _, rest, ok := strings.Cut(b.text, "    aliases: ["); ok {
		list, _, _ := strings.Cut(rest, "]")
		names = append(names, strings.Split(list, ", ")...)
	}
	wanted := len(patterns) == 0
	for i, pattern := range patterns {
		for _, name := range names {
			ok, err := path.Match(pattern, name)
			if err != nil {
				return false, fmt.Errorf("%q is not a pattern: %w", pattern, err)
			}
			if ok {
				wanted, matched[i] = true, true
			}
		}
	}
	return wanted, nil
}
