package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wap-cli/wap/manifest"
	"go.yaml.in/yaml/v3"
)

// The axes along which states are compared.
const (
	AxisPartitions = "partitions" // other partitions of the table, by date
	AxisHistory    = "history"    // earlier states of the same partition
	AxisLive       = "live"       // what readers see of the same partition
)

// Baseline says which published states a partition is compared with. It is
// stored with the evidence, and asked again before the publish: the answer must
// be the same.
type Baseline struct {
	Axis string `json:"axis"`
	// Limit is how many states are wanted at most.
	Limit int64 `json:"limit"`
	// Weekday keeps to partitions of the judged one's day of the week.
	Weekday bool `json:"weekday"`
	// Any takes every partition of the table, later ones too.
	Any bool `json:"any"`
}

// Choose picks, on the axis of partitions, what own is compared with: of those
// whose other keys are the same, the ones before it by the first key that is a
// date, the newest first. It never picks own itself.
func (b Baseline) Choose(own manifest.Partition, list []manifest.Partition) []manifest.Partition {
	type dated struct {
		manifest.Partition
		at time.Time
	}
	key := DateKey(own)
	var today time.Time
	if key >= 0 {
		today, _ = parseDate(own.Keys[key].Value)
	}
	var found []dated
	for _, p := range list {
		d := dated{Partition: p}
		if p.Path == own.Path || p.Table != own.Table {
			continue
		}
		if key >= 0 && key < len(p.Keys) {
			d.at, _ = parseDate(p.Keys[key].Value)
		}
		earlier := key >= 0 && !d.at.IsZero() && d.at.Before(today) && sameOtherKeys(own, p, key) &&
			(!b.Weekday || d.at.Weekday() == today.Weekday())
		if b.Any || earlier {
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(x, y dated) int { return cmp.Or(y.at.Compare(x.at), cmp.Compare(y.Path, x.Path)) })
	var out []manifest.Partition
	for _, d := range found[:min(len(found), int(b.Limit))] {
		out = append(out, d.Partition)
	}
	return out
}

func sameOtherKeys(a, b manifest.Partition, key int) bool {
	if len(a.Keys) != len(b.Keys) {
		return false
	}
	for i := range a.Keys {
		if a.Keys[i].Name != b.Keys[i].Name || i != key && a.Keys[i].Value != b.Keys[i].Value {
			return false
		}
	}
	return true
}

// DateKey is the index of the first key whose value is a date or a time, or -1.
func DateKey(p manifest.Partition) int {
	return slices.IndexFunc(p.Keys, func(k manifest.KeyValue) bool {
		_, ok := parseDate(k.Value)
		return ok
	})
}

// parseDate reads the forms that folders of a day, an hour or a month are named by.
// A bare year is a number like any other.
func parseDate(value string) (time.Time, bool) {
	for _, layout := range []string{
		time.DateOnly, "20060102", "2006-01", "2006-01-02T15", "2006-01-02-15", "2006-01-02 15:04:05",
		"2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339,
	} {
		if at, err := time.Parse(layout, value); err == nil && at.Year() >= 1900 {
			return at, true
		}
	}
	return time.Time{}, false
}

// baselineRule is how one number is made of several states.
type baselineRule struct {
	kind string // previous, median or same_weekday
	n    int64
}

var baselineText = regexp.MustCompile(`\A(median|same_weekday)\(\s*([0-9]{1,4})\s*\)\z`)

func baselineOf(r *reader, n *yaml.Node, name string) (any, bool) {
	text, ok := r.fixed(n, name)
	if !ok {
		return nil, false
	}
	if text == "previous" {
		return baselineRule{kind: text, n: 1}, true
	}
	if m := baselineText.FindStringSubmatch(text); m != nil {
		if count, _ := strconv.ParseInt(m[2], 10, 64); count > 0 {
			return baselineRule{kind: m[1], n: count}, true
		}
	}
	word, _, _ := strings.Cut(text, "(")
	hint := suggestion(word, []string{"previous", "median", "same_weekday"})
	if hint == "" || word == "median" || word == "same_weekday" {
		hint = "N is how many states, like median(7) or same_weekday(4)"
	}
	r.failHint(n, hint, "%s is previous, median(N) or same_weekday(N), not %q", name, text)
	return nil, false
}

func (b baselineRule) String() string {
	if b.kind == "previous" {
		return b.kind
	}
	return fmt.Sprintf("%s(%d)", b.kind, b.n)
}

// MarshalJSON writes the text.
func (b baselineRule) MarshalJSON() ([]byte, error) { return json.Marshal(b.String()) }
