package manifest

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzDecode gives arbitrary bytes to every type: what is accepted is exactly
// what Encode makes of it.
func FuzzDecode(f *testing.F) {
	types := allStored()
	for i, s := range types {
		data, err := Encode(s.sample(f))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), data)
		f.Add(uint8(i), annotate(f, data))
	}
	f.Fuzz(func(t *testing.T, i uint8, data []byte) {
		s := types[int(i)%len(types)]
		v := s.empty()
		if err := decodeExactly(data, reflect.ValueOf(v).Elem()); err != nil {
			if Decode(data, s.empty()) == nil {
				t.Fatal("Decode accepts what has no exact form")
			}
			return
		}
		again, err := encode(reflect.ValueOf(v))
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%q decodes to %+v, which encodes to %q, %v", data, v, again, err)
		}
		// The rules meet odd values: they may refuse them, and nothing else.
		if valid := s.empty(); Decode(data, valid) == nil && !reflect.DeepEqual(valid, v) {
			t.Fatalf("Decode gives %+v, want %+v", valid, v)
		}
	})
}

// FuzzInverse fills every type with random values: they come back the same.
func FuzzInverse(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		for _, s := range allStored() {
			v := s.empty()
			fill(r, reflect.ValueOf(v).Elem())
			data, err := encode(reflect.ValueOf(v))
			if err != nil {
				t.Fatalf("%s: %v", s.name, err)
			}
			for _, form := range [][]byte{data, annotate(t, data)} {
				back := s.empty()
				if err := decodeExactly(form, reflect.ValueOf(back).Elem()); err != nil {
					t.Fatalf("%s: %v in %s", s.name, err, form)
				}
				if again, err := encode(reflect.ValueOf(back)); err != nil || !bytes.Equal(again, form) {
					t.Fatalf("%s: %s, %v, want %s", s.name, again, err, form)
				}
				if &form[0] == &data[0] && !reflect.DeepEqual(back, v) {
					t.Fatalf("%s: decoded %+v, want %+v", s.name, back, v)
				}
			}
		}
	})
}

// fill sets v, which is zero, to random values that have a canonical form.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int64:
		v.SetInt((r.Int64N(2*maxInteger+1) - maxInteger) >> r.IntN(54))
	case reflect.String:
		v.SetString(randomText(r))
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(r, v.Index(i))
			}
		}
	case reflect.Struct:
		switch v.Type() {
		case reflect.TypeFor[time.Time]():
			v.Set(reflect.ValueOf(time.Unix(r.Int64N(1<<35), r.Int64N(1e9)).UTC()))
		case reflect.TypeFor[Extensions]():
		default:
			for i := range v.NumField() {
				fill(r, v.Field(i))
			}
		}
	default:
		panic(v.Kind())
	}
}

func randomText(r *rand.Rand) string {
	const runes = "aZ09._-~%=/@*: \"\\<>&\x00\n\t\x1f\x7fäß€\u2029\ufffd😀"
	all := []rune(runes)
	text := make([]rune, r.IntN(12))
	for i := range text {
		text[i] = all[r.IntN(len(all))]
	}
	return string(text)
}

// FuzzPartition: what parses prints as itself, and stays what it is.
func FuzzPartition(f *testing.F) {
	for _, s := range []string{"customers", "a/b/dt=2025-03-05/region=eu", "t/at=10:30", "t/k=%3a%2A%40", "t/k=a=b", "t/ü k=%C3%BC", "t/k=*", "../t", "t/k=%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePartition(s)
		if err != nil {
			return
		}
		again, err := ParsePartition(p.Path)
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%q is %+v, its path is %+v, %v", s, p, again, err)
		}
		if err := p.rule("p")(); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		for _, c := range p.Components() {
			if err := isComponent("c", c)(); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
		}
		if key, err := CleanKey(p.Path); err != nil || key != p.Path {
			t.Fatalf("%q is no clean key: %q, %v", p.Path, key, err)
		}
		ref, err := ParsePathRef(p.Path + "@7")
		if err != nil || ref.Path != p.Path || ref.Ref != "7" {
			t.Fatalf("%q@7 is %+v, %v", p.Path, ref, err)
		}
		scope, err := ParseScope([]string{p.Path})
		if err != nil || !scope.Contains(p) {
			t.Fatalf("%q is not in its own scope: %v", p.Path, err)
		}
		if single, ok := scope.Single(); !ok || !reflect.DeepEqual(single, p) {
			t.Fatalf("%q: its scope's partition is %+v", p.Path, single)
		}
	})
}

// FuzzEscape: escaping loses nothing, and adds nothing that a path would split at.
func FuzzEscape(f *testing.F) {
	f.Add("a b/c=d%25@*\u0085\n")
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			return
		}
		escaped := EscapeValue(s)
		back, err := UnescapeValue(escaped)
		if err != nil || back != s {
			t.Fatalf("%q is escaped %q and comes back %q, %v", s, escaped, back, err)
		}
		if invalidText(escaped) >= 0 || strings.ContainsAny(escaped, "/=@* ") {
			t.Fatalf("%q is escaped %q", s, escaped)
		}
	})
}

// FuzzSlug: two names never share a slug, and a slug is safe in a key.
func FuzzSlug(f *testing.F) {
	f.Add("orders/2025-03-05", "orders~2F2025-03-05")
	f.Add("_run", ".run")
	f.Fuzz(func(t *testing.T, a, b string) {
		slug := Slug(a)
		if a != b && slug == Slug(b) {
			t.Fatalf("%q and %q have the slug %q", a, b, slug)
		}
		if len(slug) > maxSlug+1+slugDigest || slug == "" || slug[0] == '.' || slug[0] == '_' {
			t.Fatalf("slug %q of %q", slug, a)
		}
		for i := range len(slug) {
			if c := slug[i]; !isNameByte(c) && c != '~' {
				t.Fatalf("slug %q of %q", slug, a)
			}
		}
	})
}
