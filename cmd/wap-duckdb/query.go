package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxCell is a little more than wap shows of a value, so that it still sees
// that there was more.
const maxCell = 300

// maxSamples bounds the verdict, which wap takes up to 1 MiB of.
const maxSamples = 512 << 10

// violations counts the rows of a query and shows the first few.
func (e *engine) violations(ctx context.Context, query string, samples int64) (*verdict, error) {
	query = strings.TrimRight(query, "; \t\r\n")
	if err := e.oneSelect(ctx, query); err != nil {
		return nil, err
	}
	// Prepared by itself, so that errors have places in the text as it was written.
	stmt, err := e.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, aboutText(placed(err, query, 0))
	}
	if err := stmt.Close(); err != nil {
		return nil, err
	}
	v := &verdict{Outcome: "pass"}
	const count, end = "SELECT count(*) FROM (\n", "\n)" // the query may end in a comment
	if err := e.conn.QueryRowContext(ctx, count+query+end).Scan(&v.Violations); err != nil {
		return nil, placed(err, query, len(count))
	}
	if v.Violations == 0 {
		return v, nil
	}
	v.Outcome = "fail"
	if samples > 0 {
		v.Samples, err = e.samples(ctx, query, samples)
	}
	return v, err
}

// oneSelect refuses everything but one SELECT of functions that only compute,
// without running any of it: statements and functions could write to the files
// that may be read.
func (e *engine) oneSelect(ctx context.Context, query string) error {
	var answer string
	if err := e.conn.QueryRowContext(ctx, "SELECT CAST(json_serialize_sql(CAST(? AS VARCHAR)) AS VARCHAR)", query).Scan(&answer); err != nil {
		return err
	}
	var parsed struct {
		Error      bool   `json:"error"`
		Type       string `json:"error_type"`
		Message    string `json:"error_message"`
		Position   string `json:"position"`
		Statements []any  `json:"statements"`
	}
	dec := json.NewDecoder(strings.NewReader(answer))
	dec.UseNumber() // places may have 64 bits
	if err := dec.Decode(&parsed); err != nil {
		return fmt.Errorf("read parsed query: %w", err)
	}
	switch {
	case parsed.Error && parsed.Type == "parser":
		return &queryError{kind: "Parser", message: parsed.Message, place: placeIn(query, parsed.Position, 0), told: true}
	case parsed.Error:
		return refusal("the query is no SELECT")
	case len(parsed.Statements) != 1:
		return refusal("the query holds %d statements, it must be one SELECT", len(parsed.Statements))
	}
	return computing(parsed.Statements[0], query)
}

// samples are the first rows of the result, as texts.
func (e *engine) samples(ctx context.Context, query string, limit int64) (out []sample, err error) {
	columns, err := e.columns(ctx, query)
	if err != nil {
		return nil, err
	}
	var shown []string
	for i, c := range columns {
		shown = append(shown, fmt.Sprintf("%s AS c%d", c.shown(fmt.Sprintf("r.c%d", i)), i))
	}
	names := make([]string, len(columns))
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	rows, err := e.conn.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM (\n%s\n) AS r(%s) LIMIT %d",
		strings.Join(shown, ", "), query, strings.Join(names, ", "), limit))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	cells, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	size := 0
	for size < maxSamples && rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		s := sample{Row: int64(len(out)), Values: make([]cell, len(columns))}
		for i, c := range cells {
			s.Values[i] = cell{Column: columns[i].name, Text: cut(c.String), Null: !c.Valid}
			size += len(s.Values[i].Text) + len(columns[i].name)
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// resultColumn is a column of a query's result.
type resultColumn struct{ name, kind string }

func (e *engine) columns(ctx context.Context, query string) (list []resultColumn, err error) {
	rows, err := e.conn.QueryContext(ctx, "SELECT * FROM (\n"+query+"\n) LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	for _, t := range types {
		list = append(list, resultColumn{t.Name(), t.DatabaseTypeName()})
	}
	return list, rows.Err()
}

// shown is an expression for a value's exact text: DuckDB's, but for times,
// which are written as wap writes them.
func (c resultColumn) shown(value string) string {
	varchar := "CAST(" + value + " AS VARCHAR)"
	switch {
	case c.kind == "TIMESTAMPTZ":
		return fmt.Sprintf(`regexp_replace(replace(%s, ' ', 'T'), '\+00$', 'Z')`, varchar)
	case strings.HasPrefix(c.kind, "TIMESTAMP"):
		return fmt.Sprintf("replace(%s, ' ', 'T')", varchar)
	}
	return varchar
}

func cut(text string) string {
	if len(text) <= maxCell {
		return text
	}
	return strings.ToValidUTF8(text[:maxCell], "")
}
