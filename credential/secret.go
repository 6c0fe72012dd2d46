package credential

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a value that does not print. The zero Secret is empty.
type Secret struct {
	name string
	// A pointer: fmt looks into structs on its own for %p, and for fields that are not
	// exported, and prints what it finds there.
	value *string
}

// NewSecret is the secret of the credential with that name.
func NewSecret(name, value string) Secret { return Secret{name, &value} }

// Reveal is the value. It is the one way to it: whoever calls this answers for where
// the value goes.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Name is the name of the credential.
func (s Secret) Name() string { return s.name }

// String is the name in brackets.
func (s Secret) String() string { return "[secret " + s.name + "]" }

// GoString is String, for %#v.
func (s Secret) GoString() string { return s.String() }

// Format writes String whatever the verb is.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText writes String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalBinary writes String, for gob and its like.
func (s Secret) MarshalBinary() ([]byte, error) { return []byte(s.String()), nil }

// LogValue writes String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
