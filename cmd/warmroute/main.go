// Command warmroute routes LLM traffic to the vendor whose prompt cache is
// warm, while that is the cheapest thing to do.
//
// Each command is a file; serve.go is the wiring, keep.go what outlives a turn,
// config.go what a file may set. Exit codes: 0 ok,
// 1 failed, 2 usage, 3 configuration or catalog invalid, 4 not found.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	_ "time/tzdata" // price windows name time zones; the machine may have none

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/warmroute/warmroute/catalog"
)

// version is set when the binary is built.
var version = "dev"

// The exit codes of design section 9.
const (
	exitFailed   = 1
	exitUsage    = 2
	exitInvalid  = 3
	exitNotFound = 4
)

// coded is an error with the exit code it deserves. A nil err says that
// everything has been said already.
type coded struct {
	code int
	err  error
}

func (c coded) Error() string {
	if c.err == nil {
		return ""
	}
	return c.err.Error()
}

func (c coded) Unwrap() error { return c.err }

func invalid(err error) error  { return coded{exitInvalid, err} }
func notFound(err error) error { return coded{exitNotFound, err} }
func usage(err error) error    { return coded{exitUsage, err} }

func main() {
	os.Exit(run(context.Background(), os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	root := &cobra.Command{
		Use:           "warmroute",
		Version:       version,
		Short:         "Route LLM traffic to the vendor whose prompt cache is warm, while that is cheapest",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usage(fmt.Errorf("unknown command %q%s; see warmroute --help", args[0], nearCommand(c, args[0])))
		},
		RunE: func(c *cobra.Command, _ []string) error {
			return usage(errors.New("name a command; see warmroute --help"))
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w%s; see %s --help", err, nearFlag(c, err), c.CommandPath()))
	})
	root.AddCommand(serveCommand(), demoCommand(), checkCommand(), explainCommand(), catalogCommand(), healthcheckCommand(), versionCommand(), probeCommand())
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(os.Stderr, "warmroute:", text)
	}
	var c coded
	if errors.As(err, &c) {
		return c.code
	}
	return exitFailedOr(err)
}

// nearCommand is " (did you mean …?)" where a command is like a word.
func nearCommand(c *cobra.Command, word string) string {
	var names []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return meant(word, names, "")
}

// nearFlag is the same for the flag that an error is about.
func nearFlag(c *cobra.Command, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return meant(unknown.GetSpecifiedName(), names, "--")
}

func meant(word string, known []string, before string) string {
	if near, ok := catalog.Nearest(word, known); ok && len(word) > 1 {
		return fmt.Sprintf(" (did you mean %s%s?)", before, near)
	}
	return ""
}

// exitFailedOr tells cobra's own complaints about the command line from failures.
func exitFailedOr(err error) int {
	for _, sign := range []string{"unknown command", "accepts ", "requires at least", "required flag"} {
		if strings.HasPrefix(err.Error(), sign) {
			return exitUsage
		}
	}
	return exitFailed
}

// fromEnvironment gives each flag that was not set the value of its environment
// variable, WARMROUTE_ and its name in capitals: flag before environment before
// default. Where some are named, only they have one.
func fromEnvironment(flags *pflag.FlagSet, only ...string) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || failed != nil || len(only) > 0 && !slices.Contains(only, f.Name) {
			return
		}
		name := variable(f.Name)
		if text, ok := os.LookupEnv(name); ok {
			if err := flags.Set(f.Name, text); err != nil {
				failed = usage(fmt.Errorf("%s: %w", name, err))
			}
		}
	})
	return failed
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "WARMROUTE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// strays are the environment's variables that look like one of a flag's and are not:
// each with the one that was probably meant.
func strays(flags *pflag.FlagSet, environment []string) (names, meant []string) {
	var known []string
	flags.VisitAll(func(f *pflag.Flag) { known = append(known, variable(f.Name)) })
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "WARMROUTE_") || slices.Contains(known, name) {
			continue
		}
		if near, ok := catalog.Nearest(name, known); ok {
			names, meant = append(names, name), append(meant, near)
		}
	}
	return names, meant
}
