package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
)

// schemaName is the file that the first line of the starter catalog names.
const schemaName = "catalog.schema.json"

func catalogInitCommand() *cobra.Command {
	var file string
	var vendors, models []string
	c := &cobra.Command{
		Use:   "init",
		Short: "Print the starter catalog, or the part of it that you use, or write it to a file",
		Long: `Print the starter catalog: models that several vendors serve, each price with the
day it was read and the page where it is to be checked. A vendor takes part once
its key is set in the environment.

With --write the catalog becomes a new file; one that is there already is left as
it is. The JSON schema that its first line names for editors is written beside it.`,
		Example: "  warmroute catalog init --write catalog.yaml\n" +
			"  warmroute catalog init --vendors anthropic,openai --write catalog.yaml\n" +
			"  warmroute catalog init --models 'kimi-*,deepseek-v4-*'",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Errorf("init takes no names; to write to a file: warmroute catalog init --write %s", args[0]))
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error {
			text, err := catalog.StarterPart(vendors, models)
			if err != nil {
				return notFound(err)
			}
			if file == "" {
				_, err = io.WriteString(c.OutOrStdout(), text)
				return err
			}
			if err := writeNew(file, text); err != nil {
				return err
			}
			return started(c.OutOrStdout(), file)
		},
	}
	f := c.Flags()
	f.StringVar(&file, "write", "", "write to this new file instead")
	f.StringSliceVar(&vendors, "vendors", nil, "only these vendors")
	f.StringSliceVar(&models, "models", nil, "only models with these names or aliases; patterns such as claude-* or openai/*")
	return c
}

// writeNew writes a file that is not there yet, and the schema beside it unless
// there is one.
func writeNew(file, text string) error {
	switch err := create(file, []byte(text)); {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is there already and is left as it is; choose another name, or print the catalog without --write and take over what you need", file)
	case err != nil:
		return fmt.Errorf("the catalog cannot be written: %w", err)
	}
	schema := filepath.Join(filepath.Dir(file), schemaName)
	if err := create(schema, catalog.Schema()); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is written, the schema for editors beside it is not: %w", file, err)
	}
	return nil
}

// create writes a file that must not be there.
func create(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// started says what was written, whose keys are there, and what comes next.
func started(out io.Writer, file string) error {
	c, err := catalog.Load(file)
	if err != nil {
		return invalid(err)
	}
	var keyed, wanted []string
	for _, v := range c.Vendors {
		for i := range v.Credentials {
			if _, ok := v.Credentials[i].Secret(); ok {
				keyed = append(keyed, v.Name)
			} else if env := v.Credentials[i].Env; env != "" && len(wanted) < 3 && !slices.Contains(wanted, env) {
				wanted = append(wanted, env)
			}
		}
	}
	fmt.Fprintf(out, "%s: %s at %s\n", file, count(len(c.Models), "model"), count(len(c.Vendors), "vendor"))
	if len(keyed) > 0 {
		fmt.Fprintf(out, "keys are set for %s; the others are out of every plan\n", strings.Join(keyed, ", "))
	} else {
		fmt.Fprintf(out, "no key is set yet; export that of at least one vendor, such as %s\n", strings.Join(wanted, ", "))
	}
	_, err = fmt.Fprintf(out, "next: warmroute check %s; warmroute serve --catalog %s --data ./data\n", file, file)
	return err
}
