package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// catalogCommands are the commands under warmroute catalog, in the order in which
// somebody meets them.
var catalogCommands = []func() *cobra.Command{
	catalogInitCommand,
	catalogShowCommand,
	catalogMatrixCommand,
	catalogImportCommand,
	catalogDiffCommand,
	catalogFmtCommand,
	catalogSchemaCommand,
}

// catalogCommand gathers what is done to a catalog rather than with it.
func catalogCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "catalog",
		Short: "Write, refresh, compare and read catalogs",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usage(errors.New("name what to do with the catalog; see warmroute catalog --help"))
		},
	}
	for _, command := range catalogCommands {
		c.AddCommand(command())
	}
	return c
}
