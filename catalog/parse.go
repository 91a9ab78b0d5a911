package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/warmroute/warmroute/pricing"
	"gopkg.in/yaml.v3"
)

// MaxSize is the largest catalog file that is read, in bytes (design section 8).
const MaxSize = 4 << 20

// Parse reads a catalog from its text. file is only named in problems.
//
// The error is [Problems]: every mistake of meaning at once, in the order of
// the lines; of YAML's own syntax only the first. Parse reads no environment and
// no file, so no credential has its key; [ParseKeys] and [Load] fill them in.
func Parse(file string, text []byte) (*Catalog, error) { return ParseKeys(file, text, nil) }

// ParseKeys is [Parse] with a look-up for the keys of credentials. A credential
// whose key is not found is a warning, not an error.
func ParseKeys(file string, text []byte, keys Keys) (*Catalog, error) {
	r := &reader{file: file}
	document, problem := r.document(text)
	if problem != nil {
		return nil, Problems{*problem}
	}
	r.structure(document, 1)
	b := &builder{reader: r, keys: keys, catalog: &Catalog{
		Currency: "USD",
		Digest:   digest(text),
		Path:     file,
		targets:  map[string]Target{},
		vendors:  map[string]*Vendor{},
		keys:     keys,
	}}
	b.root(document)
	byPlace := func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	}
	slices.SortStableFunc(r.problems, byPlace)
	slices.SortStableFunc(r.warnings, byPlace)
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	b.catalog.Warnings = r.warnings
	return b.catalog, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// builder makes a catalog of what a reader reads.
type builder struct {
	*reader
	catalog *Catalog
	keys    Keys
	unit    pricing.Unit
	zones   zones
	taken   map[string]taken // names, aliases and policies: one namespace
	tags    map[string]bool  // every tag that some vendor, model or route carries
}

// root reads the top of the file. The sections are read in the order in which
// they refer to each other, whatever their order in the file.
func (b *builder) root(document *yaml.Node) {
	o, ok := b.fixed(document, "", "the catalog", "version", "currency", "unit", "vendors", "models", "policies")
	if !ok {
		return
	}
	if n := b.need(&o, "version", "write version: 1"); n != nil {
		if n.Kind != yaml.ScalarNode || n.Value != "1" {
			b.fail(n, "", "version must be 1, the only one there is")
		}
	}
	if n := o.get("currency"); n != nil {
		if text, ok := b.text(n, "", "currency"); ok {
			if !currencyCode.MatchString(text) {
				b.fail(n, "", "currency %s is not a code of three capitals, such as USD", quote(text))
			}
			b.catalog.Currency = text
		}
	}
	if n := o.get("unit"); n != nil {
		if text, ok := b.choice(n, "", "unit", "per_million", "per_thousand", "per_token"); ok {
			b.unit, _ = pricing.ParseUnit(text)
		}
	}
	if n := b.need(&o, "vendors", "name at least one vendor"); n != nil {
		b.vendors(n)
	}
	if n := b.need(&o, "models", "name at least one model with a route"); n != nil {
		b.models(n)
	}
	if n := o.get("policies"); n != nil {
		b.policies(n)
	}
}

var currencyCode = regexp.MustCompile(`^[A-Z]{3}$`)

// document reads the YAML itself: one document, as nodes.
func (r *reader) document(text []byte) (*yaml.Node, *Problem) {
	at := func(line, column int, message string) *Problem {
		return &Problem{File: r.file, Line: line, Column: column, Message: message}
	}
	if len(text) > MaxSize {
		return nil, at(1, 1, fmt.Sprintf("is larger than %d MiB; a catalog must not be", MaxSize>>20))
	}
	if line, column, fault := badByte(text); fault != "" {
		return nil, at(line, column, fault)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	first, err := decode(decoder)
	switch {
	case errors.Is(err, io.EOF) || err == nil && (len(first.Content) == 0 || isNull(first.Content[0])):
		return nil, at(1, 1, "the catalog is empty; begin with version: 1")
	case err != nil:
		line, message := syntaxError(text, err)
		return nil, at(line, 1, message)
	}
	second, err := decode(decoder)
	switch {
	case errors.Is(err, io.EOF):
		return first.Content[0], nil
	case err != nil:
		line, message := syntaxError(text, err)
		return nil, at(line, 1, message)
	}
	return nil, at(max(second.Line, 1), max(second.Column, 1), "a second document begins here; a catalog is one document, so remove the line ---")
}

// decode reads one document. The YAML package is known to have panicked on
// hostile texts; a catalog that makes it do so is refused like any other.
func decode(decoder *yaml.Decoder) (n *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("yaml: the text cannot be read as YAML")
		}
	}()
	n = &yaml.Node{}
	return n, decoder.Decode(n)
}

// badByte finds the first byte that cannot stand in a catalog. The YAML package
// refuses such bytes too, without saying where.
func badByte(text []byte) (line, column int, fault string) {
	line = 1
	start := 0
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		switch {
		case c == '\n':
			line, start = line+1, i+1
		case c == utf8.RuneError && size == 1:
			return line, utf8.RuneCount(text[start:i]) + 1, "a byte that is not UTF-8; save the file as UTF-8"
		case c < ' ' && c != '\t' && c != '\r', c == 0x7f, c > 0x7f && c < 0xa0 && c != 0x85,
			c == 0xfffe, c == 0xffff, c == 0xfeff && i > 0:
			return line, utf8.RuneCount(text[start:i]) + 1, "a control character; remove it"
		}
		i += size
	}
	return 0, 0, ""
}

var syntaxLine = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

// syntaxError turns an error of the YAML package into a line and a sentence.
//
// The package names the line on which the surrounding block began, and for
// errors of its parser one line too few; the line that breaks the text is the
// first whose addition gives the same error.
func syntaxError(text []byte, err error) (line int, message string) {
	line, message = 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := syntaxLine.FindStringSubmatch(strings.TrimSpace(err.Error())); m != nil {
		line, _ = strconv.Atoi(m[1])
		message = m[2]
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	line = min(max(line, 1), max(len(lines), 1))
	const most = 128 << 10 // beyond, the search would take longer than a reload may
	failsBy := func(n int) bool { return sameError(bytes.Join(lines[:n], nil), err) }
	if len(text) <= most && !(failsBy(line) && !failsBy(line-1)) {
		line = max(1+sort.Search(len(lines)-1, func(i int) bool { return failsBy(i + 1) }), 1)
	}
	return line, "this is not YAML: " + message + hint(lines, line)
}

// sameError says whether the beginning of a text already fails as the whole does.
func sameError(text []byte, want error) bool {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		_, err := decode(decoder)
		if err != nil {
			return err.Error() == want.Error()
		}
	}
}

// hint names the most common cause.
func hint(lines [][]byte, line int) string {
	if line <= len(lines) && bytes.Contains(leading(lines[line-1]), []byte("\t")) {
		return "; indent with spaces, not tabs"
	}
	return "; check indentation, colons and quotes here and just above"
}

// leading is the white space a line begins with.
func leading(line []byte) []byte {
	return line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
}
