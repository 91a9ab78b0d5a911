package catalog

import (
	"embed"
	"slices"
	"strings"
)

// The codes of what [Lint] finds. A code never changes its meaning.
const (
	CodeReadInput    = "read-not-below-input"
	CodeReadRival    = "read-not-below-rival"
	CodeWrite        = "write-out-of-range"
	CodeWrite1h      = "write-1h-unknown"
	CodeUnknown      = "price-unknown"
	CodeCoverage     = "price-coverage"
	CodeOutlier      = "price-outlier"
	CodeMagnitude    = "price-magnitude"
	CodeOrder        = "price-order"
	CodeZero         = "price-zero"
	CodeAge          = "price-age"
	CodeUndated      = "price-undated"
	CodeEnds         = "price-ends"
	CodeGap          = "price-gap"
	CodeTTL          = "lifetime-too-long"
	CodeMinLow       = "min-prefix-low"
	CodeMinUnknown   = "min-prefix-unknown"
	CodeNearName     = "near-name"
	CodeShadow       = "shadowed-name"
	CodePinOrder     = "order-and-pins"
	CodeMaxPrice     = "max-price-removes-model"
	CodeNothingInUse = "no-route-in-use"
	CodeTagUnused    = "tag-unused"
	CodeWeightUnused = "weight-unused"
	CodeCredential   = "credential-missing"
	CodeUnused       = "unused-silence"
)

// kinds are all codes with their usual severity. A finding may be milder: its
// page says when.
var kinds = map[string]Severity{
	CodeSyntax: SeverityError, CodeFile: SeverityError, CodeFeature: SeverityError, CodeUnknownKey: SeverityError,
	CodeDuplicateKey: SeverityError, CodeMissingKey: SeverityError, CodeEmpty: SeverityError, CodeType: SeverityError,
	CodeValue: SeverityError, CodeNumber: SeverityError, CodePrice: SeverityError, CodeLifetime: SeverityError,
	CodeTime: SeverityError, CodeOverlap: SeverityError, CodeName: SeverityError, CodeDuplicateName: SeverityError,
	CodeUnknownName: SeverityError, CodeSecret: SeverityError, CodeAddress: SeverityError, CodeHeader: SeverityError,
	CodeContradiction: SeverityError, CodeNoRoute: SeverityError, CodeNotBuilt: SeverityError, CodeTooMany: SeverityError,
	CodeSilence: SeverityError,

	CodeReadInput: SeverityWarning, CodeReadRival: SeverityNote, CodeWrite: SeverityWarning, CodeWrite1h: SeverityWarning,
	CodeUnknown: SeverityWarning, CodeCoverage: SeverityNote, CodeOutlier: SeverityWarning, CodeMagnitude: SeverityWarning,
	CodeOrder: SeverityWarning, CodeZero: SeverityWarning, CodeAge: SeverityWarning, CodeUndated: SeverityNote,
	CodeEnds: SeverityWarning, CodeGap: SeverityWarning, CodeTTL: SeverityWarning, CodeMinLow: SeverityWarning,
	CodeMinUnknown: SeverityNote, CodeNearName: SeverityWarning, CodeShadow: SeverityNote, CodePinOrder: SeverityNote,
	CodeMaxPrice: SeverityWarning, CodeNothingInUse: SeverityWarning, CodeTagUnused: SeverityWarning,
	CodeWeightUnused: SeverityWarning, CodeCredential: SeverityNote, CodeUnused: SeverityNote,
}

// remedies are what to do about the mistakes whose messages say in one breath
// what is wrong and what would be right.
var remedies = map[string]string{
	CodeSyntax: "check indentation, colons and quotes here and just above", CodeFile: "save the file anew as UTF-8, with one catalog in it",
	CodeFeature: "write the value out", CodeUnknownKey: "correct the key, or remove it", CodeDuplicateKey: "remove one of them",
	CodeMissingKey: "add it", CodeEmpty: "remove the key or fill it", CodeType: "write it in that form", CodeValue: "write one of the values that this place takes",
	CodeNumber: "write a whole number of digits only", CodePrice: "write digits with a decimal point, such as 0.30", CodeLifetime: "write a number with a unit, such as 5m or 1h",
	CodeTime: "write the day, the hour or the zone in that form", CodeOverlap: "move one of them, so that one price holds at any time",
	CodeName: "choose another name", CodeDuplicateName: "rename or remove one of them", CodeUnknownName: "correct the name, or add what it names",
	CodeSecret: "name where the key is kept, and replace it if this file was shared", CodeAddress: "write an address such as https://api.example.com/v1",
	CodeHeader: "write another header, or none", CodeContradiction: "keep one", CodeNoRoute: "name a vendor that serves one of the models",
	CodeNotBuilt: "remove it", CodeTooMany: "put the first ones right, and check again", CodeSilence: "write a code of a warning or a note, and why it is meant",
	CodeGap: "give the price of that time, or join the periods", CodeReadInput: "check both prices", CodeMagnitude: "check the unit of the file",
	CodeNothingInUse: "enable one of them, or remove the model", CodeTagUnused: "correct the tag, or give it to a vendor, a model or a route",
	CodeCredential: "put the key there before the gateway starts",
}

// Codes are all codes: those of mistakes first, each group in the order of the
// alphabet.
func Codes() []string {
	all := make([]string, 0, len(kinds))
	for code := range kinds {
		all = append(all, code)
	}
	slices.SortFunc(all, func(a, b string) int {
		if x, y := kinds[a] == SeverityError, kinds[b] == SeverityError; x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return all
}

//go:embed lintpages/*.md
var pages embed.FS

// Page is what there is to know about one code.
type Page struct {
	Code     string
	Severity Severity // the usual one
	Title    string   // one line
	Text     string   // what it means, why it costs money, an example, its correction, how to silence it
	Example  string   // YAML that has it; what it leaves out of a catalog does not matter
	Fixed    string   // the same without it; empty where no text could have it
}

// Explain is the page of a code. Where there is no such code, ok is false and near
// is one that was perhaps meant, or empty.
func Explain(code string) (page Page, near string, ok bool) {
	text, err := pages.ReadFile("lintpages/" + code + ".md")
	if _, known := kinds[code]; !known || err != nil {
		near, _ = Nearest(code, Codes())
		return Page{}, near, false
	}
	page = Page{Code: code, Severity: kinds[code]}
	title, rest, _ := strings.Cut(string(text), "\n")
	page.Title = strings.TrimPrefix(title, "# ")
	page.Text = strings.TrimSpace(rest)
	if page.Severity != SeverityError {
		page.Text += "\n\nWhere it is meant, say so at its place, in the route, the model, the vendor or the\npolicy, or at the top for the whole file:\n\n    silence: {" + code + ": \"why it is meant\"}"
	} else {
		page.Text += "\n\nA mistake cannot be silenced: a catalog that has one is not used."
	}
	blocks := strings.Split(page.Text, "```")
	for i := 1; i < len(blocks); i += 2 {
		yaml := strings.TrimPrefix(blocks[i], "yaml\n")
		switch i {
		case 1:
			page.Example = yaml
		case 3:
			page.Fixed = yaml
		}
	}
	return page, "", true
}
