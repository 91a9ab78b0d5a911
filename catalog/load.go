package catalog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Load reads a catalog file and the keys of its credentials: environment
// variables, and files whose relative names count from the catalog's folder.
//
// The error is [Problems] where the file could be read, and says why it could
// not otherwise. A credential without a key is a warning.
func Load(path string) (*Catalog, error) {
	return LoadKeys(path, Environment(filepath.Dir(path)))
}

// LoadKeys is [Load] with another look-up for keys. A [Live] catalog goes on
// using it.
func LoadKeys(path string, keys Keys) (*Catalog, error) {
	c, err := loadFile("catalog", path, func(from io.Reader) (*Catalog, error) { return ParseFrom(path, from, keys) })
	if err != nil {
		return nil, err
	}
	c.loaded = time.Now()
	return c, nil
}

// loadFile opens a regular file and has it parsed.
func loadFile[T any](what, path string, parse func(io.Reader) (*T, error)) (*T, error) {
	f, err := openRegular(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s %s does not exist: %w", what, path, err)
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", what, err)
	}
	defer f.Close()
	return parse(f)
}
