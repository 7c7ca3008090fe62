package manifest

import "fmt"

// Ref names an immutable object and the SHA-256 of its bytes, 64 hex digits.
type Ref struct {
	Key    string `json:"key"` // relative to the warehouse
	SHA256 string `json:"sha256"`
}

// IsZero reports whether r names nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// Check returns a *ChecksumError unless r names exactly data.
func (r Ref) Check(data []byte) error {
	if got := SHA256Hex(data); got != r.SHA256 {
		return &ChecksumError{Key: r.Key, Want: r.SHA256, Got: got}
	}
	return nil
}

// ChecksumError says that an object does not hold the bytes it was named for.
type ChecksumError struct {
	Key  string
	Want string // SHA-256, hex
	Got  string
}

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("object %q has SHA-256 %s, its reference says %s", e.Key, e.Got, e.Want)
}

// Totals are what a partition, a folder or a warehouse holds.
type Totals struct {
	Files int64 `json:"files"`
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
}

// Add returns the sum of both.
func (t Totals) Add(o Totals) Totals {
	return Totals{t.Files + o.Files, t.Rows + o.Rows, t.Bytes + o.Bytes}
}
