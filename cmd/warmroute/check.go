package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
)

func checkCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "check CATALOG",
		Short: "Read a catalog and report every mistake, with file, line and remedy",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(errors.New("check takes one catalog, or - for standard input: warmroute check catalog.yaml"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			cat, err := loadCatalog(args[0])
			var problems catalog.Problems
			if err != nil && !errors.As(err, &problems) {
				problems = catalog.Problems{{File: args[0], Message: err.Error()}} // it could not be read at all
			}
			if output == "json" {
				if err := printCheck(c, cat, problems); err != nil {
					return err
				}
				return silently(err)
			}
			if err != nil && len(problems) == 1 && problems[0].Line == 0 {
				return err
			}
			if err != nil {
				fmt.Fprintln(c.OutOrStdout(), problems.Error())
				if len(problems) > catalog.MaxProblems { // the last one says how many more there are
					return invalid(fmt.Errorf("%s: too many mistakes to list", args[0]))
				}
				return invalid(fmt.Errorf("%s: %s", args[0], count(len(problems), "mistake")))
			}
			for _, w := range cat.Warnings {
				fmt.Fprintln(c.OutOrStdout(), "warning:", w)
			}
			routes := 0
			for _, m := range cat.Models {
				routes += len(m.Routes)
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s is good: %s, %s, %s, %s\n", args[0], count(len(cat.Vendors), "vendor"),
				count(len(cat.Models), "model"), count(routes, "route"), countOf(len(cat.Policies), "policy", "policies"))
			return err
		},
	}
	outputFlag(c, &output)
	return c
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
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(fmt.Errorf("there is no catalog at %s; write one, or try warmroute demo", path))
	}
	if err != nil {
		return nil, invalid(err)
	}
	return cat, nil
}

// printCheck prints what check found as JSON: stable for scripts.
func printCheck(c *cobra.Command, cat *catalog.Catalog, problems catalog.Problems) error {
	type line struct {
		File    string `json:"file"`
		Line    int    `json:"line"`
		Column  int    `json:"column"`
		Where   string `json:"where,omitempty"`
		Message string `json:"message"`
	}
	lines := func(from []catalog.Problem) []line {
		to := make([]line, len(from))
		for i, p := range from {
			to[i] = line{p.File, p.Line, p.Column, p.Where, p.Message}
		}
		return to
	}
	result := struct {
		Good     bool   `json:"good"`
		Digest   string `json:"digest,omitempty"`
		Errors   []line `json:"errors"`
		Warnings []line `json:"warnings"`
	}{Good: cat != nil, Errors: lines(problems), Warnings: []line{}}
	if cat != nil {
		result.Digest, result.Warnings = cat.Digest, lines(cat.Warnings)
	}
	enc := json.NewEncoder(c.OutOrStdout())
	enc.SetIndent("", "  ")
	return enc.Encode(result)
}

func count(n int, noun string) string { return countOf(n, noun, noun+"s") }

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
