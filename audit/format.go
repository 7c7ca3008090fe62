package audit

import (
	"encoding/json"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wap-cli/wap/audit/scan"
)

// formatKinds judge how single texts are written.
func formatKinds() []*kind {
	return []*kind{
		{
			name: "format", columns: eachColumn, rows: true, nulls: skipOrFail(), scalar: "format",
			params: []param{{name: "format", required: true, read: word(formatNames()...)}},
			bind:   bindFormat,
		},
		{
			name: "not_empty_string", columns: eachColumn, rows: true, nulls: skipOrFail(),
			list: "columns", scalar: "columns", bind: bindNotEmptyString,
		},
	}
}

func formatNames() []string {
	return []string{"email", "uuid", "ipv4", "ipv6", "date", "timestamp", "json"}
}

var (
	// An address as mail servers take it without quotes, with a domain of two
	// labels or more.
	emailText = regexp.MustCompile(`\A[A-Za-z0-9!#$%&'*+/=?^_{|}~` + "`" + `-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_{|}~` + "`" + `-]+)*` +
		`@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\z`)
	uuidText = regexp.MustCompile(`\A[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\z`)
)

// hasFormat returns the test of a format.
func hasFormat(name string) func([]byte) bool {
	address := func(b []byte) netip.Addr {
		a, err := netip.ParseAddr(string(b))
		if err != nil || a.Zone() != "" {
			return netip.Addr{}
		}
		return a
	}
	switch name {
	case "email":
		return func(b []byte) bool { return len(b) <= 254 && emailText.Match(b) }
	case "uuid":
		return uuidText.Match
	case "ipv4":
		return func(b []byte) bool { return address(b).Is4() }
	case "ipv6":
		return func(b []byte) bool { return address(b).Is6() }
	case "date":
		return func(b []byte) bool { return isTime(string(b), time.DateOnly) }
	case "timestamp":
		return func(b []byte) bool {
			return isTime(strings.Replace(string(b), " ", "T", 1), time.RFC3339, "2006-01-02T15:04:05")
		}
	}
	return json.Valid
}

func isTime(text string, layouts ...string) bool {
	return slices.ContainsFunc(layouts, func(layout string) bool {
		_, err := time.Parse(layout, text)
		return err == nil
	})
}

func bindFormat(c *Check, b *binding) (assertion, error) {
	name, _ := get[string](c, "format")
	good := hasFormat(name)
	r, err := bindRows(c, b, func(leaf *scan.Column) (predicate, error) {
		if err := wantText(leaf); err != nil {
			return nil, err
		}
		return func(v *scan.Values, n int, bad []bool) {
			for i := range n {
				bad[i] = !good(v.Bytes.At(i))
			}
		}, nil
	})
	if err != nil {
		return nil, err
	}
	r.expected = "written as " + name
	return r, nil
}

func bindNotEmptyString(c *Check, b *binding) (assertion, error) {
	r, err := bindRows(c, b, func(leaf *scan.Column) (predicate, error) {
		if err := wantText(leaf); err != nil {
			return nil, err
		}
		return func(v *scan.Values, n int, bad []bool) {
			for i := range n {
				bad[i] = len(v.Bytes.At(i)) == 0
			}
		}, nil
	})
	if err != nil {
		return nil, err
	}
	r.expected = "at least one character"
	return r, nil
}
