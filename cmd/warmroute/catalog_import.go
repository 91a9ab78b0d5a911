package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/catalog/edit"
	"github.com/warmroute/warmroute/catalog/pricelist"
)

// importing is what the command line says of an import.
type importing struct {
	From, Catalog, AsOf, Output string
	Models, Vendors, Compare    []string
	Write, Force                bool
	Existing, Summary           bool
}

func catalogImportCommand() *cobra.Command {
	var q importing
	c := &cobra.Command{
		Use:   "import --from LIST FILE",
		Short: "Bring a public price list into a catalog, keeping comments, order and hand edits",
		Long: `Bring a public price list into a catalog. Without --catalog a new catalog is
written to standard output. With it, the change is shown as a diff, and made only
with --write.

Prices that the same list gave before, and routes without a price, take those of
the list; a price of another source is yours and stays, which is reported, unless
--force. A price of a vendor's page or of another list to which the list agrees in
every figure is confirmed: it takes the list's day. A price that the list does not know is left out, and one that it does not
know any longer stays. What looks like a slip of the list is not written. Vendors
that the catalog lacks are added where their address is known.

The lists are ` + strings.Join(pricelist.Sources(), ", ") + `. A file may be gzip,
and - is standard input.`,
		Example: "  warmroute catalog import --from models.dev models.json --models 'claude-*,gpt-5*' > catalog.yaml\n" +
			"  warmroute catalog import --from litellm prices.json --catalog catalog.yaml --compare openrouter=models.json\n" +
			"  warmroute catalog import --from litellm prices.json --catalog catalog.yaml --existing --as-of 2026-11-20 --write",
		Args: func(_ *cobra.Command, args []string) error { return q.check(args) },
		RunE: func(c *cobra.Command, args []string) error { return q.run(c, args[0]) },
	}
	outputFlag(c, &q.Output)
	f := c.Flags()
	f.StringVar(&q.From, "from", "", "the list that the file is: "+strings.Join(pricelist.Sources(), ", "))
	f.StringVar(&q.Catalog, "catalog", "", "the catalog to update; without it a new one is printed")
	f.StringSliceVar(&q.Models, "models", nil, "only models with these names or aliases; patterns such as claude-* or openai/*")
	f.StringSliceVar(&q.Vendors, "vendors", nil, "only these vendors")
	f.StringArrayVar(&q.Compare, "compare", nil, "another list, as LIST=FILE: mark where it disagrees; may be given several times")
	f.BoolVar(&q.Write, "write", false, "make the change")
	f.BoolVar(&q.Existing, "existing", false, "bring the routes that the catalog has up to date, and add none")
	f.BoolVar(&q.Force, "force", false, "overwrite prices of other sources too")
	f.StringVar(&q.AsOf, "as-of", "", "the day the prices are of, such as 2026-11-20; by default what the list says, else the day its file was last changed, which confirms no price")
	f.BoolVar(&q.Summary, "summary", false, "print the sums alone, without the diff and the routes")
	return c
}

// check judges the command line.
func (q *importing) check(args []string) error {
	switch {
	case len(args) != 1:
		return usage(errors.New("import takes one price list: warmroute catalog import --from litellm prices.json"))
	case q.From == "":
		return usage(fmt.Errorf("--from is missing; say which list the file is: %s", strings.Join(pricelist.Sources(), ", ")))
	case !isList(q.From):
		return usage(fmt.Errorf("--from %s: there is no such list; name one of %s", q.From, strings.Join(pricelist.Sources(), ", ")))
	case q.Write && q.Catalog == "":
		return usage(errors.New("--write changes the file named by --catalog, and none is named; without it the new catalog goes to standard output"))
	case q.Existing && q.Catalog == "":
		return usage(errors.New("--existing is about the routes of a catalog, and none is named; add --catalog FILE"))
	case q.Write && q.Catalog == "-":
		return usage(errors.New("standard input cannot be written to; name a file by --catalog"))
	case q.Catalog == "-" && args[0] == "-":
		return usage(errors.New("only one of the catalog and the list can be standard input"))
	}
	if q.AsOf != "" {
		if _, err := time.Parse(time.DateOnly, q.AsOf); err != nil {
			return usage(fmt.Errorf("--as-of %s is not a day such as 2026-11-20", q.AsOf))
		}
	}
	for _, other := range q.Compare {
		if source, file, ok := strings.Cut(other, "="); !ok || !isList(source) || file == "" || file == "-" {
			return usage(fmt.Errorf("--compare %s: write a list and its file, such as openrouter=models.json", other))
		}
	}
	return nil
}

