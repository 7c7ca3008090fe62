package manifest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

const (
	// maxSize bounds what is decoded, in bytes: a manifest of half a million
	// files fits, memory does not run out over a foreign object.
	maxSize = 512 << 20
	// maxDepth bounds how deep objects and lists nest.
	maxDepth = 64
)

// FormatError says that bytes are not the canonical form of a valid object.
type FormatError struct {
	Path   string // of the field, e.g. files[3].rows; empty for the whole
	Offset int    // in bytes; -1 where the rule is not about one place
	Reason string
}

func (e *FormatError) Error() string {
	s := "invalid object"
	if e.Path != "" {
		s += ": field " + e.Path
	}
	if e.Offset >= 0 {
		s += fmt.Sprintf(" at byte %d", e.Offset)
	}
	return s + ": " + e.Reason
}

// NewerFormatError says that an object was written in a format that this
// version does not know.
type NewerFormatError struct {
	Have int64 // the object's
	Max  int64 // the newest that this version reads
}

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("format %d is newer than %d, the newest this version reads", e.Have, e.Max)
}

// Encode returns v as canonical JSON: names sorted by their bytes, no
// insignificant space, the fewest escapes, integers within ±2^53, times in UTC
// as RFC 3339 with as many digits as they need, a nil slice as [], a nil
// pointer as null, embedded structs flattened, one newline at the end. Tags are
// those of encoding/json with at most omitempty.
//
// Floats, maps, interfaces, arrays, bytes, and text that is not UTF-8 are
// errors, and so is what v's Validate method refuses, if it has one: nothing is
// stored that no reader would accept.
func Encode(v any) ([]byte, error) {
	rv := reflect.ValueOf(v)
	if !rv.IsValid() {
		return nil, errors.New("encode object: nil")
	}
	if err := validate(rv); err != nil {
		return nil, fmt.Errorf("encode %s: %w", rv.Type(), err)
	}
	return encode(rv)
}

// validate calls the Validate method of v or of a pointer to it.
func validate(v reflect.Value) error {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	if v.Kind() != reflect.Pointer {
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		v = p
	}
	if o, ok := v.Interface().(interface{ Validate() error }); ok {
		return o.Validate()
	}
	return nil
}

// usualSize is room for most objects.
const usualSize = 1024

// encode is Encode without Validate.
func encode(rv reflect.Value) ([]byte, error) { return encodeSized(rv, usualSize) }

// encodeSized is encode for an object of which the size is known, or nearly.
func encodeSized(rv reflect.Value, size int) ([]byte, error) {
	e := &encoder{layouts: layouts{}, buf: make([]byte, 0, size)}
	if err := e.value(rv, nil); err != nil {
		return nil, fmt.Errorf("encode %s: %w", rv.Type(), err)
	}
	return append(e.buf, '\n'), nil
}

// Decode sets what v points to from data and calls its Validate method, if it
// has one. Data must be exactly what Encode gives for the result: every field
// there once under its exact name, none unknown but extensions (see
// [Extensions]). An empty list becomes a nil slice. Errors are a *FormatError,
// a *NewerFormatError, or about v's type; *v is then unchanged.
func Decode(data []byte, v any) error {
	pv := reflect.ValueOf(v)
	if pv.Kind() != reflect.Pointer || pv.IsNil() {
		return fmt.Errorf("decode object: %T is not a pointer to one", v)
	}
	fresh := reflect.New(pv.Type().Elem())
	if err := decodeExactly(data, fresh.Elem()); err != nil {
		if newer := newerFormat(data, fresh.Elem().Type()); newer != nil {
			return newer
		}
		return err
	}
	if err := validate(fresh); err != nil {
		return err
	}
	pv.Elem().Set(fresh.Elem())
	return nil
}

// decodeExactly is Decode without Validate, into a zero value.
func decodeExactly(data []byte, v reflect.Value) error {
	if len(data) > maxSize {
		return &FormatError{Offset: maxSize, Reason: fmt.Sprintf("longer than %d bytes", maxSize)}
	}
	d := &decoder{data: data, layouts: layouts{}}
	if err := d.document(v); err != nil {
		return err
	}
	// The decoder knows the grammar; that the spelling is the one of Encode
	// (escapes, omitted empty fields) is left to Encode itself.
	again, err := encodeSized(v, len(data))
	if err != nil {
		return &FormatError{Offset: -1, Reason: err.Error()}
	}
	if !bytes.Equal(again, data) {
		return &FormatError{Offset: firstDifference(again, data), Reason: "not in canonical form"}
	}
	return nil
}

func firstDifference(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// newerFormat tells an object of a later version, whose new fields are errors
// to this one, from a broken one; nil where it is not that.
func newerFormat(data []byte, t reflect.Type) error {
	if t.Kind() != reflect.Struct {
		return nil
	}
	if _, ok := t.FieldByName("Format"); !ok {
		return nil
	}
	var head struct {
		Format int64 `json:"format"`
	}
	if json.Unmarshal(data, &head) != nil || head.Format <= Format {
		return nil
	}
	return &NewerFormatError{Have: head.Format, Max: Format}
}

// SHA256Hex returns the SHA-256 of data as 64 lower-case hex digits.
func SHA256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
