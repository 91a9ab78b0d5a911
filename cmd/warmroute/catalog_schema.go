package main

import (
	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
)

func catalogSchemaCommand() *cobra.Command {
	var config bool
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of a catalog, for editors",
		Long: `Print the JSON schema (draft-07) of a catalog, or with --config that of the config file.

An editor with a YAML language server uses it where the first line of the file names it:

  warmroute catalog schema > catalog.schema.json
  # yaml-language-server: $schema=./catalog.schema.json

A running gateway serves both at /catalog.schema.json and /config.schema.json of --admin.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			schema := catalog.Schema()
			if config {
				schema = catalog.ConfigSchema()
			}
			_, err := c.OutOrStdout().Write(schema)
			return err
		},
	}
	c.Flags().BoolVar(&config, "config", false, "that of the config file")
	return c
}
