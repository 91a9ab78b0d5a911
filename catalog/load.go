package catalog

import (
	"errors"
	"fmt"
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
	text, err := readRegular(path, MaxSize)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("catalog %s does not exist: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("catalog cannot be read: %w", err)
	}
	c, err := ParseKeys(path, text, keys)
	if err != nil {
		return nil, err
	}
	c.loaded = time.Now()
	return c, nil
}
