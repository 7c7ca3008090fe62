package audit

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/wap-cli/wap/manifest"
)

// declared reads a control file. It is a JSON object of metrics by their names,
// as numbers or texts,
//
//	{"row_count": 1200, "sum(amount)": "74558.50"}
//
// or, for `by`, of groups, each with the columns that name it (null: NULL)
//
//	{"groups": [{"region": "eu", "row_count": 700, "sum(amount)": "5.50"}]}
//
// or of either for each partition of the run,
//
//	{"partitions": {"orders/dt=2025-03-05": {"row_count": 1200}}}
//
// Where several tasks wrote one, what can be added up is.
func (r *reconcile) declared(name, path string, controls []manifest.Control) (*theirs, error) {
	d := &declaration{of: r, name: name, out: &theirs{
		groups: map[string][]amount{}, values: map[string][]Value{}, at: map[string]Sample{},
	}}
	lines := d.ofPartition(path, controls)
	if lines == nil {
		return nil, dataFailure("control file %s declares nothing for partition %s", name, path)
	}
	if len(r.by) == 0 {
		for _, task := range tasksOf(lines) {
			if err := d.add("", nil, task); err != nil {
				return nil, err
			}
		}
		return d.out, nil
	}
	for _, task := range tasksOf(lines) {
		if err := d.groups(task); err != nil {
			return nil, err
		}
	}
	if len(d.out.groups) == 0 {
		return nil, dataFailure("control file %s declares no groups: it needs {\"groups\": [{\"%s\": …, \"%s\": …}]}", name, r.by[0], r.metrics[0])
	}
	return d.out, nil
}

type declaration struct {
	of   *reconcile
	name string
	out  *theirs
}

// ofPartition picks what is about a partition: its own section, or everything
// where the file has no sections. Nil: nothing is.
func (d *declaration) ofPartition(path string, controls []manifest.Control) []manifest.Control {
	sections := slices.ContainsFunc(controls, func(c manifest.Control) bool { return strings.HasPrefix(c.Name, "partitions.") })
	if !sections {
		return controls
	}
	var out []manifest.Control
	for _, c := range controls {
		if rest, ok := strings.CutPrefix(c.Name, "partitions."+path+"."); ok {
			c.Name = rest
			out = append(out, c)
		}
	}
	return out
}

// tasksOf splits lines by the task that wrote them, in order.
func tasksOf(lines []manifest.Control) [][]manifest.Control {
	var out [][]manifest.Control
	for i, c := range lines {
		if i == 0 || c.Task != lines[i-1].Task {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}

// groups reads the list `groups` of one task.
func (d *declaration) groups(lines []manifest.Control) error {
	byIndex := map[string][]manifest.Control{}
	var order []string
	for _, c := range lines {
		rest, ok := strings.CutPrefix(c.Name, "groups.")
		index, name, more := strings.Cut(rest, ".")
		if !ok || !more {
			continue
		}
		if byIndex[index] == nil {
			order = append(order, index)
		}
		c.Name = name
		byIndex[index] = append(byIndex[index], c)
	}
	seen := map[string]string{}
	for _, index := range order {
		var key []byte
		var values []Value
		for i, column := range d.of.by {
			value, known := find(byIndex[index], column)
			known = known && value != "null"
			if plain, err := strconv.Unquote(value); err == nil && strings.HasPrefix(value, `"`) {
				value = plain
			}
			// As appendGroupKey does: a text is itself.
			text := i < len(d.of.leaves) && classOf(d.of.leaves[i]) == texts
			if n, err := parseNumber(value); err == nil && !text {
				value = n.String()
			}
			key = appendGroupText(key, value, !known)
			values = append(values, Value{Column: column, Text: value, Null: !known})
		}
		if first, twice := seen[string(key)]; twice {
			return dataFailure("control file %s declares one group twice, at %s and %s", d.name, first, index)
		}
		seen[string(key)] = index
		if err := d.add(string(key), values, byIndex[index]); err != nil {
			return err
		}
		row := new(big.Int)
		row.SetString(index, 10)
		d.out.at[string(key)] = Sample{File: d.name, Row: row.Int64()}
	}
	return nil
}

func find(lines []manifest.Control, name string) (string, bool) {
	for _, c := range lines {
		if c.Name == name {
			return c.Value, true
		}
	}
	return "", false
}

// add takes the metrics of one group in.
func (d *declaration) add(key string, values []Value, lines []manifest.Control) error {
	have := d.out.groups[key]
	var now []amount
	for k, m := range d.of.metrics {
		text, ok := find(lines, m.String())
		if !ok {
			return dataFailure("control file %s declares no %s%s", d.name, m, declares(lines))
		}
		n, err := parseNumber(text)
		if err != nil {
			return dataFailure("control file %s: %s is %q, which is no number", d.name, m, text)
		}
		a := amount{exact: n.rat(), text: n.String()}
		if have != nil {
			if m.kind == "count_distinct" {
				return dataFailure("control file %s: several tasks declare %s, which does not add up", d.name, m)
			}
			a.exact.Add(a.exact, have[k].exact)
			a.text = ratText(a.exact)
		}
		now = append(now, a)
	}
	d.out.groups[key], d.out.values[key] = now, values
	return nil
}

// declares lists what is there instead.
func declares(lines []manifest.Control) string {
	var names []string
	for _, c := range lines {
		names = append(names, c.Name)
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > 5 {
		names, more = names[:5], " …"
	}
	return fmt.Sprintf(", only %s%s", strings.Join(names, ", "), more)
}
