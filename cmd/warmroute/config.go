package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/warmroute/warmroute/catalog"
)

// readConfig reads the configuration file into s, behind what flags and
// environment have set already: flag before environment before file before
// default. Without a file s.config is the zero one.
func (s *settings) readConfig(flags *pflag.FlagSet) error {
	s.config = &catalog.Config{}
	if s.Config == "" {
		return nil
	}
	c, err := catalog.LoadConfig(s.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return notFound(fmt.Errorf("there is no configuration file at %s", s.Config))
	}
	if err != nil {
		return invalid(err)
	}
	s.config = c
	behind(flags, "listen", c.Listen, same)
	behind(flags, "admin", c.Admin, same)
	behind(flags, "data", c.Data, same)
	behind(flags, "catalog", c.Catalog, same)
	behind(flags, "open", c.Open, strconv.FormatBool)
	behind(flags, "log-level", c.LogLevel, same)
	behind(flags, "metadata", c.Metadata, same)
	behind(flags, "affinity", c.Affinity.Enabled, strconv.FormatBool)
	behind(flags, "drain", c.Timeouts.Drain, time.Duration.String)
	return nil
}

func same(text string) string { return text }

// behind gives a flag that was not set the value of the file. The file has been
// checked, so a flag cannot refuse it.
func behind[T any](flags *pflag.FlagSet, name string, value catalog.Setting[T], text func(T) string) {
	v, ok := value.Get()
	f := flags.Lookup(name)
	if !ok || f == nil || f.Changed {
		return
	}
	_ = f.Value.Set(text(v))
}
