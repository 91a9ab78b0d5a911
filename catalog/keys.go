package catalog

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Keys looks up the key of a credential; ok is false where there is none.
//
// Blank keys count as missing, and what it returns is trimmed of white space by
// the caller. It is called while a catalog is read, never while one is used.
type Keys func(c Credential) (key string, ok bool)

// maxKey is the longest key that is taken from a file, in bytes.
const maxKey = 64 << 10

// Environment is the look-up of [Load]: environment variables, and files whose
// relative names count from dir.
func Environment(dir string) Keys {
	return func(c Credential) (string, bool) {
		if c.Env != "" {
			return os.LookupEnv(c.Env)
		}
		path := c.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		text, err := readRegular(path, maxKey)
		return string(text), err == nil
	}
}

// openRegular opens a regular file. A pipe or a device is refused: reading one
// could wait for ever.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return os.Open(path)
}

// readRegular reads a whole regular file of at most limit bytes.
func readRegular(path string, limit int64) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return text, nil
}

// find looks a credential's key up; fault says why it has none.
func (k Keys) find(c Credential) (secret Secret, fault string) {
	key, ok := k(c)
	key = strings.TrimSpace(key)
	switch {
	case ok && key != "" && isHeaderValue(key):
		return NewSecret(key), ""
	case ok && key != "":
		return Secret{}, "holds more than one line, or characters that no header can carry"
	case c.Env != "":
		return Secret{}, "is not set, or blank"
	}
	return Secret{}, "cannot be read, or is blank"
}

// isEnvName says whether text names an environment variable.
func isEnvName(text string) bool {
	for i, c := range []byte(text) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != "" && len(text) <= 128
}

// showEnv names a variable in a warning, unless it looks as if the key itself
// had been put there.
func showEnv(name string) string {
	if len(name) > 64 || name != strings.ToUpper(name) || mayBeKey(name) {
		return "the environment variable named here"
	}
	return "environment variable " + name
}

// showFile names a key file in a message, unless it does not look like a path.
func showFile(name string) string {
	if looksLikeKey(name) || !strings.ContainsAny(name, "./") || mayBeKey(name) && !strings.Contains(name, "/") {
		return "the key file named here"
	}
	return "key file " + quote(name)
}
