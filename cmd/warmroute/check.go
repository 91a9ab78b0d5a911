package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
)

// formats are those in which check prints what it found.
var formats = []string{"text", "json", "github", "sarif"}

func checkCommand() *cobra.Command {
	var output, format string
	var strict bool
	var explain string
	c := &cobra.Command{
		Use:   "check CATALOG",
		Short: "Read a catalog and report every mistake and doubt, with file, line and remedy",
		Long: "Read a catalog and report every mistake and doubt, with file, line and remedy.\n\n" +
			"A mistake is exit code 3. A warning is one with --strict; a note never is. What is meant\n" +
			"is silenced in the file, at its place: silence: {CODE: \"why it is meant\"}. The text format\n" +
			"tells a few of each kind and counts the others; the other formats tell all.",
		Example: "  warmroute check catalog.yaml\n  warmroute check --strict --format github catalog.yaml\n  warmroute check --explain price-zero\n  warmroute check --explain",
		Args: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("explain") {
				if len(args) > 1 || len(args) == 1 && explain != everyCode {
					return usage(errors.New("--explain takes one code and no catalog: warmroute check --explain price-zero"))
				}
				return nil
			}
			if len(args) != 1 {
				return usage(errors.New("check takes one catalog, or - for standard input: warmroute check catalog.yaml"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if output == "json" && !c.Flags().Changed("format") {
				format = "json"
			}
			if !slices.Contains(formats, format) {
				return usage(fmt.Errorf("--format %s is not known; use text, json, github or sarif", format))
			}
			if c.Flags().Changed("explain") {
				if len(args) == 1 {
					explain = args[0]
				}
				return explainCode(c.OutOrStdout(), explain, format == "json")
			}
			return check(c.OutOrStdout(), args[0], format, strict)
		},
	}
	outputFlag(c, &output)
	f := c.Flags()
	f.StringVar(&format, "format", "text", "text, json, github (annotations of a workflow) or sarif (2.1.0)")
	f.BoolVar(&strict, "strict", false, "take warnings for mistakes; notes never are")
	f.StringVar(&explain, "explain", "", "print the page on a code and read no catalog; without a code, list them all")
	f.Lookup("explain").NoOptDefVal = everyCode
	return c
}

// checked is what there is to say about one catalog file.
type checked struct {
	name     string
	catalog  *catalog.Catalog // nil where there are mistakes
	mistakes catalog.Problems
	catalog.Findings
}

// all are the problems in the order of the file.
func (r *checked) all() catalog.Problems {
	if len(r.mistakes) > 0 {
		return r.mistakes
	}
	return r.Problems
}

// check reads a catalog, prints what was found and says by its error how it went.
func check(out io.Writer, path, format string, strict bool) error {
	found := checked{name: path}
	var err error
	found.catalog, found.Findings, err = checkCatalog(path, time.Now())
	if err != nil && !errors.As(err, &found.mistakes) {
		if format == "text" {
			return err
		}
		found.mistakes = catalog.Problems{{File: path, Message: err.Error(), Code: catalog.CodeFile, Severity: catalog.SeverityError}} // it could not be read at all
	}
	print := map[string]func(io.Writer, *checked) error{"text": checkText, "json": checkJSON, "github": checkGitHub, "sarif": checkSARIF}[format]
	if failed := print(out, &found); failed != nil {
		return failed
	}
	warnings := found.Count(catalog.SeverityWarning)
	switch {
	case err != nil && isConfig(path):
		return invalid(fmt.Errorf("%s is a configuration file, which serve reads with --config; check reads catalogs", path))
	case err != nil && format != "text":
		return silently(err)
	case len(found.mistakes) > catalog.MaxProblems: // the last one says how many more there are
		return invalid(fmt.Errorf("%s: too many mistakes to list", path))
	case err != nil:
		return invalid(fmt.Errorf("%s: %s", path, count(len(found.mistakes), "mistake")))
	case strict && warnings > 0 && format != "text":
		return coded{code: exitInvalid}
	case strict && warnings > 0:
		return invalid(fmt.Errorf("%s: %s, which --strict does not accept; correct what it names, or silence it in the file with a reason", path, count(warnings, "warning")))
	}
	return nil
}

// checkCatalog is loadCatalog with what is remarkable in a catalog without mistakes.
func checkCatalog(path string, now time.Time) (cat *catalog.Catalog, found catalog.Findings, err error) {
	if path == "-" {
		cat, found, err = catalog.CheckFrom("-", os.Stdin, catalog.Environment("."), now)
	} else {
		cat, found, err = catalog.Check(path, catalog.Environment(filepath.Dir(path)), now)
	}
	return cat, found, catalogError(path, err)
}

// silently keeps an error's exit code and leaves out its text, which has been
// said already.
func silently(err error) error {
	var c coded
	if errors.As(err, &c) {
		return coded{code: c.code}
	}
	return err
}

// loadCatalog reads a catalog, from standard input if path is -; a missing file is exit code 4, a bad one 3.
func loadCatalog(path string) (*catalog.Catalog, error) {
	var cat *catalog.Catalog
	var err error
	if path == "-" {
		cat, err = catalog.ParseFrom("-", os.Stdin, catalog.Environment("."))
	} else {
		cat, err = catalog.Load(path)
	}
	if err = catalogError(path, err); err != nil {
		return nil, err
	}
	return cat, nil
}

// catalogError gives an error of reading a catalog its exit code.
func catalogError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return notFound(fmt.Errorf("there is no catalog at %s; write the starter with warmroute catalog init --write %s, or try warmroute demo", path, path))
	}
	return invalid(err)
}

func count(n int, noun string) string { return countOf(n, noun, noun+"s") }

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// isConfig says whether a file is a configuration file.
func isConfig(path string) bool {
	if path == "-" {
		return false
	}
	_, err := catalog.LoadConfig(path)
	return err == nil
}
