package main

import (
	"bytes"
	"testing"

	"github.com/warmroute/warmroute/catalog"
)

func TestCatalogSchemaPrintsWhatEditorsNeed(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []byte
	}{{nil, catalog.Schema()}, {[]string{"--config"}, catalog.ConfigSchema()}} {
		var out bytes.Buffer
		command := catalogSchemaCommand()
		command.SetOut(&out)
		command.SetArgs(c.args)
		if err := command.Execute(); err != nil || !bytes.Equal(out.Bytes(), c.want) {
			t.Errorf("%v: %v, %d bytes", c.args, err, out.Len())
		}
	}
}
