package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
	"go.yaml.in/yaml/v3"
)

// source is where a partition key's value is read from: a column, or the date
// of one.
type source struct {
	Key    string `json:"key"`
	Column string `json:"column"`
	Date   bool   `json:"date"`
}

var dateOf = regexp.MustCompile(`\Adate\(\s*(.+?)\s*\)\z`)

// columnMap reads `map: {dt: date(event_time), region: area}`, sorted by key.
func columnMap(r *reader, n *yaml.Node, name string) (any, bool) {
	before := len(r.problems)
	var list []source
	for _, e := range r.entries(n, name) {
		text, ok := r.fixed(e.value, e.key)
		if !ok {
			continue
		}
		s := source{Key: e.key, Column: text}
		if m := dateOf.FindStringSubmatch(text); m != nil {
			s.Column, s.Date = m[1], true
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b source) int { return strings.Compare(a.Key, b.Key) })
	return list, len(r.problems) == before
}

// partitionChecks makes one check of partition_values for each key that the
// files store or that is mapped to a column.
func (p *judgement) partitionChecks(c *Check, b *binding) []*Check {
	mapped, _ := get[[]source](c, "map")
	var list []*Check
	add := func(s source) {
		one := *c
		one.ID = fmt.Sprintf("%s(%s)", c.ID, s.Key)
		one.Columns, one.Params = []string{s.Column}, map[string]any{"source": s}
		one.FailIf = &threshold{limit: integer(0)}
		one.OnNoRows = Warn
		list = append(list, &one)
	}
	for _, s := range mapped {
		add(s)
	}
	for _, k := range p.part.Keys {
		if slices.ContainsFunc(mapped, func(s source) bool { return s.Key == k.Name }) || len(b.files) == 0 {
			continue
		}
		if path := storedKey(b.files[0].scan, k.Name); path != "" {
			add(source{Key: k.Name, Column: path})
		}
	}
	return list
}

// storedKey is the path of the top-level column with a key's name, or empty.
func storedKey(f *scan.File, name string) string {
	for _, c := range f.Columns() {
		if len(c.Path) == 1 && c.Path[0] == name {
			return c.Dotted
		}
	}
	return ""
}

func bindPartitionValue(c *Check, b *binding) (assertion, error) {
	s, _ := get[source](c, "source")
	key := b.key(s.Key)
	if key == nil {
		return nil, fmt.Errorf("the partition has no key %s", s.Key)
	}
	if key.Value == hiveNull {
		r, err := bindRows(c, b, func(leaf *scan.Column) (predicate, error) {
			return not(func(*scan.Values, int, []bool) {}), nil
		})
		if err != nil {
			return nil, err
		}
		r.takeNull, r.expected = true, "NULL, as the key says"
		return r, nil
	}
	r, err := bindRows(c, b, func(leaf *scan.Column) (predicate, error) {
		if s.Date {
			return onDate(leaf, *key, b.zone)
		}
		return keyEquals(leaf, *key)
	})
	if err != nil {
		return nil, err
	}
	r.failNull, r.expected = true, fmt.Sprintf("%s, as the key %s says", key.Value, s.Key)
	return r, nil
}

// keyEquals compares by the stored column's type: text with text byte for byte,
// numbers and dates by value, so that `hour=01` is the integer 1 and not the
// text `1`.
func keyEquals(leaf *scan.Column, key manifest.KeyValue) (predicate, error) {
	lit := literal{kind: litText, text: key.Value}
	switch classOf(leaf) {
	case boolean, signed, unsigned, wide, floating:
		switch leaf.Type.Kind {
		case scan.Date, scan.Time:
		case scan.Timestamp:
			if _, err := timeLiteral(leaf, lit); err != nil && leaf.Type.UTC {
				lit.text += "Z" // the path has no offset; engines write UTC there
			}
		default:
			plain, err := plainLiteral(key.Value)
			if err != nil {
				return nil, err
			}
			lit = plain
		}
	}
	return oneOf(leaf, []literal{lit})
}

// onDate accepts the values of one day: of an instant, the day in the file's
// time zone, UTC when it names none.
func onDate(leaf *scan.Column, key manifest.KeyValue, zone *time.Location) (predicate, error) {
	day, err := time.Parse(time.DateOnly, key.Value)
	if err != nil {
		return nil, fmt.Errorf("partition key %s: %q is not a date", key.Name, key.Value)
	}
	layout := "2006-01-02T15:04:05"
	switch {
	case leaf.Type.Kind == scan.Date:
		return keyEquals(leaf, key)
	case leaf.Type.Kind != scan.Timestamp:
		return nil, fmt.Errorf("column %s is %s, which has no date", leaf.Dotted, leaf.Type)
	case leaf.Type.UTC:
		layout = time.RFC3339
		if zone != nil {
			day = time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone)
		}
	}
	lo := literal{kind: litText, text: day.Format(layout)}
	hi := literal{kind: litText, text: day.AddDate(0, 0, 1).Format(layout)}
	return inRange(leaf, limits{lo: &lo, hi: &hi, exclusiveHi: true})
}
