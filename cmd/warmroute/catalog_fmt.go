package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/warmroute/warmroute/catalog"
	"github.com/warmroute/warmroute/catalog/edit"
)

func catalogFmtCommand() *cobra.Command {
	var write, check bool
	c := &cobra.Command{
		Use:   "fmt CATALOG",
		Short: "Write a catalog's keys in their canonical order and spacing, with every comment",
		Long: `Write a catalog's keys in their canonical order and spacing. Comments move with
what they stand at, prices keep their text, and the catalog means what it meant;
where that cannot be kept, nothing is written. Without a flag the result goes to
standard output; a catalog named - is read from standard input.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return usage(errors.New("fmt takes one catalog: warmroute catalog fmt catalog.yaml"))
			case write && check:
				return usage(errors.New("--write changes the file and --check does not; name one of them"))
			case write && args[0] == "-":
				return usage(errors.New("standard input cannot be written to; leave --write out"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			text, err := catalogText(args[0])
			if err != nil {
				return err
			}
			formatted, err := edit.Format(args[0], text)
			var problems catalog.Problems
			switch {
			case errors.As(err, &problems) && !errors.Is(err, edit.ErrNotFormatted):
				return invalid(err)
			case err != nil:
				return err
			case check && !bytes.Equal(text, formatted):
				return fmt.Errorf("%s is not in canonical form; run warmroute catalog fmt --write %s", args[0], args[0])
			case check:
				return nil
			case write && bytes.Equal(text, formatted):
				return nil
			case write:
				return replaceFile(args[0], text, formatted)
			}
			_, err = c.OutOrStdout().Write(formatted)
			return err
		},
	}
	c.Flags().BoolVar(&write, "write", false, "write the result to the file")
	c.Flags().BoolVar(&check, "check", false, "write nothing; exit with 1 if the file is not in canonical form")
	return c
}

// replaceFile puts a text in the place of a file's, all at once: whoever reads the
// file, such as a gateway that watches it, finds the old text or the new one. The
// file keeps its mode; of a link, what it leads to is replaced. A file that is no
// longer what was read is somebody else's edit, and left alone.
func replaceFile(path string, was, text []byte) (err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, was) {
		return fmt.Errorf("%s was changed meanwhile and is left as it is; run the command again", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(text); err != nil {
		return err
	}
	if err = f.Chmod(info.Mode().Perm()); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
