package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/catalog/edit"
)

func catalogDiffCommand() *cobra.Command {
	var output string
	var exitCode bool
	c := &cobra.Command{
		Use:   "diff BEFORE AFTER",
		Short: "Say what two catalogs mean differently: models, routes, prices, cache rules, vendors, policies",
		Long: `Say what two catalogs mean differently. Prices are compared per million tokens,
whatever units the files are in; comments, quoting and the order of keys do not
count. Either file may be - for standard input.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage(errors.New("diff takes two catalogs: warmroute catalog diff before.yaml after.yaml"))
			}
			if args[0] == "-" && args[1] == "-" {
				return usage(errors.New("only one of the two can be standard input"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			var pair [2]*catalog.Catalog
			for i, path := range args {
				text, err := catalogText(path)
				if err != nil {
					return err
				}
				if pair[i], err = catalog.Parse(path, text); err != nil {
					return invalid(err)
				}
			}
			differences := edit.Differences(pair[0], pair[1])
			if err := printDifferences(c.OutOrStdout(), output, differences); err != nil {
				return err
			}
			if exitCode && len(differences) > 0 {
				return coded{code: exitFailed}
			}
			return nil
		},
	}
	outputFlag(c, &output)
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 1 if the catalogs differ")
	return c
}

// catalogText reads a catalog as it is written, from standard input if path is -.
func catalogText(path string) ([]byte, error) {
	from := io.Reader(os.Stdin)
	if path != "-" {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, notFound(fmt.Errorf("there is no catalog at %s", path))
		}
		if err != nil {
			return nil, invalid(fmt.Errorf("catalog cannot be read: %w", err))
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, catalog.MaxSize+1)) // one more is refused when it is parsed
	if err != nil {
		return nil, invalid(fmt.Errorf("catalog cannot be read: %w", err))
	}
	return text, nil
}

// differenceLine is a difference as -o json prints it.
type differenceLine struct {
	Kind   string  `json:"kind"` // added, removed or changed
	Where  string  `json:"where,omitempty"`
	Field  string  `json:"field"` // empty: the whole of it
	From   *string `json:"from"`
	To     *string `json:"to"`
	Change string  `json:"change_percent,omitempty"`
}

func printDifferences(w io.Writer, output string, differences []edit.Difference) error {
	if output == "json" {
		lines := differenceLines(differences)
		return printJSON(w, struct {
			Same        bool             `json:"same"`
			Differences []differenceLine `json:"differences"`
		}{len(lines) == 0, lines})
	}
	if len(differences) == 0 {
		_, err := fmt.Fprintln(w, "the catalogs mean the same")
		return err
	}
	for _, d := range differences {
		if _, err := fmt.Fprintln(w, d); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, count(len(differences), "difference"))
	return err
}

// differenceLines are differences as -o json prints them, an empty list without
// one.
func differenceLines(differences []edit.Difference) []differenceLine {
	lines := make([]differenceLine, len(differences))
	for i, d := range differences {
		lines[i] = differenceLine{Kind: d.Kind(), Where: d.Where, Field: d.Field, Change: d.Change}
		if d.Kind() != "added" {
			lines[i].From = &d.From
		}
		if d.Kind() != "removed" {
			lines[i].To = &d.To
		}
	}
	return lines
}
