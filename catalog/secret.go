package catalog

import (
	"fmt"
	"log/slog"
)

// Secret is a key that no format verb, encoder or logger prints.
//
// The zero Secret is empty. Two secrets are compared by what they reveal, not
// with ==.
type Secret struct {
	// A pointer, because fmt prints what lies in unexported fields without
	// asking their methods, and of a pointer prints only the address.
	text *string
}

// NewSecret wraps a key.
func NewSecret(text string) Secret { return Secret{&text} }

// Reveal is the key itself, for the one place that sends it to its vendor.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

const hidden = "***"

// String hides the key.
func (s Secret) String() string { return hidden }

// Format hides the key from every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText hides the key from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue hides the key from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
