package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"

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
	r := &reader{file: file, what: "catalog"}
	document, problem := r.document(text, "begin with version: 1")
	if problem != nil {
		return nil, told(Problems{*problem}, text)
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
	outline := outlineOf(document)
	silences := r.readSilences(outline)
	if problems := r.problems.all("mistake"); len(problems) > 0 {
		return nil, told(problems, text)
	}
	b.catalog.Warnings, b.catalog.silenced = silences.quiet(outline, warned(r.warnings.all("warning"), text))
	return b.catalog, nil
}

// ParseFrom is [ParseKeys] of what a reader holds, such as standard input. It
// reads no more than a catalog may have. An error that is not [Problems] is the
// reader's.
func ParseFrom(name string, from io.Reader, keys Keys) (*Catalog, error) {
	text, err := readAll(from)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	return ParseKeys(name, text, keys)
}

// readAll reads a catalog's text, and one byte more where it is too long.
func readAll(from io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(from, MaxSize+1))
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
	o, ok := b.fixed(document, "", "the catalog", keysIn[catalogShape]()...)
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
				b.fail(n, "", "currency %s is not a code of three capitals, such as USD", b.quote(text))
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

// document reads the YAML itself: one document, as nodes. begin says how to fill
// an empty file.
func (r *reader) document(text []byte, begin string) (*yaml.Node, *Problem) {
	at := func(line, column int, message string) *Problem {
		return &Problem{File: r.file, Line: line, Column: column, Message: message}
	}
	if len(text) > MaxSize {
		line, column := placeAt(text, MaxSize)
		return nil, at(line, column, fmt.Sprintf("the file goes on past %d MiB, the most that is read; remove what nobody uses, or give each gateway a %s of its own", MaxSize>>20, r.what))
	}
	if line, column, fault := badByte(text); fault != "" {
		return nil, at(line, column, fault)
	}
	held, end := measured(text)
	if held.fault != "" {
		line, column := placeAt(text, held.at)
		return nil, at(line, column, held.fault+"; a "+r.what+" needs far less, so remove what nobody uses")
	}
	whole := text
	text = text[:end]
	r.source = newCursor(text)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	first, err := decode(decoder)
	switch {
	case errors.Is(err, io.EOF) || err == nil && (len(first.Content) == 0 || isNull(first.Content[0])):
		return nil, at(1, 1, "the "+r.what+" is empty; "+begin)
	case err != nil:
		return nil, at(syntaxError(text, err, held.weight))
	}
	if end < len(whole) {
		line, _ := placeAt(whole, end)
		return nil, at(line, 1, secondDocument(r.what))
	}
	second, err := decode(decoder)
	switch {
	case errors.Is(err, io.EOF):
		return first.Content[0], nil
	case err != nil:
		return nil, at(syntaxError(text, err, held.weight))
	}
	return nil, at(max(second.Line, 1), max(second.Column, 1), secondDocument(r.what))
}

func secondDocument(what string) string {
	return "a second document begins here; a " + what + " is one document, so remove the line ---"
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