func isList(source string) bool {
	name, _, _ := strings.Cut(source, ":")
	return slices.Contains(pricelist.Sources(), name)
}

func (q *importing) run(c *cobra.Command, file string) error {
	list, day, err := readList(q.From, file)
	if err != nil {
		return err
	}
	o := edit.Options{Models: q.Models, Vendors: q.Vendors, Force: q.Force, Only: q.Existing, AsOf: q.AsOf, Day: day}
	for _, other := range q.Compare {
		source, path, _ := strings.Cut(other, "=")
		compared, _, err := readList(source, path)
		if err != nil {
			return err
		}
		o.Compare = append(o.Compare, compared)
	}
	name := "catalog.yaml"
	var before *edit.Document
	if q.Catalog != "" {
		name = q.Catalog
		text, err := catalogText(q.Catalog)
		if err != nil {
			return err
		}
		if before, err = edit.Open(name, text); err != nil {
			return catalogInvalid(err)
		}
	}
	im, err := edit.Import(name, before, list, o)
	switch {
	case errors.Is(err, edit.ErrNothing):
		return notFound(fmt.Errorf("%s: %w", file, err))
	case err != nil:
		return catalogInvalid(err)
	}
	written := q.Write && im.Result != nil && im.Changed()
	if written {
		if err := replaceFile(q.Catalog, im.Before, im.Text); err != nil {
			return fmt.Errorf("the catalog cannot be written: %w", err)
		}
	}
	r := reportOf(im, list, before == nil, written)
	if q.AsOf == "" {
		r.Day = day
	}
	if q.Output == "json" {
		return printJSON(c.OutOrStdout(), r)
	}
	out, report := c.OutOrStdout(), c.OutOrStdout()
	if before == nil {
		report = c.ErrOrStderr() // the catalog has standard output to itself
		if im.Result == nil {
			r.print(report)
			return errors.New("no route of the list could be written, so there is no catalog")
		}
		if _, err := out.Write(im.Text); err != nil {
			return err
		}
		return r.print(report)
	}
	if q.Summary {
		return r.sums(report)
	}
	if _, err := io.WriteString(out, r.Diff); err != nil {
		return err
	}
	return r.print(report)
}

// catalogInvalid gives an error about a catalog's text exit code 3; what could not
// be done to a good one is 1.
func catalogInvalid(err error) error {
	var problems catalog.Problems
	if errors.As(err, &problems) {
		return invalid(err)
	}
	return err
}

// readList reads a price list, and the day its file was last changed.
func readList(source, path string) (list *pricelist.List, day string, err error) {
	from := io.Reader(os.Stdin)
	if path != "-" {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, "", notFound(fmt.Errorf("there is no price list at %s", path))
		}
		if err != nil {
			return nil, "", fmt.Errorf("the price list cannot be read: %w", err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return nil, "", fmt.Errorf("the price list cannot be read: %w", err)
		}
		if !info.Mode().IsRegular() {
			return nil, "", fmt.Errorf("the price list %s is not a file", path)
		}
		from, day = f, info.ModTime().UTC().Format(time.DateOnly)
	}
	list, err = pricelist.Read(source, from)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return list, day, nil
}
