package catalog

import (
	_ "embed"
	"slices"
)

//go:generate go test . -run TestTheSchemasAreThoseOfTheShapes -update

//go:embed catalog.schema.json
var catalogSchema []byte

//go:embed config.schema.json
var configSchema []byte

// Schema is the JSON schema (draft-07) of a catalog file, for editors. It never
// refuses what [Parse] accepts; Parse sees more mistakes than a schema can.
func Schema() []byte { return slices.Clone(catalogSchema) }

// ConfigSchema is the JSON schema (draft-07) of a config file. It never refuses
// what [ParseConfig] accepts.
func ConfigSchema() []byte { return slices.Clone(configSchema) }
