package main

import (
	"fmt"
	"strings"
)

// dataset is a set of files with the roles that their columns play.
type dataset struct {
	name string
	path string // a file or a folder
	glob string // the same for DuckDB

	intKey, textKey []string
	nulls           [2]string
	sum             string
	ranged          string
	from, to        string
	listed          string
	accepted        []string
	wide            []string // four columns for not_null; empty: not asked
	// alone: whether the text key is unique is all that is asked, and of wap only.
	alone bool
}

// orders is what all data sets made here have in common.
func orders(name, path string) dataset {
	return dataset{
		name: name, path: path, glob: path,
		intKey: []string{"id"}, textKey: []string{"key"}, nulls: [2]string{"score", "note"}, sum: "amount",
		ranged: "ts", from: "2025-01-01T00:00:00", to: "2025-12-01T00:00:00",
		listed: "status", accepted: []string{"placed", "shipped", "returned", "cancelled"},
	}
}

func flights(path string) dataset {
	return dataset{
		name: "flights", path: path, glob: path,
		intKey:  []string{"date", "origin", "destination"},
		textKey: []string{"date", "delay", "distance", "origin", "destination"},
		nulls:   [2]string{"delay", "distance"}, sum: "distance",
		ranged: "date", from: "2001-01-01T00:00:00", to: "2001-06-01T00:00:00",
		listed: "origin", accepted: []string{"ATL", "DFW", "LAX", "ORD"},
	}
}

// task is one question about a data set, in the words of both programs.
type task struct {
	name   string
	checks []string // of the checks file, one an id
	query  string   // columns named by those ids; empty: not a question to DuckDB
	values []string // columns whose values are read
	levels []string // columns of which NULLs are all that is asked
	// threads of each program; 0: as many as the call says.
	threads int
}

func (d dataset) tasks() []task {
	if d.alone {
		t := d.unique("unique text key", d.textKey)
		t.query = ""
		return []task{t}
	}
	fused := d.fused()
	if d.wide == nil {
		return []task{fused}
	}
	list := []task{d.unique("unique text key", d.textKey), d.unique("unique int key", d.intKey), d.notNull()}
	return append(append(list, d.filter()...), fused)
}

func (d dataset) table() string { return fmt.Sprintf("read_parquet('%s')", d.glob) }

func uniqueCheck(id string, key []string) string {
	return fmt.Sprintf("unique: {id: %s, columns: [%s]}", id, strings.Join(key, ", "))
}

// surplus is the form in which DuckDB is fastest: of count(k) − count(DISTINCT k)
// and this, measured both ways.
func (d dataset) surplus(key []string) string {
	return fmt.Sprintf("(SELECT coalesce(sum(n - 1), 0)::BIGINT FROM (SELECT count(*) AS n FROM %s WHERE %s IS NOT NULL GROUP BY %s HAVING count(*) > 1))",
		d.table(), strings.Join(key, " IS NOT NULL AND "), strings.Join(key, ", "))
}

func (d dataset) unique(name string, key []string) task {
	return task{
		name: name, checks: []string{uniqueCheck("surplus", key)},
		query: "SELECT " + d.surplus(key) + " AS surplus", values: key,
	}
}

func (d dataset) notNull() task {
	t := task{name: "not_null, 4 columns", levels: d.wide}
	var cells []string
	for _, c := range d.wide {
		t.checks = append(t.checks, fmt.Sprintf("not_null: {id: null_%s, columns: [%s]}", c, c))
		cells = append(cells, fmt.Sprintf("count(*) - count(%s) AS null_%s", c, c))
	}
	t.query = fmt.Sprintf("SELECT %s FROM %s", strings.Join(cells, ", "), d.table())
	return t
}

// filter is an expression as an assertion and as a filter of rows, by one thread.
func (d dataset) filter() []task {
	expr := fmt.Sprintf("%s >= 0 and %s in ('%s', '%s')", d.sum, d.listed, d.accepted[0], d.accepted[1])
	one := func(name, check, query string) task {
		return task{
			name: name + ", 1 thread", threads: 1, values: []string{d.sum, d.listed},
			checks: []string{fmt.Sprintf(check, expr)}, query: fmt.Sprintf("SELECT "+query+" FROM %s", expr, d.table()),
		}
	}
	return []task{
		one("expression", `expression: {id: untrue, expr: "%s"}`, "count(*) FILTER ((%s) IS NOT TRUE) AS untrue"),
		one("where", `row_count: {id: kept, where: "%s", min: 0}`, "count(*) FILTER (%s) AS kept"),
	}
}

func (d dataset) fused() task {
	quoted := make([]string, len(d.accepted))
	for i, v := range d.accepted {
		quoted[i] = "'" + v + "'"
	}
	t := task{name: "fused", levels: d.nulls[:]}
	t.values = append(append([]string{d.sum, d.ranged, d.listed}, d.intKey...), d.textKey...)
	t.checks = []string{
		uniqueCheck("surplus_int", d.intKey), uniqueCheck("surplus_text", d.textKey),
		fmt.Sprintf("not_null: {id: null_0, columns: [%s]}", d.nulls[0]),
		fmt.Sprintf("not_null: {id: null_1, columns: [%s]}", d.nulls[1]),
		fmt.Sprintf("sum: {id: total, columns: [%s], min: 0}", d.sum),
		fmt.Sprintf("accepted_range: {id: outside, columns: [%s], min: '%s', max: '%s'}", d.ranged, d.from, d.to),
		fmt.Sprintf("accepted_values: {id: unlisted, columns: [%s], values: [%s]}", d.listed, strings.Join(d.accepted, ", ")),
	}
	t.query = fmt.Sprintf(`SELECT %s AS surplus_int, %s AS surplus_text,
  count(*) - count(%s) AS null_0, count(*) - count(%s) AS null_1, sum(%s)::VARCHAR AS total,
  count(*) FILTER (%s NOT BETWEEN TIMESTAMP '%s' AND TIMESTAMP '%s') AS outside,
  count(*) FILTER (%s NOT IN (%s)) AS unlisted FROM %s`,
		d.surplus(d.intKey), d.surplus(d.textKey), d.nulls[0], d.nulls[1], d.sum,
		d.ranged, d.from, d.to, d.listed, strings.Join(quoted, ", "), d.table())
	return t
}

// file is the checks file of a task.
func (t task) file() string {
	text := "version: 1\nchecks:\n"
	for _, c := range t.checks {
		text += "  - " + c + "\n"
	}
	return text
}
