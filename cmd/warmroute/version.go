package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if output == "json" {
				return json.NewEncoder(c.OutOrStdout()).Encode(map[string]string{"version": version, "go": runtime.Version()})
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "warmroute %s %s\n", version, runtime.Version())
			return err
		},
	}
	outputFlag(c, &output)
	return c
}

// commit is the revision the binary was built from, as far as the build noted it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value
		}
	}
	return ""
}

// outputFlag adds -o, which is text or json.
func outputFlag(c *cobra.Command, output *string) {
	c.Flags().StringVarP(output, "output", "o", "text", "text or json")
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if *output != "text" && *output != "json" {
			return usage(fmt.Errorf("-o %s: say text or json", *output))
		}
		if before != nil {
			return before(c, args)
		}
		return nil
	}
}
